import AppLifecycle

/// Giving the terminal back: at once if the terminal accepts the output, and later if it is not read.
extension TerminalStateMachine {
  /// Gives the terminal back.
  ///
  /// - Parameter time: the time for which the terminal may accept no output before the leaving sequences are given up.
  mutating func giveTerminalBack(within time: Duration) {
    guard holdsTerminal else { return }
    emit(.giveTerminalBack(within: time))
    holdsTerminal = false
    isLeavingTerminal = true
  }

  /// Marks the terminal as gone, without accessing it.
  mutating func dropTerminal() { letTerminalGo(.dropTerminal) }

  /// Leaves the program's screen if another job has just taken the terminal.
  ///
  /// A signal handler does so, too. But it may run late, on a thread that waits for a processor, and then find no armed
  /// terminal.
  mutating func leaveLostTerminal() { letTerminalGo(.leaveLostTerminal) }

  private mutating func letTerminalGo(_ effect: Effect) {
    guard holdsTerminal || isLeavingTerminal else { return }
    emit(effect)
    (holdsTerminal, isLeavingTerminal) = (false, false)
  }

  /// Marks the terminal as held, so that no action waits for the leaving sequences.
  mutating func holdTerminal() {
    holdsTerminal = true
    isLeavingTerminal = false
    terminalIsUnrestored = false
    afterLeaving = nil
  }

  /// Reacts to the end of the leaving: the terminal has accepted the sequences, or has not done so in time.
  mutating func followLeaving(isComplete: Bool) {
    guard isLeavingTerminal else { return }
    isLeavingTerminal = false
    terminalIsUnrestored = !isComplete
  }

  /// Performs the action that waited for the terminal.
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
