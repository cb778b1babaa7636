/// What one call of `run(while:)` does, as a pure state machine.
///
/// Of one call a body never runs twice at once in one process's life: the next begins when the last has ended, also if the
/// phase was closed and opened meanwhile.
///
///     waiting ──phase opens──▶ running ──phase closes, caller cancelled──▶ ending
///      ▲  ▲                       │                                          │
///      │  └──────── ends ─────────┘                                          │
///      └───────────────── ends, and the phase is not open again ─────────────┘
struct PhaseRun {
  /// What the driver is to do.
  enum Action: Hashable {
    /// Begin the body.
    case start
    /// Cancel the body that runs.
    case cancel
    /// The call is over; a body's error is thrown by it.
    case finish
  }

  /// How a body ended.
  enum End: Hashable {
    /// It returned, or threw a `CancellationError`.
    case completed
    case failed
  }

  private enum Position { case waiting, running, ending, finished }

  private var position = Position.waiting
  private var isOpen = false
  private var callerIsCancelled = false

  /// Whether a body runs.
  var isUnderWay: Bool { position == .running || position == .ending }
  /// Whether a body runs that has been asked to end.
  var isEnding: Bool { position == .ending }

  /// The phase holds, from its opening or from the call on.
  mutating func phaseDidOpen() -> [Action] {
    isOpen = true
    switch position {
    case .waiting: return start()
    // It has seen the end of the phase, though nothing else has: it is to see this beginning as well.
    case .running: return end()
    case .ending, .finished: return []
    }
  }

  mutating func phaseDidClose() -> [Action] {
    isOpen = false
    return position == .running ? end() : []
  }

  mutating func callerWasCancelled() -> [Action] {
    guard position != .finished else { return [] }
    callerIsCancelled = true
    switch position {
    case .waiting: return finish()
    case .running: return end()
    case .ending, .finished: return []
    }
  }

  /// The body has ended.
  ///
  /// One that ended by itself is not begun again until the phase opens anew. An error ends the call.
  mutating func bodyDidEnd(_ end: End) -> [Action] {
    let wasAsked = position == .ending
    if callerIsCancelled || end == .failed { return finish() }
    position = .waiting
    return wasAsked && isOpen ? start() : []
  }

  /// The process vanished, and the body with it; the call waits for the next process, unless its caller was cancelled.
  mutating func processWasLost() -> [Action] {
    isOpen = false
    guard position != .finished else { return [] }
    position = .waiting
    return callerIsCancelled ? finish() : []
  }

  private mutating func start() -> [Action] {
    position = .running
    return [.start]
  }

  private mutating func end() -> [Action] {
    position = .ending
    return [.cancel]
  }

  private mutating func finish() -> [Action] {
    position = .finished
    return [.finish]
  }
}
