internal import Scheduling

/// The subscriber behind an iterator: the buffer that the bus fills, and the subscription; it ends with the last copy
/// of the iterator.
final class EventConsumer<Element: Sendable>: Sendable {
  let buffer: EventBuffer<Element>
  /// Nil if the bus or the subject has been released.
  private let subscription: EventBus.Subscription?

  init(buffer: EventBuffer<Element>, subscription: EventBus.Subscription?) {
    (self.buffer, self.subscription) = (buffer, subscription)
  }

  deinit {
    subscription?.cancel()
    // A post under way may keep the buffer, and must not keep the events.
    buffer.removeAll()
  }
}

/// Makes the consumers of a sequence: the first one together with the sequence, and one for each further iterator.
final class EventSource<Element: Sendable>: Sendable {
  private let makeConsumer: @Sendable () -> EventConsumer<Element>
  /// The application's work (``AwaitedWork``), such as a body, inside which the sequence was made; nil outside of any.
  private weak let work: (any AwaitedWork)?
  /// The consumer that has the events since the sequence was made; nil once an iterator has taken it.
  private let sinceMade: Guarded<EventConsumer<Element>?>

  init(_ makeConsumer: @escaping @Sendable () -> EventConsumer<Element>) {
    self.makeConsumer = makeConsumer
    work = HandlerContext.current?.work
    sinceMade = Guarded(makeConsumer())
  }

  /// Returns the consumer for a new iterator.
  ///
  /// In a body that runs again and again, every run gets the events from its own iterator on: otherwise only the first
  /// run would also get the events since the sequence was made.
  func takeConsumer() -> EventConsumer<Element> {
    let sinceMade = sinceMade.withLock { $0.take() }
    // The consumer that was taken is dropped then: no later iterator may get the events since the sequence was made, either.
    if let body = HandlerContext.current?.work, body.isRepeated, body !== work { return makeConsumer() }
    return sinceMade ?? makeConsumer()
  }
}
