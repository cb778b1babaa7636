import PubSub
import Scheduling

/// A queue of events from other threads to the host's thread, with notes about the program's code.
final class HostLink<Event: Sendable>: Sendable {
  /// The pipe that wakes the host's thread from its `poll`.
  let waker: WakePipe
  private let events = Guarded<[Event]>([])
  private let notes = Guarded(CodeNotes())

  init(waker: WakePipe = WakePipe()) { self.waker = waker }

  /// Adds an event; any thread may call it.
  func send(_ event: Event) {
    events.withLock { $0.append(event) }
    waker.wake()
  }

  /// Removes and returns all events, oldest first.
  func take() -> [Event] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }

  /// Notes that code of the program may have begun, such as a resource, and so may have taken signals; any thread may
  /// call it.
  func noteBeginning() { note { $0.mayHaveBegun = true } }

  /// Notes that a loop or body has returned unasked, perhaps because it received an order; any thread may call it.
  func noteReturn(of run: ReturnedRun) { note { $0.returned = run } }

  private func note(_ change: (inout CodeNotes) -> Void) {
    let isFirst = notes.withLock { notes in
      defer { change(&notes) }
      return notes == CodeNotes()
    }
    if isFirst { waker.wake() }
  }

  /// Removes and returns the notes, before the events.
  func takeNotes() -> CodeNotes {
    // What is noted or sent from now on wakes the thread again.
    waker.clear()
    return notes.withLock { notes in
      defer { notes = CodeNotes() }
      return notes
    }
  }
}

/// A loop or body that has returned unasked.
struct ReturnedRun: Sendable, Hashable {
  var name: String
  /// When it began, by the clock of signals.
  var began: Duration
}

/// What the program's code has done since the host's thread last looked.
struct CodeNotes: Sendable, Hashable {
  /// Whether code may have begun, such as a resource.
  var mayHaveBegun = false
  /// The loop or body that has returned unasked, the latest one; nil if none has.
  var returned: ReturnedRun?
}
