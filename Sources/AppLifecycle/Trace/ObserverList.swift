internal import PubSub
internal import Synchronization

/// Calls the observers of an application: all of them with one event before any with the next.
@MainActor final class ObserverList {
  /// The observers in the order in which they are called, each with the number of the first event that it receives.
  private var observers: [(observer: TraceObserver, from: Int)] = [] {
    didSet { isEmpty = observers.isEmpty }
  }
  /// Events that happen while observers are being called, oldest first.
  private var waiting: [TraceEvent] = []
  private(set) var isCalling = false
  /// Whether an observer was added, or was found to be cancelled, while observers were being called.
  private var hasChanged = false
  private var lastCall: UInt64 = 0
  /// The calls that have begun and not ended; other threads may read them.
  private nonisolated let open = OpenCalls()

  /// The calls that have begun and not ended, oldest first; the call of an observer is last, because it interrupts the
  /// others.
  nonisolated var openCalls: [TracedCall] { open.calls }

  /// Whether there are no observers, so that no events need be created.
  private(set) var isEmpty = true

  /// Adds an observer, which receives the events that happen from now on.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - isFirst: whether it is called before observers that were added earlier.
  func add(_ observer: TraceObserver, isFirst: Bool = false) {
    if !isCalling { removeCancelled() }
    // The waiting events happened before the observer was added.
    let new = (observer, isCalling ? waiting.count + 1 : 0)
    if isCalling { hasChanged = true }
    if isFirst, !isCalling { observers.insert(new, at: 0) } else { observers.append(new) }
    publishNames()
  }

  /// Gives a call its number.
  func number(
    _ entry: LedgerEntry, isSynchronous: Bool, isLongRunning: Bool, in transition: TracedTransition.ID?
  ) -> TracedCall {
    lastCall += 1
    return TracedCall(
      entry, id: lastCall, isSynchronous: isSynchronous, isLongRunning: isLongRunning, in: transition)
  }

  /// Delivers an event to the observers, at once or after the event that is being delivered.
  func tell(_ event: TraceEvent, to application: Application) {
    open.take(event)
    guard !isCalling else { return waiting.append(event) }
    isCalling = true
    deliver(event, number: 0, to: application)
    // Observers may append events meanwhile.
    var next = 0
    while next < waiting.count {
      let event = waiting[next]
      next += 1
      deliver(event, number: next, to: application)
    }
    open.observerReturned()
    waiting.removeAll(keepingCapacity: true)
    isCalling = false
    if hasChanged { tidy() }
  }

  private func deliver(_ event: TraceEvent, number: Int, to application: Application) {
    open.eventBegan(at: event.instant ?? application.instant)
    var time = application.timeWithinBudget
    for (place, (observer, from)) in observers.enumerated() where from <= number {
      open.callsObserver(at: place)
      if !observer.body.hasEnded { time = application.call(observer, with: event, at: time) }
      if observer.body.hasEnded { hasChanged = true }
    }
  }

  /// Removes cancelled observers, and lets observers that were added meanwhile receive every later event.
  private func tidy() {
    hasChanged = false
    removeCancelled()
    for place in observers.indices { observers[place].from = 0 }
    publishNames()
  }

  private func removeCancelled() { observers.removeAll { $0.observer.body.hasEnded } }

  private func publishNames() { open.setObservers(observers.map(\.observer.source)) }
}

extension TraceEvent {
  /// The time of the event by the application's clock; nil if the event has none.
  fileprivate var instant: Duration? {
    switch self {
    case .recorded(let record): record.instant
    case .callBegan(let call): call.began
    case .callEnded(let entry, _): entry.began + entry.duration
    default: nil
    }
  }
}
