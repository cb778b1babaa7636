extension EventBus {
  /// A value that can be posted on an ``EventBus``.
  ///
  /// Conform to ``BusEvent`` or to ``MainActorEvent``, never to this protocol itself. The associated type keeps the two
  /// apart, so that a closure for a ``MainActorEvent`` is a main-actor closure, and one for a ``BusEvent`` is not,
  /// without annotation.
  public protocol Event: Sendable {
    /// The isolation in which events of this kind are posted: `MainActor` for the main actor, `Never` for any thread.
    associatedtype PostingIsolation

    /// The name by which `subscribeToAll(named:)` and `receiveAll(named:)` find the event: by default `Outer.Inner`,
    /// the type's name without its module.
    ///
    /// A bus reads it at the first subscription to the type or the first post of it, and at failures of its handlers. The getter may
    /// call the bus.
    static var name: EventName { get }

    /// Whether the bus delivers the event in the reverse order: lowest priority first and, within a priority, the
    /// latest subscriber first.
    ///
    /// By default false. It is true for events of a tear-down: what subscribed last is torn down first.
    static var isReversed: Bool { get }
  }
}

extension EventBus.Event {
  /// The type's name without its module, `Outer.Inner`.
  public static var name: EventName { EventName.ofType(Self.self) }

  /// False: the order of subscription.
  public static var isReversed: Bool { false }
}

/// An event that may be posted from any thread or task; handlers of `subscribe` run on the poster's thread.
public protocol BusEvent: EventBus.Event where PostingIsolation == Never {}

/// An event that is posted on the main actor; handlers of `subscribe` run there, before the post returns.
public protocol MainActorEvent: EventBus.Event where PostingIsolation == MainActor {}

/// An event whose latest value the bus keeps, for each type and for each subject of a type.
///
/// A subscription with `replay: .latest` receives it first, and `latest(of:)` returns it. A type conforms in addition
/// to ``BusEvent`` or ``MainActorEvent``.
public protocol StickyEvent: EventBus.Event {}

/// A sticky event that holds an object that holds the bus; the bus keeps a weak copy, so that neither leaks.
package protocol WeaklyKept: Sendable {
  /// Returns the weak copy that the bus keeps.
  func weakened() -> Self
  /// Returns the event as it was posted; nil if the object has been released.
  func strengthened() -> Self?
}
