internal import CPubSub

/// A handler that a waiting post reaches; valid until the post pauses.
struct HandlerPlace {
  let entry: HandlerBuffer.Entry
  /// The position of the handler among all that the post reaches, in the order of subscription within a priority.
  let position: Int
  private let handler: UnsafeMutablePointer<pubsub_handler>

  fileprivate init(_ span: DeliveryOrder.Span, _ place: Int, at position: Int) {
    (entry, handler, self.position) = (span.buffer.entries[place], span.buffer.handlers + place, position)
  }

  /// Whether the subscription has not been cancelled.
  var stands: Bool { pubsub_function_of(handler) != pubsub_cancelled() }

  /// The receiver of an asynchronous handler or of a sequence; nil if the subscription has been cancelled.
  var receiver: Receiver? {
    guard entry.isAsynchronous, stands, let context = handler.pointee.context else { return nil }
    return Unmanaged.fromOpaque(context).takeUnretainedValue()
  }

  /// Ends the subscription if its owner or subject has been released; returns whether it has.
  func endsIfExpired() -> Bool {
    guard let registration = entry.registration, registration.isExpired else { return false }
    registration.cancel()
    return true
  }

  /// Calls the synchronous handler.
  func call(with event: UnsafeRawPointer) -> CallOutcome {
    let record = pubsub_record_of_thread()
    record.pointee.unheard = -1
    if let error = pubsub_call(pubsub_function_of(handler), handler.pointee.context, event) {
      return .threw(Calling.error(taking: error))
    }
    return record.pointee.unheard == record.pointee.inner ? .ownerIsGone : .returned
  }
}

/// The result of calling a synchronous handler.
enum CallOutcome {
  case returned
  case threw(any Error)
  /// The owner had been released, so the handler was not called.
  case ownerIsGone
}

/// The way of a waiting post through the handlers: priority by priority, with a pause whenever it must wait.
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
  private var position = 0
  private var isReceived = false
  private(set) var isOver = false
  /// Whether the post, or the rest of it, was refused, because it was nested too deep.
  private(set) var isRefused = false

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
        guard store.canPost() else { return refuse() }
        store.show(event, from: subject)
        store.inOrder(event, from: subject) { firstUnseen = store.core.nextID }
      }
    }
  }

  private mutating func refuse() { (isOver, isRefused) = (true, true) }

  /// Delivers up to the next pause, or to the end.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - hand: gives the event to a receiver; returns whether the receiver takes part.
  ///   - follows: learns that at most this number of synchronous handlers follows.
  ///   - call: calls a synchronous handler; returns whether it received the event.
  ///   - mustPause: returns whether the post must wait before the next priority; called between two priorities.
  @inline(__always)
  mutating func goOn(
    with event: UnsafeRawPointer, hand: (Receiver, HandlerPlace, HandlerStore) -> Bool,
    follows: (Int) -> Void, call: (HandlerPlace) -> Bool, mustPause: () -> Bool
  ) {
    if isOver { return }
    store._withUnsafeGuaranteedRef { store in
      // Check again: an executor that runs jobs immediately may continue this post inside other posts.
      guard store.canPost() else { return refuse() }
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
          if pubsub_flags(store.topic) & Int(PUBSUB_RECEIVERS) != 0 {
            var receivers = walk
            _ = receivers.visitPriority(from: position, { _ in }) { place in
              if let receiver = place.receiver, hand(receiver, place, store) { isReceived = true }
            }
          }
          position = walk.visitPriority(from: position, follows) { place in
            if !place.entry.isAsynchronous, place.stands, call(place) { isReceived = true }
          }
        }
      }
      store.end(post)
      if isOver, !isReceived { store.core.reportUndelivered(event, of: store) }
      store.settle(after: post)
    }
  }
}

extension DeliveryOrder {
  /// Visits the handlers of the next priority; returns the position after the last of them.
  @inline(__always)
  fileprivate mutating func visitPriority(
    from first: Int, _ follows: (Int) -> Void, _ body: (HandlerPlace) -> Void
  ) -> Int {
    var position = first
    let priority = priority
    while self.priority == priority, let span = next() {
      follows(span.count)
      for place in span.places {
        body(HandlerPlace(span, place, at: position))
        position += 1
      }
    }
    return position
  }
}
