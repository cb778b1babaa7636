internal import CPubSub

/// One subscriber of a post that waits: the post holds it, while others come and go.
///
/// It knows nothing of the event's type, so that many of them are made and passed on without a look at any metadata.
struct Recipient: @unchecked Sendable {
  let id: UInt64
  let subscriber: Subscriber
  let priority: Priority
  /// What more is known of it; nil if the subscription is plain.
  let registration: Registration?
  private let function: UnsafeRawPointer
  /// What the handler captured: kept, as the subscription may be cancelled meanwhile.
  private let captured: AnyObject?

  /// A subscriber as it stands in a store.
  init(_ standing: HandlerStore.Standing, _ subscriber: Subscriber, _ registration: Registration?) {
    id = standing.entry.id
    self.subscriber = subscriber
    priority = standing.priority
    self.registration = registration
    function = standing.handler.function
    captured = standing.handler.context.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Calls the handler; of a sequence, what has it hold the event whatever its bound.
  func deliverKept<E: BusEvent>(_ event: E) throws {
    if let keeping = registration?.alternative as? KeepingHandler<E> { return keeping.body(event) }
    try deliver(event)
  }

  /// Calls the handler; of asynchronous ones, what puts the event into the mailbox.
  func deliver<E: BusEvent>(_ event: E) throws {
    if let alternative = registration?.alternative {
      if let typed = alternative as? ThrowingHandler<E> { return try typed.body(event) }
      if let wildcard = alternative as? ThrowingHandler<any BusEvent> { return try wildcard.body(event) }
    }
    let context = captured.map { Unmanaged.passUnretained($0).toOpaque() }
    withUnsafePointer(to: event) { pubsub_call(function, context, $0) }
  }
}

/// What has a bounded sequence hold an event that it must not drop, as the report says that it holds it.
final class KeepingHandler<Element>: Sendable {
  let body: @Sendable (Element) -> Void
  init(_ body: @escaping @Sendable (Element) -> Void) { self.body = body }
}

/// A handler that may throw, for posts that want to know what it throws.
final class ThrowingHandler<Element>: Sendable {
  let body: @Sendable (Element) throws -> Void
  init(_ body: @escaping @Sendable (Element) throws -> Void) { self.body = body }
}
