/// A value that can be posted on an ``EventBus``.
///
/// Conform to ``Event`` or to ``MainActorEvent``, never to this protocol itself: the associated type makes the two kinds
/// disjoint, so that a closure written in a main-actor class becomes a main-actor closure for the one and stays free for
/// the other, without annotation.
public protocol BusEvent: Sendable {
  /// Where events of this kind are posted: `Never` for anywhere, `MainActor` for the main actor.
  associatedtype PostingIsolation

  /// The name by which `subscribe(named:)` finds the event: by default the type's name without its module, `Outer.Inner`.
  ///
  /// A bus reads it when it first meets the type. The getter may call the bus.
  static var name: EventName { get }

  /// How the event is delivered: by default an empty set.
  static var traits: EventTraits { get }
}

extension BusEvent {
  /// The type's name without its module, `Outer.Inner`.
  public static var name: EventName { EventName.ofType(Self.self) }

  /// Nothing special.
  public static var traits: EventTraits { [] }
}

/// An event that may be posted from any thread or task; its synchronous handlers run on the poster's thread.
public protocol Event: BusEvent where PostingIsolation == Never {}

/// An event that is posted on the main actor; its synchronous handlers run there, before the post returns.
public protocol MainActorEvent: BusEvent where PostingIsolation == MainActor {}

/// How events of a type are delivered.
public struct EventTraits: OptionSet, Sendable, Hashable {
  /// The bits of the set.
  public let rawValue: UInt8

  /// A set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The bus keeps the latest event, and a subscription with replay receives it first.
  public static let sticky = EventTraits(rawValue: 1 << 0)

  /// Delivered in the mirror image of the usual order: lowest priority first, latest subscriber first.
  ///
  /// Tear-down events ask for this, so that what was built last is torn down first.
  public static let reversed = EventTraits(rawValue: 1 << 1)
}

/// What an event type says of itself.
///
/// Read without the bus's lock, as the getters may call the bus.
struct EventDescription<E: BusEvent> {
  let name = E.name
  let traits = E.traits
}

/// A sticky event that holds an object which holds the bus: the bus keeps a weak copy of it, lest both leak.
package protocol WeaklyKept: Sendable {
  /// The copy for keeping.
  func weakened() -> Self
  /// The event as it was posted; nil if the object is gone.
  func strengthened() -> Self?
}
