import AppLifecycle
import Testing

@testable import UnixHost

/// How a terminal program ends, against the pure machine.
@Suite struct TerminalStateMachineTerminationTests {
  typealias Host = TerminalStateMachineTests.Host
  typealias Effect = TerminalStateMachine.Effect

  func send(_ id: Int, _ input: SystemInput, _ cause: LifecycleCause) -> Effect {
    .send(TerminalStateMachine.Delivery(id: id, input: input, cause: cause))
  }

  let inOrder: [Effect] = [.disarmDeadline, .finish(status: 0, mainActorAnswers: true)]

  func overrun(_ callback: ApplicationCallback, _ budget: Duration, _ culprits: [String]) -> Effect {
    .report(BudgetOverrun(callback: callback, budget: budget, culprits: culprits))
  }

  // MARK: In order

  @Test(arguments: [(CaughtSignal.terminate, "SIGTERM"), (.interrupt, "SIGINT"), (.hangUp, "SIGHUP")])
  func aSignalInTheForegroundEndsTheApplicationWithinBothBudgets(signal: CaughtSignal, cause: String) {
    var host = Host.inForeground()
    #expect(
      host.signals(signal) == [
        .giveTerminalBack(within: .milliseconds(8500)), send(2, .shutDown, LifecycleCause(rawValue: cause)),
        .armDeadline(.milliseconds(8500)),
      ])
    #expect(host.finish() == inOrder)
    #expect(host.machine.phase == .ended)
    #expect(host.signals(.terminate).isEmpty)
  }

  /// Whatever the suspension has come to: the end revokes it, or wakes the application.
  @Test func aSignalDuringTheSuspensionEndsTheApplicationWithoutStopping() {
    var host = Host.inForeground()
    host.beginStop()
    #expect(host.signals(.terminate) == [send(3, .shutDown, "SIGTERM"), .armDeadline(.milliseconds(8500))])
    #expect(host(.transitionFinished(id: 2)).isEmpty)
    #expect(host.finish() == inOrder)
  }

  @Test func theEndOfAnApplicationThatDoesNotRunIsItsAnswer() {
    var host = Host.inForeground()
    host.signals(.terminate)
    #expect(host(.transitionFinished(id: 2)) == [.disarmDeadline] + inOrder)
  }

  @Test func aSignalThatCameDuringTheStopEndsTheApplicationFromTheBackground() {
    var host = Host.stopped()
    // Wherever the SIGTERM stands among what waited, the terminal is not even looked at.
    #expect(host.signals(.continue, .terminate).isEmpty)
    #expect(
      host(.stopEnded(wasContinued: true)) == [
        send(3, .shutDown, "SIGTERM"), .armDeadline(.milliseconds(3500)),
      ])
    #expect(host.finish() == inOrder)
  }

  @Test func aSignalWithAContinueInTheTearDownDoesNotBringTheProgramBack() {
    var host = Host.inForeground()
    host.beginStop()
    #expect(host.signals(.continue, .terminate).contains(send(3, .shutDown, "SIGTERM")))
    #expect(host.machine.phase == .terminating)
  }

  @Test func theEndOfTheInputEndsTheApplication() {
    var host = Host.inForeground()
    #expect(host(.endOfInput).contains(send(2, .shutDown, "end of input")))
  }

  // MARK: At once

  @Test(arguments: [CaughtSignal.terminate, .interrupt]) func aSecondKeyIsObeyedAtOnce(first: CaughtSignal) {
    var host = Host.inForeground()
    host.signals(first)
    let key = SignalRecord(signal: .interrupt, isFromKernel: true, arrived: .milliseconds(500))
    #expect(host(.signals([key])) == [.die(.interrupt)])
    #expect(host.machine.phase == .ended)
  }

  /// A supervisor repeats its order while the program still saves.
  @Test(arguments: [CaughtSignal.terminate, .interrupt]) func repeatedOrdersLetTheEndGoOn(second: CaughtSignal) {
    var host = Host.inForeground()
    host.signals(.terminate)
    for time in 1...3 {
      #expect(host(.signals([SignalRecord(signal: second, arrived: .seconds(time))])).isEmpty)
    }
    #expect(host.finish() == inOrder)
    #expect(host.machine.repetitionsEnd == .seconds(10))
  }

  @Test func theOtherWayIsAnOption() {
    var host = Host.inForeground()
    host.machine.orders = EndOrders(insisting: ["SIGTERM"])
    host.signals(.terminate)
    #expect(
      host(.signals([SignalRecord(signal: .terminate, arrived: .milliseconds(500))])) == [.die(.terminate)])
  }

  @Test func ordersOfOneMomentAreOne() {
    var host = Host.inForeground()
    // Taken up late, as the host's thread had no processor: the person has not seen a tear-down yet.
    let first = SignalRecord(signal: .interrupt, arrived: .seconds(1), taken: .seconds(3))
    let copy = SignalRecord(signal: .interrupt, arrived: .seconds(2), taken: .seconds(3))
    #expect(host(.signals([first, copy])).last == .armDeadline(.milliseconds(8500)))
    let later = SignalRecord(signal: .terminate, arrived: .milliseconds(3499), taken: .seconds(9))
    #expect(host(.signals([later])).isEmpty)
    #expect(host.finish() == inOrder)
  }

  @Test func quitIsTheEmergencyExit() {
    var host = Host.inForeground()
    #expect(host.signals(.quit) == [.die(.quit)])
  }

  @Test func hangUpsDoNotCountAsOrders() {
    var host = Host.inForeground()
    host.signals(.hangUp)
    #expect(host.signals(.hangUp, .terminate).isEmpty)
    host(.hangUp)
    #expect(host.machine.phase == .terminating)
    #expect(host(.signals([SignalRecord(signal: .terminate, arrived: .seconds(1))])).isEmpty)
    let key = SignalRecord(signal: .interrupt, isFromKernel: true, arrived: .seconds(2))
    #expect(host(.signals([key])) == [.die(.interrupt)])
  }

  // MARK: Hang-up

  @Test(arguments: [[CaughtSignal.hangUp, .terminate], [.terminate, .hangUp]])
  func aHangUpThatComesWithAnOrderIsTheCause(signals: [CaughtSignal]) {
    var host = Host.inForeground()
    let effects = host(.signals(signals.map { SignalRecord(signal: $0) }))
    #expect(effects.contains(send(2, .shutDown, "SIGHUP")))
  }

  @Test func aHangUpEndsTheApplicationAndNothingIsWrittenAnyMore() {
    var host = Host.inForeground()
    #expect(host(.hangUp) == [.dropTerminal, send(2, .shutDown, "hang-up"), .armDeadline(.milliseconds(8500))])
    #expect(host.finish() == inOrder)
  }

  @Test func aHangUpIsSeenInTheBackground() {
    var host = Host.inBackground()
    #expect(host(.terminalLook(.gone)).first == send(2, .shutDown, "hang-up"))
  }

  @Test func aHangUpDuringTheStopIsSeenAfterIt() {
    var host = Host.stopped()
    host.signals(.continue)
    host(.stopEnded(wasContinued: true))
    #expect(host(.terminalLook(.gone)).first == send(3, .shutDown, "hang-up"))
  }

  @Test func whoIgnoresHangUpsGoesToTheBackgroundAndStaysThere() {
    var host = Host.inForeground(ignoresHangUp: true)
    #expect(host(.hangUp) == [.dropTerminal, send(2, .home, "hang-up"), .armDeadline(.milliseconds(5500))])
    host.finish()
    #expect(host.machine.phase == .background)
    #expect(!host.machine.pollsTerminal)
    #expect(host(.hangUp).isEmpty)
  }

  @Test func whoIgnoresHangUpsDoesNotStopForATerminalThatIsGone() {
    var host = Host.inForeground(ignoresHangUp: true)
    host.beginStop()
    #expect(host(.hangUp) == [.setJobMode(true), .disarmDeadline, send(3, .wake, "hang-up")])
    #expect(host.machine.phase == .background)
  }

  @Test func whoHasLostItsTerminalComesBackFromAStopAllTheSame() {
    var host = Host.inForeground(ignoresHangUp: true)
    host(.hangUp)
    host.finish()
    host.signals(.stop)
    host(.stopPredicted(isPossible: true))
    host.finish()
    host(.stopEnded(wasContinued: true))
    #expect(host(.terminalLook(.gone)) == [.setJobMode(true), send(4, .wake, "bg")])
  }

  // MARK: A terminal that takes nothing

  @Test func theEndWaitsForTheTerminal() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host.signals(.terminate)
    #expect(host.finish() == [.disarmDeadline])
    #expect(host(.applicationEnded(overruns: [])).isEmpty)
    #expect(host(.budgetBegan(.willTerminate)).isEmpty)
    #expect(host(.terminalLeft(isComplete: true)) == [.disarmDeadline, .finish(status: 0, mainActorAnswers: true)])
  }

  @Test func aTerminalThatIsLeftUnrestoredShowsInTheStatus() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host.signals(.terminate)
    host.finish()
    #expect(host(.terminalLeft(isComplete: false)).last == .finish(status: 74, mainActorAnswers: true))
  }

  @Test func aTerminalThatGivesUpBeforeTheApplicationEndsNothing() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host.signals(.terminate)
    #expect(host(.terminalLeft(isComplete: false)).isEmpty)
    #expect(host.finish().last == .finish(status: 74, mainActorAnswers: true))
  }

  @Test func theStopWaitsForTheTerminal() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host.beginStop()
    #expect(host.finish() == [.disarmDeadline])
    #expect(host.machine.phase == .suspending("Ctrl-Z"))
    #expect(host(.terminalLeft(isComplete: true)) == [.stopSelf])
  }

  @Test func aMainActorThatDoesNotAnswerWaitsForTheTerminalAllTheSame() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host.beginStop()
    #expect(host(.deadlinePassed) == [send(3, .suspend, "Ctrl-Z")])
    #expect(
      host(.terminalLeft(isComplete: false)) == [.report(HostBudgets().silence(in: .didEnterBackground)), .stopSelf])
  }

  @Test func anOrderDoesNotWaitForAStop() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host.beginStop()
    host.finish()
    #expect(host.signals(.terminate) == [send(3, .shutDown, "SIGTERM"), .armDeadline(.milliseconds(8500))])
    // The terminal has not taken the sequences yet, so the end waits for it.
    #expect(host.finish() == [.disarmDeadline])
    #expect(host(.terminalLeft(isComplete: true)).last == .finish(status: 0, mainActorAnswers: true))
  }

  @Test func aContinueTakesBackAStopThatWaitsForTheTerminal() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host.beginStop()
    host.finish()
    host.signals(.continue)
    #expect(host(.terminalLook(.foreground)) == [.takeTerminal])
    #expect(host(.terminalTaken(true)).count == 1)
    #expect(host(.terminalLeft(isComplete: true)).isEmpty)
    #expect(host.machine.phase == .foreground)
  }

  @Test func aHangUpEndsTheWait() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host.signals(.terminate)
    host.finish()
    #expect(
      host(.hangUp) == [.dropTerminal, .disarmDeadline, .finish(status: 0, mainActorAnswers: true)])
  }

  @Test func withoutAControllingTerminalTheEndOfTheOneItWasStartedInEndsIt() {
    var host = Host()
    host(.started(.none))
    host.finish()
    #expect(host(.hangUp) == [send(2, .shutDown, "hang-up"), .armDeadline(.milliseconds(3500))])
  }

  // MARK: By itself

  @Test func anApplicationThatEndsItselfEndsTheProgram() {
    var host = Host.inForeground()
    #expect(
      host(.applicationBeganToEnd) == [
        .giveTerminalBack(within: .milliseconds(8500)), .armDeadline(.milliseconds(8500)),
      ])
    #expect(
      host(.applicationEnded(overruns: [])) == [
        .disarmDeadline, .finish(status: 0, mainActorAnswers: true),
      ])
  }

  @Test func anApplicationThatHangsWhileItEndsItselfIsEnded() {
    var host = Host.inForeground()
    host(.applicationBeganToEnd)
    #expect(
      host(.deadlinePassed) == [
        .disarmDeadline, overrun(.willTerminate, .seconds(3), []),
        .finish(status: 70, mainActorAnswers: false),
      ])
  }

  @Test func anApplicationThatEndsItselfDuringTheTearDownIsNotStopped() {
    var host = Host.inForeground()
    host.beginStop()
    #expect(host(.applicationBeganToEnd) == [.armDeadline(.milliseconds(8500))])
    #expect(host(.transitionFinished(id: 2)).isEmpty)
    #expect(host(.applicationEnded(overruns: [])).last == .finish(status: 0, mainActorAnswers: true))
  }

  @Test func theEndOfWhatTheHostAskedForHasItsOverruns() {
    var host = Host.inForeground()
    host.signals(.terminate)
    #expect(host(.applicationBeganToEnd).isEmpty)
    let late = BudgetOverrun(callback: .willTerminate, budget: .seconds(3), culprits: ["store"])
    #expect(
      host(.applicationEnded(overruns: [late])) == [
        .disarmDeadline, .report(late), .finish(status: 70, mainActorAnswers: true),
      ])
  }
}
