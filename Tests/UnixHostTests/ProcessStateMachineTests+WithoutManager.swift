import AppLifecycle
import PubSub
import Testing

@testable import UnixHost

/// A process that is no service.
extension ProcessStateMachineTests {
  // MARK: Without a manager

  func process() -> Machine {
    var machine = Machine(
      budgets: Self.budgets,
      terms: Machine.Terms(
        announcedNumber: 42, timeoutExtension: .seconds(10), launch: .launch, hangUpReloads: false,
        mayBeInForeground: true))
    #expect(
      machine.handle(.started).first == .send(HostDelivery(id: 1, input: .launch, cause: "launch")))
    _ = machine.handle(.transitionFinished(id: 1))
    _ = machine.handle(.resourcesHeld)
    return machine
  }

  @Test func aHangUpEndsAProcessThatIsNoService() {
    var machine = process()
    let effects = machine.handle(signal(.hangUp))
    #expect(effects.first == .send(HostDelivery(id: 2, input: .shutDown, cause: "SIGHUP")))
    #expect(machine.phase == .stopping)
  }

  @Test func aBudgetThatPassesWhileTheProcessGoesOnIsReportedOnce() {
    var machine = process()
    let overrun = BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: [])
    #expect(machine.handle(.budgetBegan(.didEnterBackground)) == [.armDeadline(.milliseconds(5500))])
    #expect(machine.handle(.deadlinePassed) == [.report(overrun)])
    // The main actor answers after all, and says the same.
    #expect(machine.handle(.budgetEnded(overruns: [overrun])).isEmpty)
    #expect(machine.phase == .running)
  }

  @Test func anOverrunThatTheMainActorNamesIsReported() {
    var machine = process()
    let overrun = BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["saver", "saver"])
    _ = machine.handle(.budgetBegan(.didEnterBackground))
    #expect(
      machine.handle(.budgetEnded(overruns: [overrun])) == [.armDeadline(nil), .report(overrun.namingEachOnce)])
    #expect(machine.handle(.deadlinePassed).isEmpty)
    #expect(machine.handle(.budgetEnded(overruns: [overrun])).isEmpty)
  }

  /// From the foreground, or behind a tear-down that is under way: the application has not told of a budget of its end yet.
  @Test(arguments: [false, true]) func theEndHasBothBudgets(runsAlready: Bool) {
    var machine = process()
    if runsAlready { _ = machine.handle(.budgetBegan(.didEnterBackground)) }
    #expect(machine.handle(signal(.terminate)).last == .armDeadline(.milliseconds(8500)))
    #expect(machine.repetitionsEnd == .seconds(10))
    #expect(machine.handle(.budgetEnded(overruns: [])).isEmpty)
    #expect(machine.handle(.budgetBegan(.didEnterBackground)) == [.armDeadline(.milliseconds(5500))])
    #expect(machine.handle(.budgetBegan(.willTerminate)) == [.armDeadline(.milliseconds(3500))])
    #expect(machine.handle(.deadlinePassed).last == .finish(status: 70, mainActorAnswers: false))
  }

  @Test func theBudgetThatTheMainActorOverranIsTheOneThatIsReported() {
    var machine = process()
    _ = machine.handle(signal(.terminate))
    _ = machine.handle(.budgetBegan(.didEnterBackground))
    #expect(
      machine.handle(.deadlinePassed) == [
        .report(BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: [])),
        .finish(status: 70, mainActorAnswers: false),
      ])
  }

  @Test func aServiceThatIsTornDownAlreadyHasThatBudgetToo() {
    var machine = running()
    _ = machine.handle(.budgetBegan(.didEnterBackground))
    #expect(machine.handle(signal(.terminate)).last == .armDeadline(.milliseconds(8500)))
  }

  @Test func theManagerIsAskedForTimeWhileAQuestionIsOpenThatCameDuringTheStart() {
    var machine = machine(orders: EndOrders(asking: ["SIGTERM"]))
    _ = machine.handle(.started)
    _ = machine.handle(.mainActorAnswered(hasGivenUp: false))
    _ = machine.handle(.transitionFinished(id: 1))
    _ = machine.handle(signal(.terminate))
    #expect(machine.handle(.questionOpened).isEmpty)
    #expect(machine.handle(.resourcesHeld).contains(.armExtension(Machine.patience)))
  }
}
