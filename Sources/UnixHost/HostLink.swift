import PubSub

/// What other threads have for the host thread.
final class HostLink: Sendable {
  /// Wakes the host thread out of its `poll`.
  let waker = WakePipe()
  private let events = Guarded<[TerminalStateMachine.Event]>([])

  /// Adds an event; any thread.
  func send(_ event: TerminalStateMachine.Event) {
    events.withLock { $0.append(event) }
    waker.wake()
  }

  /// Takes all events, oldest first.
  func take() -> [TerminalStateMachine.Event] {
    waker.clear()
    return events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
