import AppLifecycle
import Testing

@testable import UnixHost

/// Orders that ask whether the program may end, against the pure machine.
@Suite struct TerminalStateMachineQuestionTests {
  private typealias Host = TerminalStateMachineTests.Host
  private typealias Effect = TerminalStateMachine.Effect

  private func send(_ id: Int, _ input: SystemInput, _ cause: LifecycleCause) -> Effect {
    .send(TerminalStateMachine.Delivery(id: id, input: input, cause: cause))
  }

  private func controlC(at time: Duration = .zero) -> TerminalStateMachine.Event {
    .signals([SignalRecord(signal: .interrupt, isFromKernel: true, arrived: time, taken: time)])
  }

  /// The end in order, without another word.
  private func end(_ id: Int, _ cause: LifecycleCause) -> [Effect] {
    [.giveTerminalBack(within: .milliseconds(8500)), send(id, .shutDown, cause), .armDeadline(.milliseconds(8500))]
  }

  @Test func controlCAsksAndTheProgramKeepsItsTerminal() {
    var host = Host.inForeground()
    #expect(host(controlC()) == [send(2, .terminate, "Ctrl-C")])
    #expect(host.machine.phase == .foreground && host.machine.holdsTerminal && host.machine.readsTerminal)
    #expect(host(.questionOpened) == [.lookAtScreen])
    #expect(host(.screenLook(wasLeft: false)).isEmpty)
  }

  @Test func onceTheApplicationBeginsToEndTheTerminalIsGivenBack() {
    var host = Host.inForeground()
    host(controlC())
    #expect(
      host(.applicationBeganToEnd) == [
        .giveTerminalBack(within: .milliseconds(8500)), .armDeadline(.milliseconds(8500)),
      ])
    let overrun = BudgetOverrun(callback: .shouldTerminate, budget: .seconds(30), culprits: ["a"])
    #expect(
      host(.applicationEnded(overruns: [overrun])) == [
        .disarmDeadline, .report(overrun), .finish(status: 70, mainActorAnswers: true),
      ])
  }

  @Test func aCopyIsNoSecondOrderAndASecondOneDoesNotAsk() {
    var host = Host.inForeground()
    host(controlC())
    #expect(host(controlC(at: .milliseconds(499))).isEmpty)
    #expect(host(controlC(at: .milliseconds(500))) == end(3, "Ctrl-C"))
    #expect(host(controlC(at: .seconds(1))) == [.die(.interrupt)])
  }

  @Test func aSecondOrderAfterTheRefusalDoesNotAsk() {
    var host = Host.inForeground()
    host(controlC())
    // A key that was pressed before the question is not an answer to it.
    #expect(host(.keyPressed).isEmpty)
    #expect(host(.questionRefused) == [.lookAtScreen])
    host(.screenLook(wasLeft: false))
    #expect(host(controlC(at: .seconds(9))) == end(3, "Ctrl-C"))
  }

  @Test func aKeyAfterTheRefusalMakesTheNextOrderAFirstOne() {
    var host = Host.inForeground()
    host(controlC())
    host(.questionRefused)
    host(.screenLook(wasLeft: false))
    host(.keyPressed)
    #expect(host(controlC(at: .seconds(9))) == [send(3, .terminate, "Ctrl-C")])
    #expect(host(controlC(at: .seconds(10))) == end(4, "Ctrl-C"))
  }

  @Test func aKeyThatAnswersMakesTheNextOrderAFirstOne() {
    var host = Host.inForeground()
    host(controlC())
    host(.questionOpened)
    host(.screenLook(wasLeft: false))
    host(.keyPressed)
    #expect(host(.questionRefused) == [.lookAtScreen])
    host(.screenLook(wasLeft: false))
    #expect(host(controlC(at: .seconds(9))) == [send(3, .terminate, "Ctrl-C")])
    // While the question is open, a second order ends the program, whatever keys were pressed.
    host(.questionOpened)
    host(.screenLook(wasLeft: false))
    host(.keyPressed)
    #expect(host(controlC(at: .seconds(10))) == end(4, "Ctrl-C"))
  }

  @Test func aStopAfterTheRefusalMakesTheNextOrderAFirstOne() {
    var host = Host.inForeground()
    host(controlC())
    host(.questionOpened)
    host(.screenLook(wasLeft: false))
    host(.questionRefused)
    host(.screenLook(wasLeft: false))
    #expect(host.beginStop().contains(.suspend(3, "Ctrl-Z")))
    host.finish()
    host(.stopEnded(wasContinued: true))
    host(.terminalLook(.foreground))
    #expect(host(.terminalTaken(true)).contains { if case .send(let sent) = $0 { sent.input == .open } else { false } })
    host.finish()
    let asked = host(controlC(at: .seconds(9)))
    #expect(asked.contains { if case .send(let sent) = $0 { sent.input == .terminate } else { false } }, "\(asked)")
  }

  @Test(arguments: [(CaughtSignal.terminate, "SIGTERM"), (.hangUp, "SIGHUP")])
  func anAnnouncedEndDoesNotWaitForTheAnswer(signal: CaughtSignal, cause: String) {
    var host = Host.inForeground()
    host(controlC())
    host(.questionOpened)
    host(.screenLook(wasLeft: false))
    #expect(host.signals(signal) == end(3, LifecycleCause(rawValue: cause)))
  }

  @Test func aTerminalThatIsGoneEndsItWithoutAnAnswer() {
    var host = Host.inForeground()
    host(controlC())
    #expect(host(.hangUp) == [.dropTerminal, send(3, .shutDown, "hang-up"), .armDeadline(.milliseconds(8500))])
  }

  @Test func aSignalFromAProcessOnlyAnnouncesUnlessItIsToAsk() {
    var host = Host.inForeground()
    #expect(host.signals(.interrupt) == end(2, "SIGINT"))
    host = Host.inForeground()
    host.machine = TerminalStateMachine(budgets: Host.budgets, orders: EndOrders(asking: ["SIGTERM"]))
    host(.started(.foreground))
    host(.terminalTaken(true))
    #expect(host.signals(.terminate) == [send(2, .terminate, "SIGTERM")])
    #expect(host(.signals([SignalRecord(signal: .terminate, arrived: .seconds(1))])) == end(3, "SIGTERM"))
  }

  @Test(arguments: [true, false]) func aScreenThatAHandlerHasLeftIsTakenAgain(isOpen: Bool) {
    var host = Host.inForeground()
    host(controlC())
    host(isOpen ? .questionOpened : .questionRefused)
    #expect(host(.screenLook(wasLeft: true)) == [.lookAtTerminal])
    #expect(host(.terminalLook(.foreground)) == [.takeTerminal])
    #expect(host(.terminalTaken(true)) == [.requestDisplay])
    // The copy that a wrapper has forwarded leaves it once more.
    #expect(host(controlC(at: .milliseconds(100))) == [.lookAtScreen])
    #expect(host(.screenLook(wasLeft: true)) == [.lookAtTerminal])
    #expect(host(.terminalLook(.foreground)) == [.takeTerminal])
    #expect(host(.terminalTaken(true)) == [.requestDisplay])
    // A wrapper has ended meanwhile, and the shell has got the terminal.
    #expect(host(controlC(at: .milliseconds(200))) == [.lookAtScreen])
    host(.screenLook(wasLeft: true))
    #expect(host(.terminalLook(.background)).contains(send(3, .home, "SIGTTOU")))
  }

  @Test func aNewSizeDoesNotHideTheScreenThatACopyHasLeft() {
    var host = Host.inForeground()
    host(controlC())
    host(.questionOpened)
    host(.screenLook(wasLeft: false))
    let copy = SignalRecord(signal: .interrupt, arrived: .milliseconds(100), taken: .milliseconds(100))
    #expect(host(.signals([copy, SignalRecord(signal: .windowChange)])) == [.lookAtScreen, .requestDisplay])
    #expect(host(.screenLook(wasLeft: true)) == [.lookAtTerminal])
  }

  @Test func aRefusalOfTheTerminalDoesNotHideANewSize() {
    var host = Host.inForeground()
    #expect(host.signals(.backgroundRead, .windowChange) == [.lookAtTerminal, .requestDisplay])
    #expect(host(.terminalLook(.foreground)).isEmpty)
  }

  @Test func atCtrlZItIsAskedFirstAndTheQuestionStaysOpen() {
    var host = Host.inForeground()
    let records = [
      SignalRecord(signal: .stop, isFromKernel: true), SignalRecord(signal: .interrupt, isFromKernel: true),
    ]
    #expect(host(.signals(records)) == [send(2, .terminate, "Ctrl-C"), .predictStop])
  }

  @Test func onTheWayToAStopThereIsNoScreenToAskOn() {
    var host = Host.inForeground()
    host.beginStop()
    #expect(host(controlC()) == [send(3, .shutDown, "Ctrl-C"), .armDeadline(.milliseconds(8500))])
  }
}
