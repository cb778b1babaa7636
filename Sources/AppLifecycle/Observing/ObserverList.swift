internal import PubSub
internal import Synchronization

/// Calls the observers of an application, each event for all of them before the next event.
@MainActor final class ObserverList {
  private var observers: [TraceObserver] = []
  /// What happens while observers are called, oldest first.
  private var waiting: [TraceEvent] = []
  private var isCalling = false
  private var lastCall: UInt64 = 0
  /// What has begun and not ended; also read off the main actor.
  private nonisolated let open = Guarded(Open())

  private struct Open: Sendable {
    /// Oldest first.
    var calls: [TracedCall] = []
    /// The names of the observers, in their order.
    var observers: [Subscriber] = []
  }

  /// The place of the observer that is being called; -1 while none is.
  private nonisolated let present = Atomic(-1)
  /// When the first observer was called with the present event, in nanoseconds by the application's clock.
  private nonisolated let eventBegan = Atomic<Int64>(0)

  /// The calls that have begun and not ended, oldest first; of an observer last, as it interrupts what called it.
  nonisolated var openCalls: [TracedCall] {
    open.withLock { open in
      let place = present.load(ordering: .relaxed)
      guard open.observers.indices.contains(place) else { return open.calls }
      let began = Duration.nanoseconds(eventBegan.load(ordering: .relaxed))
      let entry = LedgerEntry(
        .observer, open.observers[place], step: "observe", began: began, duration: .zero, outcome: .completed)
      return open.calls + [TracedCall(entry, id: 0, isSynchronous: true)]
    }
  }

  /// Whether there are observers; while there are none, nothing is to be made for them.
  var isEmpty: Bool { observers.isEmpty }

  func add(_ observer: TraceObserver) {
    observers.append(observer)
    open.withLock { $0.observers.append(observer.source) }
  }

  /// Numbers a call.
  func number(_ entry: LedgerEntry, isSynchronous: Bool) -> TracedCall {
    lastCall += 1
    return TracedCall(entry, id: lastCall, isSynchronous: isSynchronous)
  }

  /// Calls the observers with an event, or after those with which they are being called.
  ///
  /// - Parameters:
  ///   - event: what has happened.
  ///   - now: reads the application's clock.
  ///   - call: calls one observer.
  func tell(_ event: TraceEvent, now: () -> Duration, _ call: (TraceObserver, TraceEvent) -> Void) {
    keepCalls(event)
    waiting.append(event)
    guard !isCalling else { return }
    isCalling = true
    var (next, hasCancelled) = (0, false)
    // What an observer leads to is appended meanwhile.
    while next < waiting.count {
      let event = waiting[next]
      next += 1
      eventBegan.store(now().wholeNanoseconds, ordering: .relaxed)
      for (place, observer) in observers.enumerated() {
        if observer.end.isCancelled.load(ordering: .acquiring) {
          hasCancelled = true
        } else {
          present.store(place, ordering: .relaxed)
          call(observer, event)
        }
      }
    }
    present.store(-1, ordering: .relaxed)
    waiting.removeAll(keepingCapacity: true)
    isCalling = false
    if hasCancelled { removeCancelled() }
  }

  private func removeCancelled() {
    observers.removeAll { $0.end.isCancelled.load(ordering: .acquiring) }
    open.withLock { open in
      open.observers = observers.map(\.source)
      // Nothing tells of their ends any more.
      if observers.isEmpty { open.calls = [] }
    }
  }

  private func keepCalls(_ event: TraceEvent) {
    switch event {
    case .callBegan(let call): open.withLock { $0.calls.append(call) }
    case .callEnded(_, let id?): close(id)
    // The process has ended, and with it what it had begun.
    case .recorded(let record) where record.kind == .state && record.state == .notRunning:
      open.withLock { $0.calls = [] }
    default: break
    }
  }

  /// The call has ended; the latest ones end first.
  private func close(_ id: TracedCall.ID) {
    open.withLock { open in
      if let index = open.calls.lastIndex(where: { $0.id == id }) { open.calls.remove(at: index) }
    }
  }
}

extension Duration {
  /// In nanoseconds, as many as an `Int64` holds.
  fileprivate var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : whole + attoseconds / 1_000_000_000
  }
}
