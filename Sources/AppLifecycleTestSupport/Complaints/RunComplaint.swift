/// One thing that is wrong with a simulated run: a rule that was broken, or something that the run left behind.
///
/// the article *Testing in five minutes* explains each kind, and how to mend it.
public struct RunComplaint: Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is; a test that means the fault allows the kind.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The record breaks a rule of the life cycle; see `LifecycleRecordRules`.
    case lifecycle = "life cycle"
    /// A resource was acquired twice, released twice, or not released although the application ended in order.
    case resource
    /// A background task was not ended within its time, or was ended twice.
    case backgroundTask = "background task"
    /// A task of the application ignored its cancellation: it outlived the process to which it belonged.
    case task
    /// Work of a component ran outside the simulation; see `EscapedWork`.
    case escapedWork = "escaped work"
    /// A handler, a release or the delegate exceeded its budget, and the script has no `slow:` that asks for that.
    case overrun
    /// A handler captured its own owner, and nothing else held the owner: it would have stayed as long as the bus.
    case owner
    /// A check of the test's own failed.
    case check
  }

  /// What kind of fault it is.
  public let kind: Kind
  /// The fault as a sentence.
  ///
  /// It names what is at fault, and holds no time and no number of a record: the same fault in two runs has the same message.
  public let message: String
  /// Where in the run the fault was found; nil where the message says it all.
  public let place: String?

  /// A complaint.
  ///
  /// - Parameters:
  ///   - kind: what kind of fault it is.
  ///   - message: the fault as a sentence.
  ///   - place: where in the run it was found.
  public init(_ kind: Kind, _ message: String, at place: String? = nil) {
    (self.kind, self.message, self.place) = (kind, message, place)
  }

  /// The kind, the message, and the place in parentheses: `resource: “socket” was opened, and is open already`.
  public var description: String { "\(kind.rawValue): \(message)" + (place.map { " (\($0))" } ?? "") }

  /// Whether the other complaint is about the same fault, wherever it was found.
  ///
  /// Two failed checks of the test's own are the same fault: their texts may quote values that differ.
  ///
  /// - Parameter other: a complaint about any run.
  /// - Returns: true if kind and message are the same, or both are failed checks.
  public func isSameFault(as other: RunComplaint) -> Bool {
    kind == other.kind && (kind == .check || message == other.message)
  }
}
