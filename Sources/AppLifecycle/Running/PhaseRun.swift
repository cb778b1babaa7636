/// One call of `run(while:)`, as a pure state machine.
///
/// In one process two runs of a call's body never overlap. The next run begins when the last has ended, even if the
/// phase was closed and opened meanwhile.
///
///     waiting ──phase opens──▶ running ──phase closes, caller cancelled──▶ ending
///      ▲  ▲                       │                                          │
///      │  └──────── ends ─────────┘                                          │
///      └───────────────── ends, and the phase is not open again ─────────────┘
struct PhaseRun {
  /// An action for the driver.
  enum Action: Hashable {
    /// Begin the body.
    case start
    /// Cancel the running body.
    case cancel
    /// End the call; it throws the error of the body, if there is one.
    case finish
  }

  /// The outcome of a body.
  enum End: Hashable {
    /// The body returned, or threw a `CancellationError`.
    case completed
    case failed
  }

  private enum Position { case waiting, running, ending, finished }

  private var position = Position.waiting
  private var isOpen = false
  private var callerIsCancelled = false

  /// Whether a body runs.
  var isUnderWay: Bool { position == .running || position == .ending }
  /// Whether a running body has been asked to end.
  var isEnding: Bool { position == .ending }

  /// Handles the opening of the phase, or a call in an open phase.
  mutating func phaseDidOpen() -> [Action] {
    isOpen = true
    switch position {
    case .waiting: return start()
    // The phase has closed and opened again before its bodies were ended: end this body, so that it begins again.
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

  /// Handles the end of the body.
  ///
  /// A body that ended by itself does not begin again until the phase opens again. An error ends the call.
  mutating func bodyDidEnd(_ end: End) -> [Action] {
    let wasAsked = position == .ending
    if callerIsCancelled || end == .failed { return finish() }
    position = .waiting
    return wasAsked && isOpen ? start() : []
  }

  /// Handles the loss of the process and of the body; the call waits for the next process, unless its caller was
  /// cancelled.
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
