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
    let late = BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["feed", "feed", "store"])
    #expect(
      host.finish(late) == [
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

  /// It was named as silent, so what it had to say later is old news.
  @Test func aMainActorThatAnswersAfterTheStopIsNotNamedTwice() {
    var host = Host.inForeground()
    host.beginStop()
    host(.budgetBegan(.didEnterBackground))
    host(.deadlinePassed)
    host.signals(.continue)
    host(.stopEnded(wasContinued: true))
    host(.terminalLook(.foreground))
    host(.terminalTaken(true))
    let late = BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["feed"])
    #expect(host(.budgetEnded(overruns: [late])).isEmpty)
  }

  @Test func aTearDownThatTheProgramBeganItselfIsNamedToo() {
    var host = Host.inForeground()
    let late = BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["feed"])
    host(.budgetBegan(.didEnterBackground))
    #expect(host(.budgetEnded(overruns: [late])) == [.report(late)])
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
        .disarmDeadline, overrun(.didEnterBackground, .seconds(5), ["feed"]),
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
    host(.budgetBegan(.didEnterBackground))
    host.signals(.terminate)
    let late = BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["feed"])
    host(.budgetEnded(overruns: [late]))
    let effects = host.finish()
    #expect(effects.contains(.report(late)))
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
