import AppLifecycle

extension TerminalStateMachine {
  /// The meaning of a batch of signals.
  private struct Gist {
    var wasContinued = false
    var windowHasChanged = false
    var refusal: LifecycleCause?
    var question: LifecycleCause?
    var order: LifecycleCause?
    /// Whether a handler may have left the screen of a program that goes on.
    var mayHaveLeft = false
    var hangUp: LifecycleCause?
  }

  /// Handles all signals that have arrived, and decides only after the last one.
  mutating func take(_ records: [SignalRecord]) {
    var gist = Gist()
    for record in records where !isForBorrower(record) {
      switch record.signal {
      case _ where isLeftOver(record): gist.mayHaveLeft = true
      case .quit: return die(.quit)
      case .terminate, .interrupt:
        switch orders.take(record) {
        case .ask: gist.question = record.cause
        case .end: gist.order = record.cause
        case .copy: gist.mayHaveLeft = gist.mayHaveLeft || inquiry != .none
        case .endAtOnce: return die(record.signal)
        }
      case .hangUp:
        hangUpTaken = record.taken
        gist.hangUp = record.cause
      case .stop:
        // As in the kernel, SIGTSTP and SIGCONT cancel each other.
        gist.wasContinued = false
        wantedStop = record.cause
      case .continue:
        wantedStop = nil
        gist.wasContinued = true
      case .backgroundRead, .backgroundWrite: gist.refusal = gist.refusal ?? record.cause
      case .windowChange: gist.windowHasChanged = true
      }
    }
    // A shell that hangs up also sends SIGTERM, and two threads may receive the two in either order.
    termination = termination ?? gist.hangUp ?? gist.order
    if let cause = gist.question { wantQuestion(because: cause) }
    if isStopping { wantedStop = nil }
    guard termination == nil else { return }
    if gist.wasContinued { return takeContinue() }
    if let cause = gist.refusal, phase == .foreground {
      ask(.lookAtTerminal, .refusedByTerminal(cause))
    } else if gist.mayHaveLeft {
      lookAtScreen()
    }
    if gist.windowHasChanged, holdsTerminal, phase == .foreground { emit(.requestDisplay) }
  }

  /// Ends the process by a signal; the effect restores the terminal first.
  private mutating func die(_ signal: CaughtSignal) {
    holdsTerminal = false
    isLeavingTerminal = false
    reportOverruns()
    emit(.die(signal))
    enter(.ended)
  }

  /// Whether a signal to stop asks for nothing new.
  private var isStopping: Bool {
    switch phase {
    case .suspending, .terminating: true
    case .starting, .foreground, .background, .leaving, .stopped, .ended: false
    }
  }

  /// Handles a SIGCONT that did not end a stop by the host.
  private mutating func takeContinue() {
    switch phase {
    case .foreground: ask(.lookAtTerminal, .continuedUnexpectedly)
    // Some shells notify a running background job in this way that it has the terminal.
    case .background: emit(.lookAtTerminal)
    case .leaving, .suspending: ask(.lookAtTerminal, .continuedWhileLeaving)
    // The SIGCONT that ended the stop needs no reaction: the terminal is checked next.
    case .starting, .stopped, .terminating, .ended: break
    }
  }

  mutating func takeFocus(_ isFocused: Bool) {
    guard phase == .foreground, focusIsLost == isFocused else { return }
    focusIsLost = !isFocused
    send(isFocused ? .endInterruption(.focusLost) : .beginInterruption(.focusLost), "focus")
  }
}
