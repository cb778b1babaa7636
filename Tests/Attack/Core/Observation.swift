package import PseudoTerminal

/// What was seen of a round from outside: nothing in it comes from the program's own memory.
package struct Observation: Sendable, Hashable {
  /// What the shell said after one suspension, and what the terminal looked like.
  package struct Suspension: Sendable, Hashable {
    /// What was left of the program's screen before the shell's prompt.
    package var leftOvers: [String]
    /// The modes that the shell gives to the next program.
    package var modes: TerminalState
    /// The date in the state file.
    package var savedDate: String?

    package init(leftOvers: [String] = [], modes: TerminalState, savedDate: String? = nil) {
      self.leftOvers = leftOvers
      self.modes = modes
      self.savedDate = savedDate
    }
  }

  /// The machine sent the copies of an order so late that they may be an order of their own: the round says nothing.
  package var isOutOfTime = false
  /// What was waited for and did not come: the round was broken off there.
  package var missed: String?
  /// The modes before the program was started.
  package var modesBefore = TerminalState(modes: [:])
  /// The modes after the end of a wrapper that tells the program nothing; nil where there is none.
  package var modesWithoutWrapper: TerminalState?
  /// The modes after its end; nil where the terminal is gone.
  package var modesAfter: TerminalState?
  /// What was left of the program's screen at the shell's prompt; nil where the terminal is gone.
  package var leftOvers: [String]?
  /// The modes that a child found to which the terminal was lent, for each loan.
  package var loans: [TerminalState] = []
  /// What the program has told a service manager that had not started it.
  package var notices: [String] = []
  /// Each suspension, in order, with the date that had been shown as set before it.
  package var suspensions: [Suspension] = []
  /// The status that the shell shows; nil where the terminal is gone.
  package var status: Int32?
  /// The time from the order to the end of the process.
  package var duration: Duration = .zero
  /// How the journal says the run ended, run by run.
  package var journal: [String] = []
  /// The date in the state file at the end.
  package var savedDate: String?

  package init() {}
}
