import AppLifecycle

/// Giving the terminal back: at once where the terminal takes what is written, later where it is not read.
extension TerminalStateMachine {
  /// Gives the terminal back.
  ///
  /// - Parameter time: how long the terminal may take nothing before the leaving sequences are given up.
  mutating func giveTerminalBack(within time: Duration) {
    guard holdsTerminal else { return }
    emit(.giveTerminalBack(within: time))
    holdsTerminal = false
    isLeavingTerminal = true
  }

  /// The terminal is gone: it is not touched.
  mutating func dropTerminal() {
    guard holdsTerminal || isLeavingTerminal else { return }
    emit(.dropTerminal)
    holdsTerminal = false
    isLeavingTerminal = false
  }

  /// Another job has got the terminal; the program's screen ends if that was a moment ago.
  ///
  /// A signal's handler would do so, too, but it may come late on a thread that waits for its turn, and find nothing to leave.
  mutating func leaveLostTerminal() {
    guard holdsTerminal || isLeavingTerminal else { return }
    emit(.leaveLostTerminal)
    holdsTerminal = false
    isLeavingTerminal = false
  }

  /// The terminal is the program's: nothing waits for its leaving any more.
  mutating func holdTerminal() {
    holdsTerminal = true
    isLeavingTerminal = false
    terminalIsUnrestored = false
    afterLeaving = nil
  }

  /// The terminal has taken the leaving sequences, or it did not in time.
  mutating func followLeaving(isComplete: Bool) {
    guard isLeavingTerminal else { return }
    isLeavingTerminal = false
    terminalIsUnrestored = !isComplete
  }

  /// Does what waited for the terminal.
  ///
  /// An order to end does not wait for a stop.
  mutating func settleAfterLeaving() {
    guard let next = afterLeaving else { return }
    if next == .stop, let cause = termination {
      afterLeaving = nil
      terminate(cause)
    } else if !isLeavingTerminal {
      afterLeaving = nil
      switch next {
      case .stop: stop()
      case .finish(let mainActorAnswers): finish(mainActorAnswers: mainActorAnswers)
      }
    }
  }
}
