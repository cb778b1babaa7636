internal import Scheduling

/// A delivery to an asynchronous handler, for which a post waits.
struct AwaitedDelivery: Sendable, Equatable {
  let post: AwaitedPost
  let index: Int

  static func == (one: Self, other: Self) -> Bool { one.post === other.post && one.index == other.index }
}

/// The wait of a post for its asynchronous handlers, which the post shares with their mailboxes; it ends with the last
/// handler or at the deadline.
///
/// Its lock is a leaf: nothing is called while it is held. It keeps a receiver until the delivery ends. Each call that
/// ends one is made by code that keeps the receiver for longer, so no receiver is released under the lock.
final class AwaitedPost: Sendable {
  /// The instruction to a mailbox that has reached a delivery in its queue.
  enum Beginning {
    case begun
    /// The poster has been cancelled, so the handler must run cancelled from the start.
    case begunCancelled
    /// The wait is over, so the mailbox must drop the event.
    case withdrawn
  }

  private struct Slot {
    /// The receiver; nil once the delivery has ended.
    var receiver: (any AnyMailbox)?
    var isRunning = false
    var delivery: ObservedDelivery
  }

  private struct State {
    var slots: [Slot] = []
    var ended: [ObservedDelivery] = []
    /// The number of deliveries that have not ended.
    var open = 0
    var isExpired = false
    var isCancelled = false
    var isReported = false
    var waiter: UnsafeContinuation<Void, Never>?

    mutating func end(_ index: Int, _ outcome: DeliveryReport.Outcome, at time: Duration, isLate: Bool = false) {
      var delivery = slots[index].delivery
      (delivery.outcome, delivery.duration, delivery.isLate) = (outcome, time - delivery.began, isLate)
      if isCancelled, case .threw(let error) = outcome { delivery.isOfCancellation = error is CancellationError }
      ended.append(delivery)
      slots[index].receiver = nil
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
    (self.poster, self.now, self.reportsErrors) = (poster, now, reportsErrors)
  }

  /// Whether the post waits for a handler at present.
  var isOpen: Bool { state.withLock { $0.open > 0 } }

  /// Whether the wait has ended at the deadline.
  var isExpired: Bool { state.withLock { $0.isExpired } }

  /// Whether the wait is over and the post has been reported.
  var isReported: Bool { state.withLock { $0.isReported } }

  /// The receivers that the post waits for at present.
  var awaited: [any AnyMailbox] { state.withLock { $0.slots.compactMap(\.receiver) } }
}

// MARK: - Deliveries

extension AwaitedPost {
  /// Begins to wait for a receiver, to which the caller then gives the event; returns nil if the deadline has passed.
  func add(_ receiver: any AnyMailbox, _ delivery: ObservedDelivery) -> AwaitedDelivery? {
    state.withLock { state in
      if state.isExpired { return nil }
      state.slots.append(Slot(receiver: receiver, delivery: delivery))
      state.open += 1
      return AwaitedDelivery(post: self, index: state.slots.count - 1)
    }
  }

  /// Forgets a delivery that the receiver has refused.
  func drop(_ delivery: AwaitedDelivery) {
    let waiter = state.withLock { state -> UnsafeContinuation<Void, Never>? in
      guard state.slots[delivery.index].receiver != nil else { return nil }
      state.slots[delivery.index].receiver = nil
      state.open -= 1
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  /// Notes that the mailbox has reached a delivery, and returns what it must do.
  func begin(_ delivery: AwaitedDelivery) -> Beginning {
    state.withLock { state in
      guard state.slots[delivery.index].receiver != nil else { return .withdrawn }
      state.slots[delivery.index].isRunning = true
      return state.isCancelled ? .begunCancelled : .begun
    }
  }

  /// Whether the post still waits for the handler of a delivery.
  func isOpen(_ delivery: AwaitedDelivery) -> Bool { state.withLock { $0.slots[delivery.index].receiver != nil } }

  /// Notes that the handler has returned, or will not be called; returns false if that was after the deadline, so that
  /// the report does not have the outcome.
  @discardableResult
  func end(_ delivery: AwaitedDelivery, _ outcome: DeliveryReport.Outcome) -> Bool {
    let time = now()
    let (isInTime, waiter) = state.withLock { state -> (Bool, UnsafeContinuation<Void, Never>?) in
      guard state.slots[delivery.index].receiver != nil else { return (false, nil) }
      state.end(delivery.index, outcome, at: time)
      return (true, state.takeWaiter())
    }
    waiter?.resume()
    return isInTime
  }

  /// Takes the deliveries that have ended, in the order in which the post reached the handlers.
  func takeEnded() -> [ObservedDelivery] {
    state.withLock { state in
      defer { state.ended = [] }
      return state.ended
    }.sorted { $0.position < $1.position }
  }
}

// MARK: - The wait

extension AwaitedPost {
  /// Waits until every added delivery has ended; the deadline ends all of them.
  ///
  /// If the waiting task is cancelled, the handlers are cancelled.
  func wait() async {
    if !isOpen { return }
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
  ///
  /// - Parameter late: the receivers that are to blame.
  func expire(blaming late: Set<ObjectIdentifier> = []) {
    let time = now()
    let (open, waiter) = state.withLock { state -> ([OpenDelivery], UnsafeContinuation<Void, Never>?) in
      state.isExpired = true
      let open = openDeliveries(in: state)
      for (receiver, delivery, _) in open {
        state.end(delivery.index, .timedOut, at: time, isLate: late.contains(ObjectIdentifier(receiver)))
      }
      return (open, state.takeWaiter())
    }
    for (receiver, delivery, isRunning) in open {
      if isRunning { receiver.cancelRun(of: delivery) } else { receiver.withdraw(delivery) }
    }
    waiter?.resume()
  }

  /// Cancels the handlers for which the post waits, including handlers that begin later.
  func cancel() {
    let open = state.withLock { state in
      state.isCancelled = true
      return openDeliveries(in: state)
    }
    for (receiver, delivery, isRunning) in open where isRunning { receiver.cancelRun(of: delivery) }
  }

  private typealias OpenDelivery = (receiver: any AnyMailbox, AwaitedDelivery, isRunning: Bool)

  private func openDeliveries(in state: State) -> [OpenDelivery] {
    state.slots.indices.compactMap { index in
      let slot = state.slots[index]
      return slot.receiver.map { ($0, AwaitedDelivery(post: self, index: index), slot.isRunning) }
    }
  }

  /// Notes that the post has been reported.
  func noteReported() { state.withLock { $0.isReported = true } }
}
