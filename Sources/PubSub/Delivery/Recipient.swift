internal import CPubSub

/// One subscriber of a post that waits: the post holds it, while others come and go.
struct Recipient<E: BusEvent>: Sendable {
  let id: UInt64
  let subscriber: Subscriber
  let priority: Priority
  /// What more is known of it; nil if the subscription is plain.
  let registration: Registration?
  /// The handler; of asynchronous ones, what puts the event into the mailbox.
  let deliver: @Sendable (E) throws -> Void

  /// A subscriber as it stands in a store; it is kept alive, and so is what its handler captured.
  init(_ standing: HandlerStore.Standing, _ subscriber: Subscriber, _ registration: Registration?) {
    id = standing.entry.id
    self.subscriber = subscriber
    priority = standing.priority
    self.registration = registration
    if let typed = registration?.throwing as? ThrowingHandler<E> {
      deliver = typed.body
    } else if let wildcard = registration?.throwing as? ThrowingHandler<any BusEvent> {
      deliver = { try wildcard.body($0) }
    } else {
      let kept = KeptHandler(standing.handler)
      deliver = { event in
        withUnsafePointer(to: event) { pubsub_call(kept.handler.function, kept.handler.context, $0) }
      }
    }
  }
}

/// A handler that may throw, for posts that want to know what it throws.
final class ThrowingHandler<Element>: Sendable {
  let body: @Sendable (Element) throws -> Void
  init(_ body: @escaping @Sendable (Element) throws -> Void) { self.body = body }
}

/// A handler whose context is retained.
private final class KeptHandler: @unchecked Sendable {
  let handler: pubsub_handler

  init(_ handler: pubsub_handler) {
    self.handler = handler
    if let context = handler.context { _ = Unmanaged<AnyObject>.fromOpaque(context).retain() }
  }

  deinit {
    if let context = handler.context { Unmanaged<AnyObject>.fromOpaque(context).release() }
  }
}
