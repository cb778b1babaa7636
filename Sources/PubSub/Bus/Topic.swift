internal import CPubSub

/// A handle on the events of one type on one bus, for hot paths: posting through it saves the look-up by type.
///
/// May be kept and used from any thread. It does not keep the bus alive. A post to a bus that is gone reaches no subscriber.
public struct Topic<E: BusEvent>: Sendable {
  /// Keeps the topic.
  private let core: BusCore
  private nonisolated(unsafe) let topic: UnsafeMutablePointer<pubsub_topic>

  fileprivate init(_ core: BusCore) {
    self.core = core
    topic = core.store(for: E.self)._withUnsafeGuaranteedRef { $0.topic }
  }
}

extension Topic where E: Event {
  /// Posts an event, as `EventBus.post(_:from:)`.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for subscriptions to this object only.
  public func post(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    Posting.post(event, to: topic, from: subject)
  }
}

extension Topic where E: MainActorEvent {
  /// Posts a main-actor event, as `EventBus.post(_:from:)`.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for subscriptions to this object only.
  @MainActor public func post(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    Posting.postOutOfLine(event, to: topic, from: subject)
  }
}

extension EventBus {
  /// A handle on the events of one type.
  ///
  /// - Parameter type: the events.
  /// - Returns: the handle.
  public func topic<E: BusEvent>(_ type: E.Type = E.self) -> Topic<E> { Topic(core) }
}
