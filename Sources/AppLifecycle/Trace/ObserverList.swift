internal import PubSub
internal import Synchronization

/// Calls the observers of an application: all of them with one event before any with the next.
@MainActor final class ObserverList {
  /// The number of events that an observer may cause while one event is delivered, so that it cannot stop the main actor.
  nonisolated static let limit = 10_000

  // Accessed at each call, and no access calls code that accesses them again.
  /// The observers in the order in which they are called, each with the number of the first event that it receives, and
  /// the number of events that it has caused since the present event.
  @exclusivity(unchecked) private var observers: [(observer: TraceObserver, from: Int, caused: Int)] = [] {
    didSet { isEmpty = observers.isEmpty }
  }
  /// Events that happen while observers are being called, oldest first.
  private var waiting: [TraceEvent] = []
  private(set) var isCalling = false
  /// The number of events that observers have caused since the present event.
  @exclusivity(unchecked) private var caused = 0
  /// Whether an observer was added, or was found to be cancelled, while observers were being called.
  @exclusivity(unchecked) private var hasChanged = false
  private var lastCall: UInt64 = 0
  /// The calls that have begun and not ended; other threads may read them.
  private nonisolated let open = OpenCalls()

  /// The calls that have begun and not ended, oldest first; the call of an observer is last, because it interrupts the
  /// others.
  nonisolated var openCalls: [TracedCall] { open.calls }

  /// Whether there are no observers, so that no events need be created.
  @exclusivity(unchecked) private(set) var isEmpty = true

  private let hasInterceptors: Bool

  init(hasInterceptors: Bool) { self.hasInterceptors = hasInterceptors }

  /// Whether calls must be described: for observers, or for interceptors.
  var describesCalls: Bool { !isEmpty || hasInterceptors }

  /// Adds an observer, which receives the events that happen from now on.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - isFirst: whether it is called before observers that were added earlier.
  func add(_ observer: TraceObserver, isFirst: Bool = false) {
    if !isCalling { removeCancelled() }
    // The waiting events happened before the observer was added.
    let new = (observer, isCalling ? waiting.count + 1 : 0, 0)
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
    guard !isCalling else {
      waiting.append(event)
      return noteCause()
    }
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
    // What observers cause while background tasks are told is told after this event.
    if caused > 0, !application.background.isTelling {
      caused = 0
      for place in observers.indices { observers[place].caused = 0 }
    }
    if hasChanged { tidy() }
  }

  /// Counts an event that an observer causes.
  func noteCause() { if isCalling { caused += 1 } }

  private func deliver(_ event: TraceEvent, number: Int, to application: Application) {
    open.eventBegan(at: event.instant ?? application.instant)
    var time = application.timeWithinBudget
    for place in observers.indices where observers[place].from <= number {
      open.callsObserver(at: place)
      let before = caused
      let observer = observers[place].observer
      if !observer.body.hasEnded { time = application.call(observer, with: event, at: time) }
      if caused > before {
        observers[place].caused += caused - before
        if observers[place].caused >= Self.limit, !observer.body.hasEnded {
          observer.body.end()
          application.note(ObserverIsEndless(), of: observer)
        }
      }
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

/// The error of an observer that causes events without end, and is no longer called.
private struct ObserverIsEndless: Error, CustomStringConvertible {
  var description: String { "it caused \(ObserverList.limit) events while one was delivered, and is no longer called" }
}
