internal import CPubSub
public import Synchronization

extension EventBus {
  /// A handle for posting events of one type on one bus; it saves the look-up by type on hot paths.
  ///
  /// Any thread may keep and use it. It does not keep the bus alive: after the release of the bus, a post reaches no
  /// subscriber.
  public struct Topic<E: EventBus.Event>: Sendable {
    /// Keeps the topic's memory alive, also during a post through a temporary handle.
    @usableFromInline let core: BusCore
    /// The address of the topic, whose first two words are its root and its flags.
    @usableFromInline nonisolated(unsafe) let rootAndFlags: UnsafePointer<Atomic<UInt>>

    fileprivate init(_ core: BusCore) {
      self.core = core
      rootAndFlags = UnsafeRawPointer(core.topic(of: E.self)).assumingMemoryBound(to: Atomic<UInt>.self)
    }

    /// Whether a post has nothing to do: the topic has neither a root nor flags; inlined, so that it costs no call.
    @inlinable var isIdle: Bool {
      rootAndFlags[0].load(ordering: .relaxed) | rootAndFlags[1].load(ordering: .relaxed) == 0
    }

    // A static method without the handle, so that all arguments fit into registers.
    @usableFromInline static func deliver(
      _ event: E, to rootAndFlags: UnsafePointer<Atomic<UInt>>, from subject: (any AnyObject & Sendable)?
    ) {
      let topic = UnsafeMutableRawPointer(mutating: rootAndFlags).assumingMemoryBound(to: pubsub_topic.self)
      Posting.post(event, to: topic, from: subject)
    }
  }
}

extension EventBus.Topic where E: BusEvent {
  /// Posts an event, as `EventBus.post(_:from:)` does.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: the object that the event is about; subscriptions to other objects do not receive the post.
  @inlinable public func post(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    if !isIdle { withExtendedLifetime(core) { Self.deliver(event, to: rootAndFlags, from: subject) } }
  }
}

extension EventBus.Topic where E: MainActorEvent {
  /// Posts a main-actor event, as `EventBus.post(_:from:)` does.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: the object that the event is about; subscriptions to other objects do not receive the post.
  @MainActor @inlinable public func post(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    if !isIdle { withExtendedLifetime(core) { Self.deliver(event, to: rootAndFlags, from: subject) } }
  }
}

extension EventBus {
  /// Makes a handle for posting events of one type.
  ///
  /// - Parameter type: the events.
  /// - Returns: the handle.
  public func topic<E: EventBus.Event>(_ type: E.Type = E.self) -> EventBus.Topic<E> { EventBus.Topic(core) }
}
