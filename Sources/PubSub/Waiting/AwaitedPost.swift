/// A delivery to an asynchronous handler, for which a post waits.
struct AwaitedDelivery: Sendable, Equatable {
  let post: AwaitedPost
  let index: Int

  static func == (one: Self, other: Self) -> Bool { one.post === other.post && one.index == other.index }
}

/// The wait of a post for its asynchronous handlers; it ends with the last handler or at the deadline.
///
/// Its lock is a leaf: nothing is called while it is held.
final class AwaitedPost: Sendable {
  /// The instruction to a mailbox that has reached a delivery in its queue.
  enum Beginning {
    case begun
    /// The poster has been cancelled, so the handler must run cancelled from the start.
    case begunCancelled
    /// The wait is over, so the mailbox must drop the event.
    case withdrawn
  }

  private enum Phase {
    case queued, running
    case ended(DeliveryReport.Outcome, Duration)
  }

  private struct Slot {
    let receiver: any AsynchronousReceiver
    let handedOver: Duration
    var phase = Phase.queued
  }

  private struct State {
    var slots: [Slot] = []
    /// The number of deliveries that have not ended.
    var open = 0
    var isExpired = false
    var isCancelled = false
    var isOver = false
    var waiter: UnsafeContinuation<Void, Never>?

    mutating func end(_ index: Int, _ outcome: DeliveryReport.Outcome, at time: Duration) {
      slots[index].phase = .ended(outcome, time - slots[index].handedOver)
      open -= 1
    }

    /// Returns the waiter to resume; nil if deliveries are still open.
    mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? {
      guard open == 0 else { return nil }
      defer { waiter = nil }
      return waiter
    }
  }

  /// The handler's run and the work inside which the post was made; nil if it was made outside both.
  let poster: HandlerContext?
  /// Whether the post itself reports the errors of handlers that end in time, so that the mailboxes need not.
  let reportsErrors: Bool
  private let now: @Sendable () -> Duration
  private let state = Guarded(State())

  init(poster: HandlerContext?, now: @escaping @Sendable () -> Duration, reportsErrors: Bool = false) {
    self.poster = poster
    self.now = now
    self.reportsErrors = reportsErrors
  }

  /// Whether the handlers were cancelled before the deadline.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Whether the wait is over and the post has been reported.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// The receivers that the post waits for at present.
  var awaited: [any AsynchronousReceiver] {
    state.withLock { state in
      state.slots.compactMap { if case .ended = $0.phase { nil } else { $0.receiver } }
    }
  }
}

// MARK: - Deliveries

extension AwaitedPost {
  /// Begins to wait for a receiver, to which the caller then gives the event; returns nil if the deadline has passed.
  func add(_ receiver: any AsynchronousReceiver, at time: Duration) -> AwaitedDelivery? {
    state.withLock { state in
      if state.isExpired { return nil }
      state.slots.append(Slot(receiver: receiver, handedOver: time))
      state.open += 1
      return AwaitedDelivery(post: self, index: state.slots.count - 1)
    }
  }

  /// Notes that the mailbox has reached a delivery, and returns what it must do.
  func begin(_ delivery: AwaitedDelivery) -> Beginning {
    state.withLock { state in
      guard case .queued = state.slots[delivery.index].phase else { return .withdrawn }
      state.slots[delivery.index].phase = .running
      return state.isCancelled ? .begunCancelled : .begun
    }
  }

  /// Whether the post still waits for the handler of a delivery.
  func isOpen(_ delivery: AwaitedDelivery) -> Bool {
    state.withLock { if case .running = $0.slots[delivery.index].phase { true } else { false } }
  }

  /// Notes that the handler has returned; returns false if that was after the deadline, so that the report does not
  /// have the outcome.
  @discardableResult
  func end(_ delivery: AwaitedDelivery, _ outcome: DeliveryReport.Outcome) -> Bool {
    let time = now()
    let (isInTime, waiter) = state.withLock { state -> (Bool, UnsafeContinuation<Void, Never>?) in
      guard case .running = state.slots[delivery.index].phase else { return (false, nil) }
      state.end(delivery.index, outcome, at: time)
      return (true, state.takeWaiter())
    }
    waiter?.resume()
    return isInTime
  }

  /// Notes that the subscription was cancelled while the event was queued.
  func cancelled(_ delivery: AwaitedDelivery) {
    let time = now()
    let waiter = state.withLock { state -> UnsafeContinuation<Void, Never>? in
      guard case .queued = state.slots[delivery.index].phase else { return nil }
      state.end(delivery.index, .cancelled, at: time)
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  func outcome(_ delivery: AwaitedDelivery) -> (DeliveryReport.Outcome, Duration) {
    state.withLock { state in
      guard case .ended(let outcome, let duration) = state.slots[delivery.index].phase else {
        preconditionFailure("the delivery has not ended")
      }
      return (outcome, duration)
    }
  }
}

// MARK: - The wait

extension AwaitedPost {
  /// Waits until every added delivery has ended; the deadline ends all of them.
  ///
  /// If the waiting task is cancelled, the handlers are cancelled.
  func wait() async {
    if state.withLock({ $0.open == 0 }) { return }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isDone = state.withLock { state in
          if state.open > 0 { state.waiter = continuation }
          return state.open == 0
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Ends the wait at the deadline: removes queued events, and cancels running handlers.
  func expire() {
    let time = now()
    var queued: [AwaitedDelivery] = []
    var running: [AwaitedDelivery] = []
    let (slots, waiter) = state.withLock { state -> ([Slot], UnsafeContinuation<Void, Never>?) in
      state.isExpired = true
      let slots = state.slots
      for index in slots.indices {
        switch slots[index].phase {
        case .ended: continue
        case .queued: queued.append(AwaitedDelivery(post: self, index: index))
        case .running: running.append(AwaitedDelivery(post: self, index: index))
        }
        state.end(index, .timedOut, at: time)
      }
      return (slots, state.takeWaiter())
    }
    for delivery in queued { slots[delivery.index].receiver.withdraw(delivery) }
    for delivery in running { slots[delivery.index].receiver.cancelRun(of: delivery) }
    waiter?.resume()
  }

  /// Cancels the handlers for which the post waits, including handlers that begin later.
  func cancel() {
    let running = state.withLock { state in
      state.isCancelled = true
      return state.slots.indices.compactMap { index -> (any AsynchronousReceiver, AwaitedDelivery)? in
        guard case .running = state.slots[index].phase else { return nil }
        return (state.slots[index].receiver, AwaitedDelivery(post: self, index: index))
      }
    }
    for (receiver, delivery) in running { receiver.cancelRun(of: delivery) }
  }

  /// Notes that the post has been reported.
  func finish() { state.withLock { $0.isOver = true } }
}
