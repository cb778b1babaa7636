import AppLifecycle
import Testing

@testable import UnixHost

/// A terminal that is lent to a child process, against the pure machine.
@Suite struct TerminalStateMachineLendingTests {
  typealias Machine = TerminalStateMachine
  typealias Host = TerminalStateMachineTests.Host

  private func send(_ id: Int, _ input: SystemInput, _ cause: LifecycleCause, display: Bool = false) -> Machine.Effect {
    .send(Machine.Delivery(id: id, input: input, cause: cause, needsDisplay: display))
  }

  private func borrower() -> Host {
    var host = Host.inForeground()
    host(.lending(.begin))
    host.finish()
    return host
  }

  private let leaveTime = Host.budgets.didEnterBackground + Host.budgets.grace

  @Test func theApplicationIsInactiveAndTheTerminalGivenBackBeforeTheLoan() {
    var host = Host.inForeground()
    #expect(
      host(.lending(.begin)) == [
        send(2, .beginInterruption(.terminalLent), "lend"), .giveTerminalBack(within: leaveTime), .answerLending(nil),
      ])
    #expect(!host.machine.readsTerminal && !host.machine.holdsTerminal && host.machine.phase == .foreground)
  }

  @Test func theLoanWaitsForATerminalThatIsNotRead() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    #expect(!host(.lending(.begin)).contains(.answerLending(nil)))
    #expect(host(.terminalLeft(isComplete: true)) == [.answerLending(nil)])
  }

  @Test func afterTheLoanTheTerminalIsTakenAndDrawn() {
    var host = borrower()
    #expect(host(.lending(.end)) == [.endForegroundOfBorrower, .lookAtTerminal])
    #expect(host(.terminalLook(.foreground)) == [.takeTerminal])
    #expect(
      host(.terminalTaken(true)) == [
        send(3, .endInterruption(.terminalLent), "lend", display: true), .confirmEndOfLending,
      ])
    #expect(host.machine.readsTerminal)
  }

  @Test func aTerminalThatAnotherJobHasByThenMakesItABackgroundJob() {
    var host = borrower()
    host(.lending(.end))
    let effects = host(.terminalLook(.background))
    #expect(
      effects == [
        send(3, .home, "lend"), .armDeadline(leaveTime), send(4, .endInterruption(.terminalLent), "lend"),
        .confirmEndOfLending,
      ])
  }

  @Test func aLostFocusEndsWithTheScreen() {
    var host = Host.inForeground()
    host(.focus(false))
    let effects = host(.lending(.begin))
    #expect(effects.contains(send(4, .endInterruption(.focusLost), "focus")))
  }

  @Test func theKeysOfTheChildAreNotForTheProgram() {
    var host = borrower()
    #expect(host(.signals([SignalRecord(signal: .interrupt, isFromKernel: true)])) == [])
    #expect(host(.signals([SignalRecord(signal: .quit, isFromKernel: true)])) == [])
    #expect(host.machine.phase == .foreground && host.machine.termination == nil)
  }

  /// The child has died of the key before the program's own handler has run, which leaves the screen that was taken again.
  @Test func aKeyOfTheChildThatComesLateIsNotForTheProgram() {
    var host = borrower()
    host(.lending(.end, at: .seconds(1)))
    host(.terminalLook(.foreground))
    host(.terminalTaken(true))
    for signal in [CaughtSignal.interrupt, .quit] {
      let late = SignalRecord(signal: signal, isFromKernel: true, arrived: .milliseconds(1_099))
      #expect(host(.signals([late])) == [.lookAtScreen])
      #expect(host(.screenLook(wasLeft: true)) == [.lookAtTerminal])
      host(.terminalLook(.foreground))
      #expect(host(.terminalTaken(true)) == [.requestDisplay])
    }
    var other = host
    let own = SignalRecord(signal: .interrupt, isFromKernel: true, arrived: .milliseconds(1_100))
    #expect(host(.signals([own])) == [send(host.deliveries, .terminate, "Ctrl-C")])
    // In raw mode the host reads the key, which is the user's at once.
    let read = SignalRecord(signal: .interrupt, isFromKernel: true, arrived: .milliseconds(1_001))
    #expect(other(.signalKey(read)) == [send(other.deliveries, .terminate, "Ctrl-C")])
  }

  /// No screen is left on which the question could stand.
  @Test func anOrderOfAProcessEndsWithoutAQuestion() {
    var host = borrower()
    let effects = host.signals(.interrupt)
    #expect(effects.contains(send(3, .shutDown, "SIGINT")) && !effects.contains(.takeTerminal))
  }

  @Test func aReturnTakesBackAStopThatWaitsForTheTerminal() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host(.lending(.begin))
    host.beginStop()
    host.finish()
    host.signals(.continue)
    host(.terminalLook(.foreground))
    #expect(host(.terminalLeft(isComplete: true)) == [.answerLending(nil)])
    #expect(host.machine.phase == .foreground)
  }

  @Test func aStopAndAReturnLeaveTheTerminalToTheChild() {
    var host = borrower()
    #expect(host(.signals([SignalRecord(signal: .stop, isFromKernel: true)])) == [.predictStop])
    #expect(host(.stopPredicted(isPossible: true)).first == .suspend(3, "Ctrl-Z"))
    #expect(host.finish().last == .stopSelf)
    #expect(host(.stopEnded(wasContinued: true)) == [.lookAtTerminal])
    let next = host.deliveries + 1
    #expect(host(.terminalLook(.foreground)) == [.continueBorrower, send(next, .open, "fg")])
    #expect(host.machine.phase == .foreground && !host.machine.holdsTerminal && host.machine.lending == .lent)
    #expect(host(.lending(.end)) == [.endForegroundOfBorrower, .lookAtTerminal])
  }

  /// The host waits for the child to stop, and looks at the signals once more before it stops itself.
  @Test func anOrderThatComesJustBeforeTheStopCancelsIt() {
    var host = borrower()
    host.beginStop()
    #expect(host.finish().last == .stopSelf)
    for signal in [CaughtSignal.terminate, .interrupt, .quit, .hangUp, .continue] {
      #expect(host.machine.cancelsStop([SignalRecord(signal: .windowChange), SignalRecord(signal: signal)]))
    }
    // The keys of the child, and a second Ctrl-Z.
    for signal in [CaughtSignal.interrupt, .quit, .stop] {
      #expect(!host.machine.cancelsStop([SignalRecord(signal: signal, isFromKernel: true)]))
    }
    #expect(host.signals(.terminate) == [])
    let next = host.deliveries + 1
    #expect(host(.stopEnded(wasContinued: true)).contains(send(next, .shutDown, "SIGTERM")))
  }

  /// Nothing is said on the child's screen, and the kernel may have stopped the child.
  @Test func aStopThatIsRefusedOnlyContinuesTheChild() {
    var host = borrower()
    host(.signals([SignalRecord(signal: .stop)]))
    #expect(host(.stopPredicted(isPossible: false)) == [.continueBorrower])
  }

  @Test func aReturnAfterSIGSTOPDrawsNothing() {
    var host = borrower()
    host.signals(.continue)
    #expect(host(.terminalLook(.foreground)) == [.continueBorrower])
  }

  @Test func aProgramInTheBackgroundHasNothingToLend() {
    var host = Host.inBackground()
    #expect(host(.lending(.begin)) == [.answerLending(.notHeld)])
  }

  @Test func aLoanThatHasNotBegunAtTheEndIsRefused() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host(.lending(.begin))
    #expect(host.signals(.terminate).contains(.answerLending(.notHeld)))
  }

  @Test func aTerminalThatIsGoneIsNotLent() {
    var host = Host.inForeground()
    host.terminalIsStalled = true
    host(.lending(.begin))
    let effects = host(.hangUp)
    #expect(effects.contains(.answerLending(.notHeld)) && !effects.contains(.answerLending(nil)))
    #expect(host.machine.phase == .terminating && host.machine.lending == .none)
  }

  /// A program that was started by `nohup` goes on, and would wait for the loan for ever.
  @Test func aLoanThatHasNotBegunWhenTheTerminalIsGoneIsRefused() {
    var host = Host.inForeground(ignoresHangUp: true)
    host.terminalIsStalled = true
    host(.lending(.begin))
    let effects = host(.hangUp)
    #expect(effects.contains(.answerLending(.notHeld)))
    #expect(effects.last == send(host.deliveries, .endInterruption(.terminalLent), "hang-up"))
    #expect(host.machine.lending == .none)
  }

  @Test func aBodyThatEndsWhileTheApplicationEndsIsTold() {
    var host = borrower()
    host.signals(.terminate)
    #expect(host(.lending(.end)) == [.endForegroundOfBorrower, .confirmEndOfLending])
  }

  @Test func aGroupOfTheChildComesToTheForegroundOnlyDuringTheLoan() {
    var host = Host.inForeground()
    #expect(host(.lending(.bringToForeground(7))) == [])
    host(.lending(.begin))
    #expect(host(.lending(.bringToForeground(7))) == [.bringToForeground(7)])
    host.beginStop()
    #expect(host(.lending(.bringToForeground(8))) == [.bringToForeground(8)])
    host.finish()
    host(.lending(.end))
    #expect(host(.lending(.bringToForeground(9))) == [])
  }
}
