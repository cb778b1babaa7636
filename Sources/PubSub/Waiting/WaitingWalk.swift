internal import CPubSub

/// The delivery of a post that waits: priority by priority, with a pause whenever it must wait for handlers.
///
/// It uses the same ``DeliveryOrder`` as any post. During a pause it protects no memory. Afterwards it continues after
/// the last delivered priority, with the handlers that subscribed before the post began. Within a priority the
/// receivers get the event first, so that they receive it before any event that synchronous handlers post.
struct WaitingWalk {
  private let store: Unmanaged<HandlerStore>
  private let subject: (any AnyObject & Sendable)?
  private let wider: (any AnyObject & Sendable)?
  private var firstUnseen: UInt64?
  private var passed: Int?
  private var isReceived = false
  private(set) var isOver = false

  /// Begins a post.
  ///
  /// The bus must outlive the value.
  init<E: BusEvent>(
    _ event: E, of core: BusCore, from subject: (any AnyObject & Sendable)?,
    within wider: (any AnyObject & Sendable)? = nil
  ) {
    store = core.store(for: E.self)
    (self.subject, self.wider) = (subject, wider)
    withUnsafePointer(to: event) { event in
      store._withUnsafeGuaranteedRef { store in
        isOver = !store.canPost()
        if isOver { return }
        store.show(event, from: subject)
        store.inOrder(event, from: subject) { firstUnseen = store.core.nextID }
      }
    }
  }

  /// Delivers up to the next pause, or to the end.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - hand: gives the event to a receiver; returns whether the receiver takes part.
  ///   - call: calls the synchronous handlers among those of a span; returns whether one received the event.
  ///   - mustPause: returns whether the post must wait before the next priority; called between two priorities.
  mutating func goOn(
    with event: UnsafeRawPointer, hand: (Receiver, HandlerBuffer.Entry, HandlerStore) -> Bool,
    call: (DeliveryOrder.Span) -> Bool, mustPause: () -> Bool
  ) {
    if isOver { return }
    store._withUnsafeGuaranteedRef { store in
      // Check again: an executor that runs jobs immediately may continue this post inside other posts.
      guard store.canPost() else { return isOver = true }
      let post = store.begin(from: subject, within: wider, before: firstUnseen)
      isOver = true
      if var walk = post.walk {
        if let passed { walk.skip(through: passed) }
        while let priority = walk.priority {
          if passed != nil, mustPause() {
            isOver = false
            break
          }
          passed = priority
          var receivers = walk
          while receivers.priority == priority, let span = receivers.next() {
            for place in span.places {
              if let receiver = span.receiver(at: place), hand(receiver, span.buffer.entries[place], store) {
                isReceived = true
              }
            }
          }
          while walk.priority == priority, let span = walk.next() {
            if call(span) { isReceived = true }
          }
        }
      }
      store.end(post)
      if isOver, !isReceived { store.core.reportUndelivered(event, of: store) }
      store.settle(after: post)
    }
  }
}

/// The result of calling a synchronous handler.
enum CallOutcome {
  case returned
  case threw(any Error)
  /// The owner had been released, so the handler was not called.
  case ownerIsGone
}

extension DeliveryOrder.Span {
  /// Returns whether a place holds a synchronous handler that is not cancelled.
  func isSynchronous(at place: Int) -> Bool { !buffer.entries[place].isAsynchronous && stands(at: place) }

  /// Calls the synchronous handler in a place.
  func call(_ place: Int, with event: UnsafeRawPointer) -> CallOutcome {
    let record = pubsub_record_of_thread()
    let handler = buffer.handlers + place
    record.pointee.unheard = -1
    if let error = pubsub_call(pubsub_function_of(handler), handler.pointee.context, event) {
      return .threw(Calling.error(taking: error))
    }
    return record.pointee.unheard == record.pointee.inner ? .ownerIsGone : .returned
  }
}
