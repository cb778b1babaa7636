/// An event in an application's life cycle, as a value: simulators record it, and traces show it.
///
/// Records come in the order in which things happen; a delegate call stands before its notification, an input before all
/// that it causes.
public struct LifecycleRecord: Sendable, Hashable {
  /// What kind of thing happened.
  public enum Kind: String, Sendable, Hashable, CaseIterable, Decodable {
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

  /// When, since the application's clock was first read.
  public var instant: Duration
  /// What kind of thing happened.
  public var kind: Kind
  /// Its name.
  public var name: String
  /// The application's state at that moment.
  public var state: ApplicationState
  /// The scene's identifier where the record is a scene's, else nil.
  public var scene: String?
  /// What led to it.
  public var cause: LifecycleCause
  /// Why an input was ignored; nil for every other kind.
  public var reason: String?

  /// A record of what happened.
  public init(
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
