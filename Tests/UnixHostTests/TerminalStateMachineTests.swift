import AppLifecycle
import Testing

@testable import UnixHost

/// The table of cases of job control, one test each, against the pure machine.
@Suite struct TerminalStateMachineTests {
  typealias Machine = TerminalStateMachine
  typealias Effect = TerminalStateMachine.Effect

  /// A machine and what it said last; answers no question by itself, but for a terminal that takes at once what restores it.
  struct Host {
    var machine = Machine(budgets: Self.budgets)
    var deliveries = 0
    /// Whether the terminal takes nothing.
    var terminalIsStalled = false

    static let budgets = Machine.Budgets(
      didEnterBackground: .seconds(5), willTerminate: .seconds(3), grace: .milliseconds(500))

    init(ignoresHangUp: Bool = false) { machine = Machine(budgets: Self.budgets, ignoresHangUp: ignoresHangUp) }

    /// Gives an event and counts what is sent.
    @discardableResult mutating func callAsFunction(_ event: Machine.Event) -> [Effect] {
      var effects = machine.handle(event)
      for effect in effects {
        switch effect {
        case .send(let delivery): deliveries = delivery.id
        case .giveTerminalBack where !terminalIsStalled:
          effects += machine.handle(.terminalLeft(isComplete: true))
        default: break
        }
      }
      return effects
    }

    /// Signals that processes sent.
    @discardableResult mutating func signals(_ signals: CaughtSignal...) -> [Effect] {
      self(.signals(signals.map { SignalRecord(signal: $0) }))
    }

    /// The application has handled the latest input, and ends with it if it is to end.
    @discardableResult mutating func finish(_ overruns: BudgetOverrun...) -> [Effect] {
      if machine.phase == .terminating { return self(.applicationEnded(overruns: overruns)) }
      self(.budgetBegan(.didEnterBackground))
      return self(.budgetEnded(overruns: overruns)) + self(.transitionFinished(id: deliveries))
    }

    /// A program in the foreground, launched.
    static func inForeground(ignoresHangUp: Bool = false) -> Host {
      var host = Host(ignoresHangUp: ignoresHangUp)
      host(.started(.foreground))
      host(.terminalTaken(true))
      host.finish()
      return host
    }

    /// A program that was started with `&`.
    static func inBackground() -> Host {
      var host = Host()
      host(.started(.background))
      host.finish()
      return host
    }

    /// A program that Ctrl-Z has stopped.
    static func stopped() -> Host {
      var host = inForeground()
      host.beginStop()
      host.finish()
      return host
    }

    /// Ctrl-Z, as far as the suspension of the application.
    @discardableResult mutating func beginStop() -> [Effect] {
      self(.signals([SignalRecord(signal: .stop, isFromKernel: true)]))
      return self(.stopPredicted(isPossible: true))
    }
  }

  func send(_ id: Int, _ input: SystemInput, _ cause: LifecycleCause, display: Bool = false) -> Effect {
    .send(Machine.Delivery(id: id, input: input, cause: cause, needsDisplay: display))
  }

  // MARK: Starting

  @Test func inTheForegroundItTakesTheTerminalThenLaunches() {
    var host = Host()
    #expect(host(.started(.foreground)) == [.takeTerminal])
    #expect(host(.terminalTaken(true)) == [send(1, .launch, "launch", display: true)])
    #expect(host.machine.phase == .foreground)
    #expect(host.machine.readsTerminal)
    #expect(!host.machine.pollsTerminal)
  }

  @Test func startedWithAmpersandItLaunchesInTheBackgroundAndTouchesNothing() {
    var host = Host()
    #expect(host(.started(.background)) == [.setJobMode(true), send(1, .launchInBackground, "&")])
    #expect(!host.machine.readsTerminal)
    #expect(host.machine.pollsTerminal)
  }

  @Test func aShellThatTakesTheTerminalBackAtOnceMakesItABackgroundLaunch() {
    var host = Host()
    host(.started(.foreground))
    #expect(host(.terminalTaken(false)) == [.setJobMode(true), send(1, .launchInBackground, "&")])
  }

  @Test(arguments: [Machine.Look.none, .gone])
  func withoutATerminalItLaunchesInTheBackgroundAndNeverLooks(look: Machine.Look) {
    var host = Host()
    #expect(
      host(.started(look)) == [.setJobMode(true), send(1, .launchInBackground, look == .none ? "launch" : "&")])
    #expect(!host.machine.pollsTerminal)
    #expect(host.signals(.terminate) == [send(2, .shutDown, "SIGTERM"), .armDeadline(.milliseconds(3500))])
  }

  @Test func aSignalBeforeTheLaunchWaitsForIt() {
    var host = Host()
    #expect(host.signals(.terminate).isEmpty)
    #expect(
      host(.started(.background)).prefix(2) == [send(1, .launchInBackground, "&"), send(2, .shutDown, "SIGTERM")])
  }

  // MARK: Ctrl-Z and back

  @Test func controlZSuspendsThenStops() {
    var host = Host.inForeground()
    #expect(host(.signals([SignalRecord(signal: .stop, isFromKernel: true)])) == [.predictStop])
    #expect(
      host(.stopPredicted(isPossible: true)) == [
        .giveTerminalBack(within: .milliseconds(5500)), .suspend(2, "Ctrl-Z"), .armDeadline(.milliseconds(5500)),
      ])
    #expect(!host.machine.readsTerminal)
    #expect(host.finish() == [.disarmDeadline, .stopSelf])
    #expect(host.machine.phase == .stopped)
  }

  @Test func aStopThatAProcessSentIsNamedForItsSignal() {
    var host = Host.inForeground()
    host.signals(.stop)
    #expect(host(.stopPredicted(isPossible: true)).contains(.suspend(2, "SIGTSTP")))
  }

  @Test func withoutSignalsFromTheKeyboardTheKeyStops() {
    var host = Host.inForeground()
    #expect(host(.signals([SignalRecord(signal: .stop, isFromKernel: true)])) == [.predictStop])
    #expect(host(.stopPredicted(isPossible: true)).contains(.suspend(2, "Ctrl-Z")))
  }

  @Test func foregroundAgainItTakesTheTerminalThenOpens() {
    var host = Host.stopped()
    #expect(host.signals(.continue).isEmpty)
    #expect(host(.stopEnded(wasContinued: true)) == [.lookAtTerminal])
    #expect(host(.terminalLook(.foreground)) == [.takeTerminal])
    #expect(host(.terminalTaken(true)) == [send(3, .open, "fg", display: true)])
    #expect(host.machine.phase == .foreground)
  }

  @Test func continuedInTheBackgroundItWakesAndTouchesNothing() {
    var host = Host.stopped()
    host.signals(.continue)
    host(.stopEnded(wasContinued: true))
    #expect(host(.terminalLook(.background)) == [.setJobMode(true), send(3, .wake, "bg")])
    #expect(host.machine.phase == .background)
    #expect(host.machine.pollsTerminal)
  }

  @Test func theShellMayTakeTheTerminalBackBetweenLookAndTaking() {
    var host = Host.stopped()
    host(.stopEnded(wasContinued: true))
    host(.terminalLook(.foreground))
    #expect(host(.terminalTaken(false)) == [.setJobMode(true), send(3, .wake, "bg")])
    #expect(host.machine.phase == .background)
  }

  @Test func aRunningBackgroundJobIsFoundInTheForegroundByLooking() {
    var host = Host.inBackground()
    #expect(host(.terminalLook(.background)).isEmpty)
    #expect(host(.terminalLook(.foreground)) == [.takeTerminal])
    #expect(host(.terminalTaken(true)) == [send(2, .open, "fg", display: true), .setJobMode(false)])
  }

  @Test func aRunningBackgroundJobLooksAtOnceWhenItIsContinued() {
    var host = Host.inBackground()
    #expect(host.signals(.continue) == [.lookAtTerminal])
    #expect(host(.terminalLook(.background)).isEmpty)
  }

  @Test func stoppedInTheBackgroundNothingIsTornDownAgain() {
    var host = Host.inBackground()
    host.signals(.stop)
    #expect(
      host(.stopPredicted(isPossible: true)) == [
        .setJobMode(false), .suspend(2, "SIGTSTP"), .armDeadline(.milliseconds(5500)),
      ])
    #expect(host.finish() == [.disarmDeadline, .stopSelf])
  }

  @Test func aStopThatTheKernelWouldRefuseTearsNothingDownAndIsSaidOnce() {
    var host = Host.inForeground()
    host.signals(.stop)
    #expect(host(.stopPredicted(isPossible: false)) == [.reportRefusedStop])
    #expect(host.machine.phase == .foreground)
    host.signals(.stop)
    #expect(host(.stopPredicted(isPossible: false)).isEmpty)
  }

  @Test func aScreenThatASignalLeftIsEnteredAgainWhenTheStopIsRefused() {
    var host = Host.inForeground()
    host.signals(.stop)
    #expect(host(.stopPredicted(isPossible: false, screenWasLeft: true)) == [.reportRefusedStop, .takeTerminal])
    #expect(host(.terminalTaken(true)) == [.requestDisplay])
    #expect(host.machine.phase == .foreground)
  }

  @Test func aStopThatTheKernelRefusedAllTheSameBringsTheProgramBack() {
    var host = Host.stopped()
    #expect(host(.stopEnded(wasContinued: false)) == [.lookAtTerminal])
    host(.terminalLook(.foreground))
    #expect(host(.terminalTaken(true)) == [send(3, .open, "stop refused", display: true)])
  }

  @Test func aStopThatCameDuringTheStopFollowsIt() {
    var host = Host.stopped()
    host.signals(.continue, .stop)
    host(.stopEnded(wasContinued: true))
    #expect(host(.terminalLook(.background)) == [.setJobMode(true), send(3, .wake, "bg"), .predictStop])
  }

  // MARK: During the tear-down

  @Test func aSecondStopIsTheSameStop() {
    var host = Host.inForeground()
    host.beginStop()
    #expect(host.signals(.stop).isEmpty)
    host.finish()
    host.signals(.continue)
    host(.stopEnded(wasContinued: true))
    #expect(host(.terminalLook(.background)) == [.setJobMode(true), send(3, .wake, "bg")])
  }

  @Test func aContinueTakesTheStopBack() {
    var host = Host.inForeground()
    host.beginStop()
    #expect(host.signals(.continue) == [.lookAtTerminal])
    #expect(host(.terminalLook(.foreground)) == [.takeTerminal])
    #expect(host(.terminalTaken(true)) == [.disarmDeadline, send(3, .open, "SIGCONT", display: true)])
    #expect(host(.transitionFinished(id: 2)).isEmpty)
    #expect(host.machine.phase == .foreground)
  }

  /// Whatever the suspension has come to: the application revokes it, or wakes.
  @Test func aContinueInTheBackgroundTakesTheStopBack() {
    var host = Host.inForeground()
    host.beginStop()
    host.signals(.continue)
    #expect(host(.terminalLook(.background)) == [.setJobMode(true), .disarmDeadline, send(3, .wake, "SIGCONT")])
    #expect(host.machine.phase == .background)
    // Late code of the tear-down that goes on is named all the same.
    let late = BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["feed"])
    #expect(host.finish(late) == [.report(late)])
    // The next stop has a suspension of its own.
    host.signals(.stop)
    #expect(host(.stopPredicted(isPossible: true)).contains(.suspend(4, "SIGTSTP")))
  }

  @Test func aProgramThatLeavesForAnotherJobAndIsStoppedLetsItsTasksEnd() {
    var host = Host.inForeground()
    host.signals(.backgroundRead)
    host(.terminalLook(.background))
    #expect(host.signals(.stop).isEmpty)
    #expect(host.finish() == [.setJobMode(true), .disarmDeadline, .predictStop])
    #expect(host(.stopPredicted(isPossible: true)).contains(.suspend(3, "SIGTSTP")))
  }

  @Test func aProgramThatLeavesForAnotherJobKeepsItsTasks() {
    var host = Host.inForeground()
    host.signals(.backgroundRead)
    host(.terminalLook(.background))
    #expect(host.finish() == [.setJobMode(true), .disarmDeadline])
  }

  @Test func theModeEndsWithTheProcessAndNotBeforeIt() {
    var host = Host.inBackground()
    #expect(!host.signals(.terminate).contains(.setJobMode(false)))
    #expect(!host.finish().contains(.setJobMode(false)))
  }

  @Test func aStopAfterTheContinueStands() {
    var host = Host.inForeground()
    host.beginStop()
    #expect(host.signals(.continue, .stop).isEmpty)
    #expect(host.machine.phase == .suspending("Ctrl-Z"))
  }

  @Test func theTerminalMayBeLostWhileAStopIsTakenBack() {
    var host = Host.inForeground()
    host.beginStop()
    host.signals(.continue)
    host(.terminalLook(.foreground))
    #expect(host(.terminalTaken(false)) == [.setJobMode(true), .disarmDeadline, send(3, .wake, "SIGCONT")])
    #expect(host.machine.phase == .background)
  }

  // MARK: Stops that the user did not ask for

  @Test func afterAnUncaughtStopTheModesAreMadeAgain() {
    var host = Host.inForeground()
    #expect(host.signals(.continue) == [.lookAtTerminal])
    #expect(host(.terminalLook(.foreground)) == [.takeTerminal])
    #expect(host(.terminalTaken(true)) == [.requestDisplay])
    #expect(host.machine.phase == .foreground)
  }

  @Test func continuedInTheBackgroundAfterAnUncaughtStopItLeaves() {
    var host = Host.inForeground()
    host.signals(.continue)
    #expect(
      host(.terminalLook(.background)) == [
        .leaveLostTerminal, send(2, .home, "SIGCONT"), .armDeadline(.milliseconds(5500)),
      ])
    #expect(host.finish() == [.setJobMode(true), .disarmDeadline])
    #expect(host.machine.phase == .background)
  }

  @Test func refusedByTheTerminalItLooksAndLeaves() {
    var host = Host.inForeground()
    #expect(host.signals(.backgroundRead) == [.lookAtTerminal])
    #expect(host(.terminalLook(.foreground)).isEmpty)
    host.signals(.backgroundWrite)
    #expect(
      host(.terminalLook(.background)) == [
        .leaveLostTerminal, send(2, .home, "SIGTTOU"), .armDeadline(.milliseconds(5500)),
      ])
  }

  @Test func aStopWhileItLeavesForAnotherJobStopsItInTheEnd() {
    var host = Host.inForeground()
    host.signals(.backgroundRead)
    host(.terminalLook(.background))
    #expect(host.signals(.stop).isEmpty)
    host.finish()
    host(.stopPredicted(isPossible: true))
    #expect(host.finish() == [.disarmDeadline, .stopSelf])
  }

  // MARK: Focus and size

  @Test func focusIsAnInterruption() {
    var host = Host.inForeground()
    #expect(host(.focus(true)).isEmpty)
    #expect(host(.focus(false)) == [send(2, .beginInterruption(.focusLost), "focus")])
    #expect(host(.focus(false)).isEmpty)
    #expect(host(.focus(true)) == [send(3, .endInterruption(.focusLost), "focus")])
  }

  @Test func aStopEndsLostFocusOnceTheApplicationHasResigned() {
    var host = Host.inForeground()
    host(.focus(false))
    #expect(
      host.beginStop() == [
        .giveTerminalBack(within: .milliseconds(5500)), .suspend(3, "Ctrl-Z"), .armDeadline(.milliseconds(5500)),
        send(4, .endInterruption(.focusLost), "focus"),
      ])
    #expect(host(.focus(false)).isEmpty)
  }

  @Test func aReturnAfterAnUncaughtStopEndsLostFocus() {
    var host = Host.inForeground()
    host(.focus(false))
    host.signals(.continue)
    host(.terminalLook(.foreground))
    #expect(host(.terminalTaken(true)) == [send(3, .endInterruption(.focusLost), "focus"), .requestDisplay])
  }

  @Test func aNewSizeIsDrawnInTheForegroundOnly() {
    var host = Host.inForeground()
    #expect(host.signals(.windowChange) == [.requestDisplay])
    host.beginStop()
    #expect(host.signals(.windowChange).isEmpty)
  }
}

extension TerminalStateMachine.Effect {
  /// The suspension for a stop: the tear-down, the background tasks and *suspended*.
  static func suspend(_ id: Int, _ cause: LifecycleCause) -> Self {
    .send(TerminalStateMachine.Delivery(id: id, input: .suspend, cause: cause, inOrder: true))
  }
}
