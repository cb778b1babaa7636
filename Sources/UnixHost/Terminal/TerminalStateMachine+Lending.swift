import AppLifecycle

/// Lending the terminal to a child process: the program stays in the foreground, but does not hold the terminal.
extension TerminalStateMachine {
  /// The state of a loan.
  enum Lending: Sendable, Hashable {
    case none
    /// The program has asked for the loan, and the terminal is being given back.
    case asked
    /// The child process may use the terminal.
    case lent
  }

  /// Whether the terminal is not to be taken, because a child process has it or will have it.
  var isLent: Bool { lending != .none }

  mutating func beginLending() {
    guard phase == .foreground, holdsTerminal, termination == nil, wantedStop == nil else {
      return emit(.answerLending(.notHeld))
    }
    lending = .asked
    send(.beginInterruption(.terminalLent), "lend")
    endFocusLost()
    giveTerminalBack(within: budgets.didEnterBackground + budgets.grace)
  }

  /// Lends the terminal once it has accepted the leaving sequences; after a stop in between, once the program is in the
  /// foreground again.
  mutating func settleLending() {
    guard lending == .asked, !isLeavingTerminal, phase == .foreground, termination == nil else { return }
    lending = .lent
    emit(.answerLending(nil))
  }

  /// Refuses a loan that has not begun, because the application ends.
  mutating func refuseLending() {
    guard lending == .asked else { return }
    lending = .none
    emit(.answerLending(.notHeld))
  }

  mutating func endLending(at time: Duration?) {
    guard lending == .lent else { return }
    (lending, lendingEnded) = (.none, time)
    emit(.endForegroundOfBorrower)
    guard phase == .foreground else { return finishLending() }
    ask(.lookAtTerminal, .lendingEnded)
  }

  /// Ends the interruption when the program has taken the terminal again, or has gone to the background.
  mutating func finishLending(needsDisplay: Bool = false) {
    // An application that ends does not become active first.
    if termination == nil, phase != .terminating {
      send(.endInterruption(.terminalLent), "lend", needsDisplay: needsDisplay)
    }
    emit(.confirmEndOfLending)
  }

  /// Takes the terminal, unless a child process has it: then the program goes on as if it had taken the terminal.
  mutating func takeTerminal(_ question: Question) {
    guard isLent else { return ask(.takeTerminal, question) }
    self.question = question
    emit(.continueBorrower)
    answerTaken(true)
  }

  /// Whether a signal comes from a key that is for the child process.
  func isForBorrower(_ record: SignalRecord) -> Bool { isLent && isKeyOfChild(record) }

  /// Whether a signal comes from a key that has ended the child process, and so the loan.
  ///
  /// The kernel sends it to both processes, but the handler of this one may run later.
  func isLeftOver(_ record: SignalRecord) -> Bool {
    guard let lendingEnded, isKeyOfChild(record) else { return false }
    return record.arrived - lendingEnded < Self.lateKeyTime
  }

  private static let lateKeyTime = Duration.milliseconds(100)

  private func isKeyOfChild(_ record: SignalRecord) -> Bool {
    record.isFromKernel && (record.signal == .interrupt || record.signal == .quit)
  }
}
