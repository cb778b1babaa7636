import PubSub

/// What other threads have for the host thread.
final class HostLink<Event: Sendable>: Sendable {
  /// Wakes the host thread out of its `poll`.
  let waker = WakePipe()
  private let events = Guarded<[Event]>([])

  /// Adds an event; any thread.
  func send(_ event: Event) {
    events.withLock { $0.append(event) }
    waker.wake()
  }

  /// Takes all events, oldest first.
  func take() -> [Event] {
    waker.clear()
    return events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
