internal import CPubSub
public import Synchronization

/// A handle on the events of one type on one bus, for hot paths: posting through it saves the look-up by type.
///
/// May be kept and used from any thread. It does not keep the bus alive. A post to a bus that is gone reaches no subscriber.
public struct Topic<E: BusEvent>: Sendable {
  /// Keeps the topic.
  private let core: BusCore
  /// The topic: its first two words are its root and its flags.
  @usableFromInline nonisolated(unsafe) let words: UnsafePointer<Atomic<UInt>>

  fileprivate init(_ core: BusCore) {
    self.core = core
    words = core.store(for: E.self)._withUnsafeGuaranteedRef {
      UnsafeRawPointer($0.topic).assumingMemoryBound(to: Atomic<UInt>.self)
    }
  }

  /// Whether a post reaches nothing: there is no subscriber, and nothing else that posts have to look at.
  ///
  /// In the caller, so that a post without subscribers costs no call.
  @inlinable var isIdle: Bool { (words[0].load(ordering: .relaxed) | words[1].load(ordering: .relaxed)) == 0 }

  private static func topic(_ words: UnsafePointer<Atomic<UInt>>) -> UnsafeMutablePointer<pubsub_topic> {
    UnsafeMutableRawPointer(mutating: words).assumingMemoryBound(to: pubsub_topic.self)
  }
}

extension Topic where E: Event {
  /// Posts an event, as `EventBus.post(_:from:)`.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for subscriptions to this object only.
  @inlinable public func post(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    if !isIdle { Self.deliver(event, to: words, from: subject) }
  }

  // Without the handle, so that all that it needs fits into registers.
  @usableFromInline static func deliver(
    _ event: E, to words: UnsafePointer<Atomic<UInt>>, from subject: (any AnyObject & Sendable)?
  ) {
    Posting.post(event, to: topic(words), from: subject)
  }
}

extension Topic where E: MainActorEvent {
  /// Posts a main-actor event, as `EventBus.post(_:from:)`.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for subscriptions to this object only.
  @MainActor @inlinable public func post(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    if !isIdle { Self.deliver(event, to: words, from: subject) }
  }

  @MainActor @usableFromInline static func deliver(
    _ event: E, to words: UnsafePointer<Atomic<UInt>>, from subject: (any AnyObject & Sendable)?
  ) {
    Posting.postOutOfLine(event, to: topic(words), from: subject)
  }
}

extension EventBus {
  /// A handle on the events of one type.
  ///
  /// - Parameter type: the events.
  /// - Returns: the handle.
  public func topic<E: BusEvent>(_ type: E.Type = E.self) -> Topic<E> { Topic(core) }
}
