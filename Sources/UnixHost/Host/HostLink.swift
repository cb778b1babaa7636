import PubSub
import Scheduling

/// A queue of events from other threads to the host's thread.
final class HostLink<Event: Sendable>: Sendable {
  /// The pipe that wakes the host's thread from its `poll`.
  let waker = WakePipe()
  private let events = Guarded<[Event]>([])

  /// Adds an event; any thread may call it.
  func send(_ event: Event) {
    events.withLock { $0.append(event) }
    waker.wake()
  }

  /// Removes and returns all events, oldest first.
  func take() -> [Event] {
    waker.clear()
    return events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
