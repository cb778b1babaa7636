/// A subscriber behind an iterator: the buffer that the bus fills, and the subscription that ends with it.
struct EventConsumer<Element: Sendable>: Sendable {
  let buffer: EventBuffer<Element>
  /// Nil where there is nothing to subscribe to any more.
  let subscription: Subscription?

  /// A consumer that is at its end from the beginning.
  static func ended(_ buffer: EventBuffer<Element>) -> EventConsumer {
    buffer.finish()
    return EventConsumer(buffer: buffer, subscription: nil)
  }
}

/// Makes the consumers of a sequence: the first with the sequence itself, one more for each further iterator.
final class EventSource<Element: Sendable>: Sendable {
  private let makeConsumer: @Sendable () -> EventConsumer<Element>
  /// Nil once an iterator has taken it.
  private let first: Guarded<EventConsumer<Element>?>

  init(_ makeConsumer: @escaping @Sendable () -> EventConsumer<Element>) {
    self.makeConsumer = makeConsumer
    first = Guarded(makeConsumer())
  }

  /// The consumer of an iterator that is being made.
  func takeConsumer() -> EventConsumer<Element> {
    let first = first.withLock { first in
      defer { first = nil }
      return first
    }
    return first ?? makeConsumer()
  }
}
