internal import PubSub
internal import Scheduling
internal import Synchronization

/// The calls of the program's code that have begun and not ended, for any thread to read.
///
/// Only the main actor changes them.
final class OpenCalls: Sendable {
  private let lock = Guarded(())
  /// Oldest first; guarded by the lock.
  private nonisolated(unsafe) var present: [TracedCall] = []
  /// The names of the observers, in their order; guarded by the lock.
  private nonisolated(unsafe) var observers: [EventBus.Subscriber] = []
  /// The index of the observer that is being called; -1 while no observer is.
  private let place = Atomic(-1)
  /// The time when the first observer was called with the current event, in nanoseconds by the application's clock.
  private let began = Atomic<Int64>(0)

  /// The calls that have begun and not ended, oldest first; the call of an observer is last, because it interrupts the
  /// others.
  var calls: [TracedCall] {
    var (calls, observer): ([TracedCall], EventBus.Subscriber?) = ([], nil)
    let place = place.load(ordering: .relaxed)
    lock.withLock { _ in
      calls = present
      if observers.indices.contains(place) { observer = observers[place] }
    }
    guard let observer else { return calls }
    let entry = LedgerEntry(
      .observer, observer, step: CallStep.observe.rawValue, began: .nanoseconds(began.load(ordering: .relaxed)),
      duration: .zero,
      outcome: .completed)
    return calls + [TracedCall(entry, id: 0, isSynchronous: true)]
  }

  /// Stores a call that begins, and removes a call that ends.
  func take(_ event: TraceEvent) {
    switch event {
    case .callBegan(let call): lock.withLock { _ in present.append(call) }
    case .callEnded(_, let id?): close(id)
    // The end of the process ends all its calls.
    case .recorded(let record) where record.kind == .state && record.state == .notRunning:
      lock.withLock { _ in present = [] }
    default: break
    }
  }

  /// Removes a call that has ended; searches backward, because the latest calls usually end first.
  private func close(_ id: TracedCall.ID) {
    lock.withLock { _ in
      if let index = present.lastIndex(where: { $0.id == id }) { present.remove(at: index) }
    }
  }

  // MARK: Observers

  /// Stores the names of the observers after a change.
  func setObservers(_ names: [EventBus.Subscriber]) {
    lock.withLock { _ in
      observers = names
      // Without observers no event reports the end of a call.
      if names.isEmpty { present = [] }
    }
  }

  /// Notes that the observers are about to be called with an event.
  func eventBegan(at instant: Duration) { began.store(instant.nanoseconds, ordering: .relaxed) }

  /// Notes that the observer at an index is about to be called.
  func callsObserver(at place: Int) { self.place.store(place, ordering: .relaxed) }

  /// Notes that no observer is being called.
  func observerReturned() { place.store(-1, ordering: .relaxed) }
}
