import AppLifecycle

extension TerminalStateMachine {
  /// What a batch of signals comes to.
  private struct Gist {
    var wasContinued = false
    var windowHasChanged = false
    var refusal: LifecycleCause?
    var question: LifecycleCause?
    var order: LifecycleCause?
    var hasCopy = false
    var hangUp: LifecycleCause?
  }

  /// Takes all signals that have arrived; decides only once the last one is known.
  mutating func take(_ records: [SignalRecord]) {
    var gist = Gist()
    for record in records {
      switch record.signal {
      case .quit: return die(.quit)
      case .terminate, .interrupt:
        switch orders.take(record, asks: causesThatAsk.contains(record.cause)) {
        case .ask: gist.question = record.cause
        case .end: gist.order = record.cause
        case .copy: gist.hasCopy = true
        case .endAtOnce: return die(record.signal)
        }
      case .hangUp:
        hangUpTaken = record.taken
        gist.hangUp = record.cause
      case .stop:
        // As in the kernel, each of SIGTSTP and SIGCONT takes back the other.
        gist.wasContinued = false
        wantedStop = record.cause
      case .continue:
        wantedStop = nil
        gist.wasContinued = true
      case .backgroundRead, .backgroundWrite: gist.refusal = gist.refusal ?? record.cause
      case .windowChange: gist.windowHasChanged = true
      }
    }
    // A shell that hangs up sends SIGTERM as well, and two threads may take the two in either order.
    termination = termination ?? gist.hangUp ?? gist.order
    if let cause = gist.question { wantQuestion(because: cause) }
    coalesceStop()
    guard termination == nil else { return }
    if gist.wasContinued {
      takeContinue()
    } else if let cause = gist.refusal, phase == .foreground {
      ask(.lookAtTerminal, .refusedByTerminal(cause))
    } else if gist.windowHasChanged, holdsTerminal, phase == .foreground {
      emit(.requestDisplay)
    } else if gist.hasCopy, inquiry != .none {
      lookAtScreen()
    }
  }

  /// The process ends by the signal; the effect restores the terminal.
  private mutating func die(_ signal: CaughtSignal) {
    holdsTerminal = false
    isLeavingTerminal = false
    reportOverruns()
    emit(.die(signal))
    enter(.ended)
  }

  /// A stop that is under way is not wanted again when it is over.
  private mutating func coalesceStop() {
    guard let cause = wantedStop else { return }
    switch phase {
    case .leaving(let earlier):
      // An application that leaves because another job has the terminal stops as well.
      enter(.leaving(stopCause: earlier ?? cause))
      wantedStop = nil
    case .suspending, .terminating: wantedStop = nil
    case .starting, .foreground, .background, .stopped, .ended: break
    }
  }

  /// A SIGCONT that ended no stop of ours.
  private mutating func takeContinue() {
    switch phase {
    case .foreground: ask(.lookAtTerminal, .continuedUnexpectedly)
    // Some shells tell a running background job in this way that it has the terminal.
    case .background: emit(.lookAtTerminal)
    case .leaving, .suspending: ask(.lookAtTerminal, .continuedWhileLeaving)
    // The one that ended the stop is no news; the terminal is looked at next.
    case .starting, .stopped, .terminating, .ended: break
    }
  }

  mutating func takeFocus(_ isFocused: Bool) {
    guard phase == .foreground, focusIsLost == isFocused else { return }
    focusIsLost = !isFocused
    send(isFocused ? .endInterruption(.focusLost) : .beginInterruption(.focusLost), "focus")
  }
}
