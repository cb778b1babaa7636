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
    /// The observer that is being called.
    var observer: (source: Subscriber, began: Duration)?
  }

  /// The calls that have begun and not ended, oldest first; of an observer last, as it interrupts what called it.
  nonisolated var openCalls: [TracedCall] {
    open.withLock { open in
      guard let (source, began) = open.observer else { return open.calls }
      let entry = LedgerEntry(.observer, source, step: "observe", began: began, duration: .zero, outcome: .completed)
      return open.calls + [TracedCall(entry, id: 0, isSynchronous: true)]
    }
  }

  /// Whether there are observers; while there are none, nothing is to be made for them.
  var isEmpty: Bool { observers.isEmpty }

  func add(_ observer: TraceObserver) { observers.append(observer) }

  /// Numbers a call.
  func number(_ entry: LedgerEntry, isSynchronous: Bool) -> TracedCall {
    lastCall += 1
    return TracedCall(entry, id: lastCall, isSynchronous: isSynchronous)
  }

  /// Calls the observers with an event, or after those with which they are being called.
  ///
  /// - Parameters:
  ///   - event: what has happened.
  ///   - call: calls one observer.
  func tell(_ event: TraceEvent, _ call: (TraceObserver, TraceEvent) -> Void) {
    keepCalls(event)
    waiting.append(event)
    guard !isCalling else { return }
    isCalling = true
    var (next, hasCancelled) = (0, false)
    // What an observer leads to is appended meanwhile.
    while next < waiting.count {
      let event = waiting[next]
      next += 1
      for observer in observers {
        if observer.end.isCancelled.load(ordering: .acquiring) { hasCancelled = true } else { call(observer, event) }
      }
    }
    waiting.removeAll(keepingCapacity: true)
    isCalling = false
    if hasCancelled { removeCancelled() }
  }

  private func removeCancelled() {
    observers.removeAll { $0.end.isCancelled.load(ordering: .acquiring) }
    // Nothing tells of their ends any more.
    if observers.isEmpty { open.withLock { $0.calls = [] } }
  }

  /// An observer is being called; nil: it has returned.
  func setPresent(_ observer: (source: Subscriber, began: Duration)?) { open.withLock { $0.observer = observer } }

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
