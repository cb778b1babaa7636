/// One delivery, to an asynchronous handler, for which a post waits.
struct AwaitedDelivery: Sendable, Equatable {
  let post: AwaitedPost
  let index: Int

  static func == (one: Self, other: Self) -> Bool { one.post === other.post && one.index == other.index }
}

/// The wait of a post for its asynchronous handlers: over with the last of them, or at the deadline.
///
/// Its lock is a leaf: nothing is called while it is held.
final class AwaitedPost: Sendable {
  /// What the mailbox is to do with a delivery whose turn has come.
  enum Beginning {
    case begun
    /// The poster has been cancelled, and so is the handler from the start.
    case begunCancelled
    /// The wait is over: the event is to be dropped.
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
    /// How many have not ended.
    var open = 0
    var isExpired = false
    var isCancelled = false
    var isOver = false
    var waiter: UnsafeContinuation<Void, Never>?

    mutating func end(_ index: Int, _ outcome: DeliveryReport.Outcome, at time: Duration) {
      slots[index].phase = .ended(outcome, time - slots[index].handedOver)
      open -= 1
    }

    /// The waiter to resume; nil if there still is something to wait for.
    mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? {
      guard open == 0 else { return nil }
      defer { waiter = nil }
      return waiter
    }
  }

  /// The handler's run and the work inside which the post was made, if it was made inside any.
  let poster: HandlerContext?
  private let now: @Sendable () -> Duration
  private let state = Guarded(State())

  init(poster: HandlerContext?, now: @escaping @Sendable () -> Duration) {
    self.poster = poster
    self.now = now
  }

  /// Whether the post has been reported: the wait is over.
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
  /// Begins to wait for a receiver, which is then to be given the event; nil if the deadline has passed.
  func add(_ receiver: any AsynchronousReceiver, at time: Duration) -> AwaitedDelivery? {
    state.withLock { state in
      if state.isExpired { return nil }
      state.slots.append(Slot(receiver: receiver, handedOver: time))
      state.open += 1
      return AwaitedDelivery(post: self, index: state.slots.count - 1)
    }
  }

  /// The handler's turn has come.
  func begin(_ delivery: AwaitedDelivery) -> Beginning {
    state.withLock { state in
      guard case .queued = state.slots[delivery.index].phase else { return .withdrawn }
      state.slots[delivery.index].phase = .running
      return state.isCancelled ? .begunCancelled : .begun
    }
  }

  /// The handler has returned; false if that was after the deadline, so that the outcome is not in the report.
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

  /// The subscription was cancelled while the event was queued.
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
        preconditionFailure("asked before the end")
      }
      return (outcome, duration)
    }
  }
}

// MARK: - The wait

extension AwaitedPost {
  /// Returns when every delivery that was added has ended, at the deadline at the latest.
  ///
  /// If the task is cancelled, the handlers are.
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

  /// The deadline has passed: what is queued is removed, what runs is cancelled, and the wait is over.
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

  /// The poster was cancelled: so are the handlers for which it waits, those that begin later included.
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

  /// Ends the wait.
  func finish() { state.withLock { $0.isOver = true } }
}
