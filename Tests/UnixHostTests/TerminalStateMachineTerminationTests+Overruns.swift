import AppLifecycle
import PubSub
import Testing

@testable import UnixHost

/// Tear-downs that take too long, and a main actor that does not answer.
extension TerminalStateMachineTerminationTests {
  // MARK: Overruns

  @Test func aTearDownThatOverrunsIsNamedBeforeTheStop() {
    var host = Host.inForeground()
    host.beginStop()
    host.finish(
      BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["feed", "feed", "store"]))
    host.finish()
    #expect(
      host.finish() == [
        .disarmDeadline, overrun(.didEnterBackground, .seconds(5), ["feed", "store"]), .stopSelf,
      ])
  }

  @Test func aMainActorThatDoesNotAnswerIsStoppedAllTheSame() {
    var host = Host.inForeground()
    host.beginStop()
    #expect(
      host(.deadlinePassed) == [
        send(3, .suspend, "Ctrl-Z"), overrun(.didEnterBackground, .seconds(5), []), .stopSelf,
      ])
  }

  @Test func aTaskThatDoesNotEndIsNamedBeforeTheStop() {
    var host = Host.finishing()
    host.finish(BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["save"]))
    #expect(
      host.finish() == [
        .disarmDeadline, overrun(.didEnterBackground, .seconds(5), ["save"]), .stopSelf,
      ])
  }

  @Test func aMainActorThatHangsWhileTasksEndIsStoppedAllTheSame() {
    var host = Host.finishing()
    #expect(
      host(.deadlinePassed) == [
        send(4, .suspend, "Ctrl-Z"), overrun(.didEnterBackground, .seconds(5), []), .stopSelf,
      ])
  }

  @Test func aMainActorThatDoesNotCommitSuspendedIsStoppedAllTheSame() {
    var host = Host.finishing()
    host.finish()
    #expect(host(.deadlinePassed) == [.stopSelf])
  }

  @Test func aMainActorThatDoesNotAnswerIsEndedAllTheSame() {
    var host = Host.inForeground()
    host.signals(.terminate)
    #expect(
      host(.deadlinePassed) == [
        .disarmDeadline, overrun(.willTerminate, .seconds(3), []),
        .finish(status: 70, mainActorAnswers: false),
      ])
  }

  @Test func eachBudgetOfAnEndIsEnforcedAndNamedAsItself() {
    var host = Host.inForeground()
    host.signals(.terminate)
    #expect(host(.budgetBegan(.didEnterBackground)) == [.armDeadline(.milliseconds(5500))])
    var late = host
    #expect(
      late(.deadlinePassed) == [
        .disarmDeadline, overrun(.didEnterBackground, .seconds(5), []),
        .finish(status: 70, mainActorAnswers: false),
      ])
    #expect(host(.budgetBegan(.willTerminate)) == [.armDeadline(.milliseconds(3500))])
    late = host
    #expect(late(.deadlinePassed)[1] == overrun(.willTerminate, .seconds(3), []))
    let reported = host.finish(
      BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["feed"]),
      BudgetOverrun(callback: .willTerminate, budget: .seconds(3), culprits: ["store"]))
    #expect(
      reported == [
        .disarmDeadline, .disarmDeadline, overrun(.didEnterBackground, .seconds(5), ["feed"]),
        overrun(.willTerminate, .seconds(3), ["store"]), .finish(status: 70, mainActorAnswers: true),
      ])
  }

  @Test func theBudgetOfALeavingHasItsDeadlineAlready() {
    var host = Host.inForeground()
    host.beginStop()
    #expect(host(.budgetBegan(.didEnterBackground)).isEmpty)
  }

  @Test func anOverrunOnTheWayToTheEndShowsInTheStatus() {
    var host = Host.inForeground()
    host.beginStop()
    host.signals(.terminate)
    host(.deadlinePassed)
    let effects = host.finish()
    #expect(effects.contains(overrun(.didEnterBackground, .seconds(5), [])))
    #expect(effects.last == .finish(status: 70, mainActorAnswers: true))
  }

  @Test func anOverrunThatWasForgivenDoesNotShowInTheStatus() {
    var host = Host.inForeground()
    host.beginStop()
    host(.deadlinePassed)
    host.signals(.continue)
    host(.stopEnded(wasContinued: true))
    host(.terminalLook(.foreground))
    host(.terminalTaken(true))
    host.signals(.terminate)
    #expect(host.finish().last == .finish(status: 0, mainActorAnswers: true))
  }
}
