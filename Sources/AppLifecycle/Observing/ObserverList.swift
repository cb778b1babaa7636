internal import PubSub
internal import Synchronization

/// Calls the observers of an application, each event for all of them before the next event.
@MainActor final class ObserverList {
  /// In the order in which they are called, each with the number of the event from which on it is.
  private var observers: [(observer: TraceObserver, from: Int)] = [] {
    didSet { isEmpty = observers.isEmpty }
  }
  /// What happens while observers are called with an event, oldest first.
  private var waiting: [TraceEvent] = []
  private(set) var isCalling = false
  private var lastCall: UInt64 = 0
  /// What has begun and not ended; also read off the main actor.
  private nonisolated let open = OpenCalls()

  /// The calls that have begun and not ended, oldest first; of an observer last, as it interrupts what called it.
  nonisolated var openCalls: [TracedCall] { open.calls }

  /// Whether there are observers; while there are none, nothing is to be made for them.
  private(set) var isEmpty = true

  /// Adds an observer, which is called with what happens from now on.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - isFirst: whether it is called before those that were added earlier.
  func add(_ observer: TraceObserver, isFirst: Bool = false) {
    if !isCalling { removeCancelled() }
    // While observers are being called, what waits happened before.
    let new = (observer, isCalling ? waiting.count + 1 : 0)
    if isFirst, !isCalling { observers.insert(new, at: 0) } else { observers.append(new) }
    publishNames()
  }

  /// Numbers a call.
  func number(_ entry: LedgerEntry, isSynchronous: Bool) -> TracedCall {
    lastCall += 1
    return TracedCall(entry, id: lastCall, isSynchronous: isSynchronous)
  }

  /// Calls the observers with an event, or after the one with which they are being called.
  func tell(_ event: TraceEvent, to application: Application) {
    open.take(event)
    guard !isCalling else { return waiting.append(event) }
    isCalling = true
    deliver(event, number: 0, to: application)
    // What an observer leads to is appended meanwhile.
    var next = 0
    while next < waiting.count {
      let event = waiting[next]
      next += 1
      deliver(event, number: next, to: application)
    }
    open.observerReturned()
    waiting.removeAll(keepingCapacity: true)
    isCalling = false
    tidy()
  }

  private func deliver(_ event: TraceEvent, number: Int, to application: Application) {
    open.eventBegan(at: event.instant ?? application.instant)
    for (place, (observer, from)) in observers.enumerated() where from <= number && !observer.isCancelled {
      open.callsObserver(at: place)
      application.call(observer, with: event)
    }
  }

  /// Forgets observers that were cancelled, and that some were added while others were called.
  private func tidy() {
    var hasCancelled = false
    for place in observers.indices {
      if observers[place].from > 0 { observers[place].from = 0 }
      if observers[place].observer.isCancelled { hasCancelled = true }
    }
    guard hasCancelled else { return }
    removeCancelled()
    publishNames()
  }

  private func removeCancelled() { observers.removeAll { $0.observer.isCancelled } }

  private func publishNames() { open.setObservers(observers.map(\.observer.source)) }
}

extension TraceEvent {
  /// When it happened, by the application's clock; nil where the event does not say.
  fileprivate var instant: Duration? {
    switch self {
    case .recorded(let record): record.instant
    case .callBegan(let call): call.began
    case .callEnded(let entry, _): entry.began + entry.duration
    default: nil
    }
  }
}
