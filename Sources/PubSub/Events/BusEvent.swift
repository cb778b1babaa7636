/// A value that can be posted on an ``EventBus``.
///
/// Conform to ``Event`` or to ``MainActorEvent``, never to this protocol itself. The associated type keeps the two
/// kinds apart. So the compiler makes a handler of a ``MainActorEvent`` a main-actor closure, and a handler of an
/// ``Event`` a nonisolated one, without annotation.
public protocol BusEvent: Sendable {
  /// The isolation in which events of this kind are posted: `MainActor` for the main actor, `Never` for any thread.
  associatedtype PostingIsolation

  /// The name by which `subscribe(named:)` finds the event: by default the type's name without its module, `Outer.Inner`.
  ///
  /// A bus reads it at the first subscription to the type or the first post of it. The getter may call the bus.
  static var name: EventName { get }

  /// How the event is delivered: by default an empty set.
  static var traits: EventTraits { get }
}

extension BusEvent {
  /// The type's name without its module, `Outer.Inner`.
  public static var name: EventName { EventName.ofType(Self.self) }

  /// No traits.
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

  /// Makes a set from its bits.
  ///
  /// - Parameter rawValue: the bits of the set.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The bus keeps the latest event, and a subscription with replay receives it first.
  public static let sticky = EventTraits(rawValue: 1 << 0)

  /// The bus delivers events in the reverse order: lowest priority first and, within a priority, the latest subscriber
  /// first.
  ///
  /// Tear-down events have this trait, so that components that subscribed last are torn down first.
  public static let reversed = EventTraits(rawValue: 1 << 1)
}

/// The name and the traits of an event type.
///
/// Make it without the bus's lock: the getters may call the bus.
struct EventDescription<E: BusEvent> {
  let name = E.name
  let traits = E.traits
}

/// A sticky event that holds an object that holds the bus; the bus keeps a weak copy of the event, so that neither
/// leaks.
package protocol WeaklyKept: Sendable {
  /// Returns the weak copy that the bus keeps.
  func weakened() -> Self
  /// Returns the event as it was posted; nil if the object has been released.
  func strengthened() -> Self?
}
