/// A fault of a simulated run: a broken rule, or something that the run left behind.
///
/// The article *Testing in five minutes* explains each kind, and how to fix it.
public struct RunComplaint: Sendable, Hashable, CustomStringConvertible {
  /// The kind of a fault; a test that provokes a fault allows its kind.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The record breaks a rule of the life cycle; see `LifecycleRecordRules`.
    case lifecycle = "life cycle"
    /// A resource was acquired twice, released twice, or not released although the application ended in order.
    case resource
    /// A background task was not ended within its time, or was ended twice.
    case backgroundTask = "background task"
    /// A task of the application ignored its cancellation, and outlived its process.
    case task
    /// Work of a component ran outside the simulation; see `EscapedWork`.
    case escapedWork = "escaped work"
    /// A handler, a body, a release, an observer or the delegate exceeded its budget.
    ///
    /// An overrun is always allowed if a delegate call or a save that the script made slow with `slow:` took some of its
    /// time.
    case overrun
    /// A handler, or code that was asked to end, threw an error other than `CancellationError`, and nothing else takes it.
    case handler
    /// A handler captured its own owner, and nothing else held the owner, so the owner would have lived as long as the
    /// bus.
    case owner
    /// A check that the test added failed.
    case check
  }

  /// The kind of fault.
  public let kind: Kind
  /// The fault as a sentence.
  ///
  /// It names the cause, and contains neither a time nor the number of a record. So the same fault has the same message
  /// in two runs.
  public let message: String
  /// The place in the run where the fault was found, or the error that was thrown; nil if the message needs neither.
  public let place: String?

  /// Makes a complaint.
  ///
  /// - Parameters:
  ///   - kind: the kind of fault.
  ///   - message: the fault as a sentence.
  ///   - place: the place in the run where it was found, or the error that was thrown.
  public init(_ kind: Kind, _ message: String, at place: String? = nil) {
    (self.kind, self.message, self.place) = (kind, message, place)
  }

  /// The kind, the message, and the place in parentheses: `resource: “socket” was opened while it was already open`.
  public var description: String { "\(kind.rawValue): \(message)" + (place.map { " (\($0))" } ?? "") }

  /// Returns whether the other complaint is about the same fault, at any place.
  ///
  /// Two failed checks of the test count as the same fault, because their messages may contain different values.
  ///
  /// - Parameter other: the other complaint, which may be about another run.
  /// - Returns: true if kind and message are the same, or both are failed checks.
  public func isSameFault(as other: RunComplaint) -> Bool {
    kind == other.kind && (kind == .check || message == other.message)
  }
}
