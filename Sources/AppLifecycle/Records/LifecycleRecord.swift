/// An event in an application's life cycle, as a value that simulators record and traces show.
///
/// Records are in the order of the events. A delegate call comes before its notification, and an input before
/// everything that it causes.
public struct LifecycleRecord: Sendable, Hashable {
  /// The kind of an event.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The system did something; the name is the action of the script.
    case input
    /// The application's state changed; the name is the new state.
    case state
    /// A delegate method was called; the name is the method's.
    case delegate
    /// A notification was posted; the name is its raw name.
    case notification
    /// A background task expired or was refused.
    case task
    /// Something overran its time or broke a rule.
    case report
    /// An input had no effect; the name is the action of the script, and there is a reason.
    case ignored
  }

  /// The time of the event by the application's clock, counted from the creation of the application.
  public var instant: Duration
  /// The kind of an event.
  public var kind: Kind
  /// The name of the event, whose meaning depends on ``kind``.
  public var name: String
  /// The application's state at that moment.
  public var state: ApplicationState
  /// The identifier of the scene for an event of a scene; nil otherwise.
  public var scene: String?
  /// The cause of the event: the one that was passed to ``Application/send(_:cause:)`` or ``Application/handle(_:cause:)``
  /// with the input from which the event follows.
  ///
  /// The record of an input (``Kind/input``) is the exception: its cause is the input's own name, whatever was passed. The
  /// record of an input without effect (``Kind/ignored``) has the cause that was passed.
  public var cause: LifecycleCause
  /// The reason why an input was ignored; nil for every other kind.
  public var reason: String?

  package init(
    instant: Duration, kind: Kind, name: String, state: ApplicationState, scene: String? = nil, cause: LifecycleCause,
    reason: String? = nil
  ) {
    self.instant = instant
    self.kind = kind
    self.name = name
    self.state = state
    self.scene = scene
    self.cause = cause
    self.reason = reason
  }
}

extension LifecycleRecord: CustomStringConvertible {
  /// The event on one line: time, state, kind, name and cause, such as
  /// `5.0 background delegate applicationDidEnterBackground (home)`.
  public var description: String {
    var text = "\(instant.decimalSeconds) \(state) \(kind) \(name)"
    if let scene { text += " of \(scene)" }
    if let reason { text += ": \(reason)" }
    return cause.rawValue.isEmpty ? text : text + " (\(cause.rawValue))"
  }
}
