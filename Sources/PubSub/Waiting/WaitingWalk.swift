internal import CPubSub

/// The way of a waiting post through the handlers: priority by priority, with a pause whenever it must wait.
///
/// During a pause it protects no memory. Afterwards it continues after the last delivered priority, with the handlers
/// that subscribed before the post began. Within a priority the receivers get the event first, so that they receive it
/// before any event that synchronous handlers post.
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

  /// Begins a post; the bus must outlive the value.
  init<E: EventBus.Event>(
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
  ///   - follows: learns that at most this number of synchronous handlers follows; called first.
  ///   - call: calls a synchronous handler; returns whether it received the event.
  ///   - mustPause: returns whether the post must wait before the next priority; called between two priorities.
  @inline(__always)
  mutating func deliver(
    _ event: UnsafeRawPointer, hand: (Receiver, HandlerPlace, HandlerStore) -> Bool,
    follows: (Int) -> Void, call: (HandlerPlace) -> Bool, mustPause: () -> Bool
  ) {
    if isOver { return }
    store._withUnsafeGuaranteedRef { store in
      // Check again: an executor that runs jobs immediately may continue this post inside other posts.
      guard store.canPost() else { return refuse() }
      let post = store.begin(from: subject, within: wider, before: firstUnseen)
      isOver = true
      var order = DeliveryOrder(post, from: position)
      if let passed { order.skip(through: passed) }
      follows(order.remaining)
      while let priority = order.priority {
        if passed != nil, mustPause() {
          isOver = false
          break
        }
        passed = priority
        if store.hasReceivers {
          var receivers = order
          while receivers.priority == priority, let place = receivers.next() {
            if let receiver = place.receiver, hand(receiver, place, store) { isReceived = true }
          }
          receivers.leaveLast()
        }
        while order.priority == priority, let place = order.next() {
          if !place.entry.isAsynchronous, place.isLiving, call(place) { isReceived = true }
        }
      }
      position = order.position
      store.end(post)
      if isOver, !isReceived { store.core.reportUndelivered(event, of: store) }
    }
  }
}
