/// The cause of a transition: an action of the script language, or a host's own text such as `SIGTERM`.
public struct LifecycleCause: StringRepresentable {
  /// The cause as text, for people and records.
  public let rawValue: String

  /// Creates a cause with any text.
  ///
  /// - Parameter rawValue: the text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates the default cause of an input: its name in the script language.
  package init(_ input: SystemInput) { self.init(rawValue: input.scriptToken) }

  /// Creates the cause of what follows from an operation of the program's code, and from no input.
  package init(_ operation: BudgetOverrun.Operation, of name: String) {
    self.init(rawValue: "\(operation.rawValue) of \(name)")
  }

  /// Creates the default cause of any input.
  package init(_ input: LifecycleInput) { self.init(rawValue: input.scriptToken) }
}
