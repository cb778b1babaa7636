internal import PubSub
internal import Synchronization

/// The calls of the program's code that have begun and not ended, for any thread to read.
///
/// Changed on the main actor alone.
final class OpenCalls: Sendable {
  private let lock = Lock()
  /// Oldest first; guarded by the lock.
  private nonisolated(unsafe) var present: [TracedCall] = []
  /// The names of the observers, in their order; guarded by the lock.
  private nonisolated(unsafe) var observers: [Subscriber] = []
  /// The place of the observer that is being called; -1 while none is.
  private let place = Atomic(-1)
  /// When the first observer was called with the present event, in nanoseconds by the application's clock.
  private let began = Atomic<Int64>(0)

  /// The calls that have begun and not ended, oldest first; of an observer last, as it interrupts what called it.
  var calls: [TracedCall] {
    var (calls, observer): ([TracedCall], Subscriber?) = ([], nil)
    let place = place.load(ordering: .relaxed)
    lock.withLock {
      calls = present
      if observers.indices.contains(place) { observer = observers[place] }
    }
    guard let observer else { return calls }
    let entry = LedgerEntry(
      .observer, observer, step: "observe", began: .nanoseconds(began.load(ordering: .relaxed)), duration: .zero,
      outcome: .completed)
    return calls + [TracedCall(entry, id: 0, isSynchronous: true)]
  }

  /// Takes note of a call that begins or ends.
  func take(_ event: TraceEvent) {
    switch event {
    case .callBegan(let call): lock.withLock { present.append(call) }
    case .callEnded(_, let id?): close(id)
    // The process has ended, and with it what it had begun.
    case .recorded(let record) where record.kind == .state && record.state == .notRunning:
      lock.withLock { present = [] }
    default: break
    }
  }

  /// The call has ended; the latest ones end first.
  private func close(_ id: TracedCall.ID) {
    lock.withLock {
      if let index = present.lastIndex(where: { $0.id == id }) { present.remove(at: index) }
    }
  }

  // MARK: Observers

  /// Observers were added or removed.
  func setObservers(_ names: [Subscriber]) {
    lock.withLock {
      observers = names
      // No event tells of the calls' ends any more.
      if names.isEmpty { present = [] }
    }
  }

  /// The observers are about to be called with an event.
  func eventBegan(at instant: Duration) { began.store(instant.wholeNanoseconds, ordering: .relaxed) }

  /// The observer at that place is about to be called.
  func callsObserver(at place: Int) { self.place.store(place, ordering: .relaxed) }

  /// No observer is being called any more.
  func observerReturned() { place.store(-1, ordering: .relaxed) }
}

extension Duration {
  /// In nanoseconds, as many as an `Int64` holds.
  fileprivate var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : whole + attoseconds / 1_000_000_000
  }
}
