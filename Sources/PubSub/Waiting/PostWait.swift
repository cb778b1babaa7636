internal import Scheduling

/// A delivery to an asynchronous handler, for which a post waits.
struct AwaitedDelivery: Sendable, Equatable {
  let wait: PostWait
  let index: Int
  /// The code of the poster to run around the handler; nil for none.
  var wrapper: (any HandlerWrapper)?

  static func == (one: Self, other: Self) -> Bool { one.wait === other.wait && one.index == other.index }

  func end(_ outcome: DeliveryReport.Outcome) { wait.end(self, outcome) }
}

/// The waiting side of a ``MeasuredPost``, which shares it with the mailboxes of its asynchronous handlers.
///
/// A wait for the handlers of one priority ends with the last of them or at the deadline; then the next may begin.
///
/// Its lock is a leaf: nothing is called while it is held. The code that ends a delivery keeps its mailbox, so none is
/// released under the lock.
final class PostWait: Sendable {
  /// What a mailbox must do with a delivery that it has reached in its queue.
  enum Beginning {
    /// Call the handler.
    case begun
    /// Call the handler in a cancelled task, because the poster has been cancelled.
    case begunCancelled
    /// Drop the event, because the wait is over.
    case withdrawn
  }

  private struct Slot {
    /// The mailbox; nil once the delivery has ended.
    var mailbox: AnyMailbox?
    var isRunning = false
    var delivery: ObservedDelivery
  }

  private struct State {
    var slots: [Slot] = []
    var ended: [ObservedDelivery] = []
    /// The number of deliveries for which the post waits; one counts until the `didNote` of its ``end`` has returned.
    var open = 0
    var isExpired = false
    var isCancelled = false
    var waiter: UnsafeContinuation<Void, Never>?

    /// Notes the end of a delivery; returns false if it has ended before.
    mutating func end(
      _ index: Int, _ outcome: DeliveryReport.Outcome, at time: Duration, isBlamed: Bool = false
    ) -> Bool {
      guard slots[index].mailbox != nil else { return false }
      var delivery = slots[index].delivery
      (delivery.outcome, delivery.duration, delivery.isBlamed) = (outcome, time - delivery.began, isBlamed)
      if isCancelled, case .threw(let error) = outcome { delivery.isOfCancellation = error is CancellationError }
      ended.append(delivery)
      slots[index].mailbox = nil
      return true
    }

    /// Ends the wait for some deliveries; returns the waiter to resume, if these were the last ones.
    mutating func stopWaiting(for count: Int) -> UnsafeContinuation<Void, Never>? {
      open -= count
      return open == 0 ? waiter.take() : nil
    }
  }

  /// Whether the poster keeps a ledger: then it, not the mailbox, reports errors of handlers that ended in time, after the wait.
  let errorsAreInLedger: Bool
  private let now: @Sendable () -> Duration
  private let state = Guarded(State())

  init(now: @escaping @Sendable () -> Duration, errorsAreInLedger: Bool = false) {
    (self.now, self.errorsAreInLedger) = (now, errorsAreInLedger)
  }

  var isOpen: Bool { state.withLock { $0.open > 0 } }

  var isExpired: Bool { state.withLock { $0.isExpired } }

  /// Whether the deadline came before the handler of a delivery began; one that had begun was cancelled.
  func hasExpired(before delivery: AwaitedDelivery) -> Bool {
    state.withLock { $0.isExpired && !$0.slots[delivery.index].isRunning }
  }

  /// The mailboxes that the post waits for at present.
  var awaited: [AnyMailbox] { state.withLock { $0.slots.compactMap(\.mailbox) } }
}

// MARK: - Deliveries

extension PostWait {
  /// Begins to wait for a mailbox, to which the caller then gives the event; returns nil if the deadline has passed.
  func add(
    _ mailbox: AnyMailbox, _ delivery: ObservedDelivery, inside wrapper: (any HandlerWrapper)?
  ) -> AwaitedDelivery? {
    state.withLock { state in
      if state.isExpired { return nil }
      state.slots.append(Slot(mailbox: mailbox, delivery: delivery))
      state.open += 1
      return AwaitedDelivery(wait: self, index: state.slots.count - 1, wrapper: wrapper)
    }
  }

  /// Forgets a delivery that the mailbox has refused; returns false if the deadline has ended it before.
  func drop(_ delivery: AwaitedDelivery) -> Bool {
    let (wasOpen, waiter) = state.withLock { state in
      let wasOpen = state.slots[delivery.index].mailbox.take() != nil
      return (wasOpen, wasOpen ? state.stopWaiting(for: 1) : nil)
    }
    waiter?.resume()
    return wasOpen
  }

  /// Notes that the mailbox has reached a delivery, and returns what it must do.
  func begin(_ delivery: AwaitedDelivery) -> Beginning {
    state.withLock { state in
      guard state.slots[delivery.index].mailbox != nil else { return .withdrawn }
      state.slots[delivery.index].isRunning = true
      return state.isCancelled ? .begunCancelled : .begun
    }
  }

  /// Notes that the handler has returned or thrown, or will not be called, unless the deadline has passed.
  ///
  /// It calls `didNote` before the poster can go on, because the poster may then end the process. The argument is false after the
  /// deadline: then the post does not take the outcome.
  func end(
    _ delivery: AwaitedDelivery, _ outcome: DeliveryReport.Outcome, _ didNote: (_ isInTime: Bool) -> Void = { _ in }
  ) {
    let time = now()
    let isInTime = state.withLock { $0.end(delivery.index, outcome, at: time) }
    didNote(isInTime)
    if isInTime { state.withLock { $0.stopWaiting(for: 1) }?.resume() }
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

extension PostWait {
  /// Waits until every added delivery has ended; the deadline ends all of them.
  ///
  /// If the waiting task is cancelled, the handlers are cancelled.
  func untilAllEnded() async {
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
  /// - Parameter late: the mailboxes that are to blame.
  func expire(blaming late: Set<ObjectIdentifier> = []) {
    let time = now()
    let (open, waiter) = state.withLock { state in
      state.isExpired = true
      let open = openDeliveries(in: state)
      for (mailbox, delivery, _) in open {
        _ = state.end(delivery.index, .timedOut, at: time, isBlamed: late.contains(ObjectIdentifier(mailbox)))
      }
      return (open, state.stopWaiting(for: open.count))
    }
    for (mailbox, delivery, isRunning) in open {
      if isRunning { mailbox.cancelRun(of: delivery) } else { mailbox.withdraw(delivery) }
    }
    waiter?.resume()
  }

  /// Cancels the handlers for which the post waits, including handlers that begin later.
  func cancel() {
    let open = state.withLock { state in
      state.isCancelled = true
      return openDeliveries(in: state)
    }
    for (mailbox, delivery, isRunning) in open where isRunning { mailbox.cancelRun(of: delivery) }
  }

  private func openDeliveries(in state: State) -> [(AnyMailbox, AwaitedDelivery, isRunning: Bool)] {
    state.slots.indices.compactMap { index in
      let slot = state.slots[index]
      return slot.mailbox.map { ($0, AwaitedDelivery(wait: self, index: index), slot.isRunning) }
    }
  }
}
