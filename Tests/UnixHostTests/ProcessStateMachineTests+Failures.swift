import AppLifecycle
import PubSub
import Testing

@testable import UnixHost

/// Starts and reloads that fail.
extension ProcessStateMachineTests {
  // MARK: What fails

  @Test func aStartThatHasGivenUpIsNotExtended() {
    var machine = machine()
    _ = machine.handle(.started)
    _ = machine.handle(.mainActorAnswered(hasGivenUp: true))
    #expect(machine.handle(.extensionDue) == [.askMainActor, .armExtension(.seconds(5))])
    _ = machine.handle(.mainActorAnswered(hasGivenUp: true))
    #expect(machine.handle(.extensionDue) == [.askMainActor, .armExtension(.seconds(5))])
    // The program tries again.
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)).first == .notify([.extendTimeout(.seconds(10))]))
  }

  /// The system may refuse a thread for a moment only.
  @Test func aPoolThatCouldNotBeAskedIsAskedAgain() {
    var machine = running(watchdog: .seconds(4))
    #expect(machine.handle(.heartbeatDue).first == .askMainActor)
    // Soon enough for the watchdog, whose time is over two seconds later.
    #expect(machine.handle(.poolNotAsked) == [.armHeartbeat(.seconds(0.5))])
    #expect(machine.handle(.heartbeatDue) == [.askMainActor, .armHeartbeat(.seconds(2))])
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)) == [.notify([.watchdog])])

    machine = self.machine()
    _ = machine.handle(.started)
    _ = machine.handle(.poolNotAsked)
    // It has not answered, so the manager's time-out goes on.
    #expect(machine.handle(.extensionDue) == [.askMainActor, .armExtension(.seconds(5))])
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)).first == .notify([.extendTimeout(.seconds(10))]))
  }

  @Test func aRetryLetsItBecomeReady() {
    var machine = machine()
    _ = machine.handle(.started)
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)).isEmpty)
    #expect(machine.handle(.transitionFinished(id: 1)) == [.waitForResources])
    #expect(machine.handle(.resourcesGivenUp).isEmpty)
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: true)).isEmpty)
    // It tries again, which the host learns when it asks, or when the text about the resource changes.
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)) == [.waitForResources])
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)).isEmpty)
    #expect(machine.handle(.resourcesGivenUp).isEmpty)
    #expect(machine.handle(.trouble("no port")).last == .waitForResources)
    #expect(machine.handle(.trouble("no disk")).last != .waitForResources)
    #expect(machine.handle(.resourcesHeld).first == .notify([.ready, .mainProcess(42)]))
    #expect(machine.handle(.trouble(nil)) == [.notify([.status("")])])
  }

  /// What is given up later does not concern the manager's start.
  @Test func aReloadIsExtendedWhateverWasGivenUp() {
    var machine = running()
    reload(&machine)
    _ = machine.handle(.mainActorAnswered(hasGivenUp: true))
    #expect(machine.handle(.extensionDue).first == .notify([.extendTimeout(.seconds(10))]))
  }

  @Test func aReloadThatFailsSaysSoUntilOneSucceeds() {
    var machine = running()
    _ = machine.handle(.status("serving"))
    reload(&machine)
    #expect(
      machine.handle(.reloaded(failure: "no file")) == [
        .notify([.status("no file; serving")]), .notify([.ready]), .armExtension(nil),
      ])
    reload(&machine)
    #expect(machine.handle(.reloaded(failure: "no file")) == [.notify([.ready]), .armExtension(nil)])
    reload(&machine)
    #expect(
      machine.handle(.reloaded(failure: nil)) == [
        .notify([.status("serving")]), .notify([.ready]), .armExtension(nil),
      ])
  }

  func reload(_ machine: inout Machine) {
    #expect(machine.handle(signal(.hangUp)) == [.lookAtTerminal])
    #expect(machine.handle(.terminalLook(isGone: false)).prefix(2) == [.notify([.reloading]), .reload])
  }
}
