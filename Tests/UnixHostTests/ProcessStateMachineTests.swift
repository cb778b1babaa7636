import AppLifecycle
import PubSub
import Scheduling
import Testing

@testable import UnixHost

/// How a service answers what happens to it, against the pure machine.
@Suite struct ProcessStateMachineTests {
  typealias Machine = ProcessStateMachine
  typealias Effect = Machine.Effect

  static let budgets = HostBudgets(willTerminate: .seconds(3), grace: .milliseconds(500))

  func machine(watchdog: Duration? = nil, orders: EndOrders = EndOrders()) -> Machine {
    Machine(
      budgets: Self.budgets,
      terms: Machine.Terms(announcedNumber: 42, watchdog: watchdog, timeoutExtension: .seconds(10), orders: orders))
  }

  func running(watchdog: Duration? = nil, orders: EndOrders = EndOrders()) -> Machine {
    var machine = machine(watchdog: watchdog, orders: orders)
    _ = machine.handle(.started)
    _ = machine.handle(.mainActorAnswered(hasGivenUp: false))
    _ = machine.handle(.transitionFinished(id: 1))
    _ = machine.handle(.resourcesHeld)
    return machine
  }

  func signal(_ signal: CaughtSignal) -> Machine.Event { .signals([SignalRecord(signal: signal)]) }

  @Test func itLaunchesWaitsForItsResourcesAndIsReady() {
    var machine = machine(watchdog: .seconds(4))
    #expect(
      machine.handle(.started) == [
        .send(HostDelivery(id: 1, input: .launchInBackground, cause: "launch")), .askMainActor,
        .armExtension(Machine.patience),
      ])
    // Pings before READY are none of the watchdog's.
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)).isEmpty)
    #expect(machine.handle(.transitionFinished(id: 1)) == [.waitForResources])
    #expect(
      machine.handle(.resourcesHeld) == [
        .notify([.ready, .mainProcess(42)]), .armExtension(nil), .armHeartbeat(.seconds(2)),
      ])
    #expect(machine.phase == .running)
  }

  @Test func aStartThatTakesItsTimeIsExtendedAsLongAsTheMainActorAnswers() {
    var machine = machine()
    _ = machine.handle(.started)
    // Blocked: whether it starts or hangs cannot be known.
    #expect(machine.handle(.extensionDue) == [.armExtension(.seconds(5))])
    // The manager's time may be over before the next extension is due.
    let extended: [Effect] = [.notify([.extendTimeout(.seconds(10))]), .askMainActor, .armExtension(.seconds(5))]
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)) == extended)
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)).isEmpty)
    #expect(machine.handle(.extensionDue) == extended)
    #expect(machine.handle(.extensionDue) == [.armExtension(.seconds(5))])
  }

  @Test func `A reload whose handler blocks at first is extended as soon as the main actor answers`() {
    var machine = running(watchdog: .seconds(4))
    reload(&machine)
    #expect(machine.handle(.extensionDue) == [.armExtension(.seconds(5))])
    let extended: [Effect] = [.notify([.extendTimeout(.seconds(10))]), .askMainActor, .armExtension(.seconds(5))]
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)) == [.notify([.watchdog])] + extended)
    // What was withheld from one reload is not owed to the next.
    #expect(machine.handle(.extensionDue) == [.armExtension(.seconds(5))])
    _ = machine.handle(.reloaded(failure: nil))
    reload(&machine)
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)) == [.notify([.watchdog])])
  }

  @Test func itPingsWhenTheMainActorAnswersAndNotBefore() {
    var machine = running(watchdog: .seconds(4))
    #expect(machine.handle(.heartbeatDue) == [.askMainActor, .armHeartbeat(.seconds(2))])
    // It does not answer: it is asked once, and the host does not ping in its place.
    #expect(machine.handle(.heartbeatDue) == [.armHeartbeat(.seconds(2))])
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)) == [.notify([.watchdog])])
    #expect(machine.handle(.heartbeatDue) == [.askMainActor, .armHeartbeat(.seconds(2))])
  }

  @Test func itDoesNotPingWhereNobodyLooks() {
    var machine = running()
    #expect(machine.handle(.heartbeatDue).isEmpty)
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)).isEmpty)
  }

  @Test(arguments: [(CaughtSignal.terminate, "SIGTERM"), (.interrupt, "SIGINT")])
  func itStopsWithinTheBudget(signal: CaughtSignal, cause: String) {
    var machine = running(watchdog: .seconds(4))
    _ = machine.handle(.heartbeatDue)
    #expect(
      machine.handle(self.signal(signal)) == [
        .send(HostDelivery(id: 2, input: .shutDown, cause: LifecycleCause(rawValue: cause))), .notify([.stopping]),
        .armHeartbeat(nil), .armExtension(Machine.patience), .armDeadline(.milliseconds(3500)),
      ])
    // An answer that was on its way, or a beat: a ping now would make the manager expect another.
    #expect(machine.handle(.mainActorAnswered(hasGivenUp: false)).isEmpty)
    #expect(machine.handle(.heartbeatDue).isEmpty)
    #expect(machine.handle(.extensionDue) == [.notify([.extendTimeout(.seconds(10))]), .armExtension(.seconds(5))])
    #expect(machine.handle(.applicationBeganToEnd).isEmpty)
    #expect(machine.handle(.applicationEnded(overruns: [])) == [.finish(status: 0, mainActorAnswers: true)])
    #expect(machine.handle(self.signal(.terminate)).isEmpty)
  }

  @Test func aTearDownThatOverrunsIsNamedAndFailsTheService() {
    var machine = running()
    _ = machine.handle(signal(.terminate))
    #expect(
      machine.handle(
        .applicationEnded(
          overruns: [BudgetOverrun(callback: .willTerminate, budget: .seconds(3), culprits: ["a", "b", "a"])])) == [
          .report(BudgetOverrun(callback: .willTerminate, budget: .seconds(3), culprits: ["a", "b"])),
          .finish(status: 70, mainActorAnswers: true),
        ])
  }

  @Test func aMainActorThatDoesNotAnswerIsNotWaitedFor() {
    var machine = running()
    _ = machine.handle(signal(.terminate))
    #expect(
      machine.handle(.deadlinePassed) == [
        .report(BudgetOverrun(callback: .willTerminate, budget: .seconds(3), culprits: [])),
        .finish(status: 70, mainActorAnswers: false),
      ])
  }

  @Test func repeatedOrdersLetTheEndGoOn() {
    var machine = running()
    _ = machine.handle(signal(.terminate))
    for second in 1...3 {
      let time = Duration.seconds(second)
      for signal in [CaughtSignal.terminate, .interrupt] {
        #expect(machine.handle(.signals([SignalRecord(signal: signal, arrived: time, taken: time)])).isEmpty)
      }
    }
    #expect(machine.handle(.transitionFinished(id: 2)) == [.finish(status: 0, mainActorAnswers: true)])
    #expect(machine.repetitionsEnd == .seconds(5))
  }

  @Test func aKeyInsists() {
    var machine = running()
    _ = machine.handle(signal(.terminate))
    let key = SignalRecord(signal: .interrupt, isFromKernel: true, arrived: .milliseconds(500))
    #expect(machine.handle(.signals([key])) == [.die(.interrupt)])
    #expect(machine.phase == .ended)
  }

  @Test func theOtherWayIsAnOption() {
    var machine = running(orders: EndOrders(insisting: ["SIGTERM"]))
    _ = machine.handle(signal(.terminate))
    let second = SignalRecord(signal: .terminate, arrived: .milliseconds(500))
    #expect(machine.handle(.signals([second])) == [.die(.terminate)])
  }

  // MARK: The terminal from which it was started

  /// A shell repeats SIGHUP, and sends SIGTERM, while the process is about to end.
  @Test func aHangUpIsRepeatedWithoutEffect() {
    var machine = running()
    #expect(machine.repetitionsEnd == nil)
    _ = machine.handle(.hangUp(at: .seconds(7)))
    #expect(machine.repetitionsEnd == .seconds(7) + EndOrders.copyWindow)
    _ = machine.handle(.signals([SignalRecord(signal: .hangUp, arrived: .seconds(8), taken: .seconds(8))]))
    #expect(machine.repetitionsEnd == .seconds(8) + EndOrders.copyWindow)
    // An order has the time of the budget, which is longer.
    _ = machine.handle(.signals([SignalRecord(signal: .terminate, arrived: .seconds(8), taken: .seconds(8))]))
    #expect(machine.repetitionsEnd == .seconds(13))
  }

  @Test func aHangUpOfItsTerminalEndsIt() {
    var machine = running()
    #expect(machine.handle(signal(.hangUp)) == [.lookAtTerminal])
    #expect(
      machine.handle(.terminalLook(isGone: true)).prefix(2) == [
        .send(HostDelivery(id: 2, input: .shutDown, cause: "hang-up")), .notify([.stopping]),
      ])
    #expect(machine.handle(.hangUp(at: .zero)).isEmpty)
    #expect(machine.handle(signal(.hangUp)) == [.lookAtTerminal])
    #expect(machine.handle(.terminalLook(isGone: true)).isEmpty)
    var other = running()
    #expect(other.handle(.hangUp(at: .zero)).first == .send(HostDelivery(id: 2, input: .shutDown, cause: "hang-up")))
  }

  private func asking(_ causes: Set<LifecycleCause>) -> Machine {
    var machine = Machine(
      budgets: Self.budgets,
      terms: Machine.Terms(announcedNumber: 42, timeoutExtension: .seconds(10), orders: EndOrders(asking: causes)))
    _ = machine.handle(.started)
    _ = machine.handle(.mainActorAnswered(hasGivenUp: false))
    _ = machine.handle(.transitionFinished(id: 1))
    _ = machine.handle(.resourcesHeld)
    return machine
  }

  @Test func anOrderThatAsksStopsNothingUntilTheApplicationBeginsToEnd() {
    var machine = asking(["Ctrl-C"])
    let order = SignalRecord(signal: .interrupt, isFromKernel: true)
    #expect(machine.handle(.signals([order])) == [.send(HostDelivery(id: 2, input: .terminate, cause: "Ctrl-C"))])
    #expect(machine.phase == .running)
    #expect(
      machine.handle(.applicationBeganToEnd) == [
        .notify([.stopping]), .armHeartbeat(nil), .armExtension(Machine.patience), .armDeadline(.milliseconds(3500)),
      ])
    #expect(machine.handle(.applicationEnded(overruns: [])) == [.finish(status: 0, mainActorAnswers: true)])
  }

  /// Where there are no keys the second order stays the second.
  @Test func aSecondOrderDoesNotAskAndTheManagerIsAskedForTimeMeanwhile() {
    var machine = asking(["SIGTERM"])
    #expect(
      machine.handle(signal(.terminate)) == [.send(HostDelivery(id: 2, input: .terminate, cause: "SIGTERM"))])
    #expect(machine.handle(.questionOpened) == [.armExtension(Machine.patience)])
    #expect(machine.handle(.extensionDue) == [.notify([.extendTimeout(.seconds(10))]), .armExtension(.seconds(5))])
    #expect(machine.handle(.questionRefused) == [.armExtension(nil)])
    #expect(machine.handle(.transitionFinished(id: 2)).isEmpty)
    #expect(machine.handle(.extensionDue).isEmpty)
    let second = SignalRecord(signal: .terminate, arrived: .seconds(60), taken: .seconds(60))
    #expect(
      machine.handle(.signals([second])).prefix(2) == [
        .send(HostDelivery(id: 3, input: .shutDown, cause: "SIGTERM")), .notify([.stopping]),
      ])
    #expect(machine.phase == .stopping)
  }

  /// What the manager is told, and when, of an end that takes so long; on a clock of the test's.
  private func end(lasting length: Duration?, within budget: Duration) -> (told: [String], status: Int32?) {
    var machine = Machine(
      budgets: HostBudgets(willTerminate: budget),
      terms: Machine.Terms(announcedNumber: 42, timeoutExtension: .seconds(10)))
    var (now, deadline, extensionDue) = (Duration.zero, Duration?.none, Duration?.none)
    var (told, status) = ([String](), Int32?.none)
    func perform(_ effects: [Effect]) {
      for effect in effects {
        switch effect {
        case .armDeadline(let duration): deadline = duration.map { now + $0 }
        case .armExtension(let duration): extensionDue = duration.map { now + $0 }
        case .notify(let notices): told += notices.map { "\(now / .seconds(1)) \($0.line(monotonic: .zero))" }
        case .report(let overrun): told.append("\(now / .seconds(1)) overran \(overrun.budget)")
        case .finish(let code, _): status = code
        default: break
        }
      }
    }
    let start: [Machine.Event] = [
      .started, .mainActorAnswered(hasGivenUp: false), .transitionFinished(id: 1), .resourcesHeld,
    ]
    for event in start {
      perform(machine.handle(event))
    }
    told = []
    perform(machine.handle(signal(.terminate)))
    perform(machine.handle(.budgetBegan(.willTerminate)))
    while status == nil {
      let next = [deadline, extensionDue, length].compactMap { $0 }.min()!
      now = next
      if next == length {
        perform(machine.handle(.transitionFinished(id: 2)))
      } else if next == deadline {
        deadline = nil
        perform(machine.handle(.deadlinePassed))
      } else {
        extensionDue = nil
        perform(machine.handle(.extensionDue))
      }
    }
    return (told, status)
  }

  @Test func theManagersPatienceFollowsTheBudget() {
    let extensions = ["0.25", "5.25", "10.25", "15.25"].map { "\($0) EXTEND_TIMEOUT_USEC=10000000" }
    var (told, status) = end(lasting: .seconds(20), within: .seconds(20))
    #expect(told == ["0.0 STOPPING=1"] + extensions && status == 0)
    (told, status) = end(lasting: nil, within: .seconds(20))
    #expect(
      told == ["0.0 STOPPING=1"] + extensions
        + ["20.25 EXTEND_TIMEOUT_USEC=10000000", "20.5 overran \(Duration.seconds(20))"])
    #expect(status == 70)
    (told, status) = end(lasting: nil, within: .milliseconds(100))
    #expect(
      told == ["0.0 STOPPING=1", "0.25 EXTEND_TIMEOUT_USEC=10000000", "0.6 overran \(Duration.milliseconds(100))"])
  }

  /// A wrapper such as `timeout` sends its child a signal, and then the whole group.
  @Test func ordersOfOneMomentAreOne() {
    var machine = running()
    let copy = SignalRecord(signal: .terminate)
    let effects = machine.handle(.signals([copy, copy]))
    #expect(effects.last == .armDeadline(.milliseconds(3500)))
    #expect(machine.handle(.signals([SignalRecord(signal: .interrupt, arrived: .milliseconds(499))])).isEmpty)
    #expect(machine.handle(.transitionFinished(id: 2)).last == .finish(status: 0, mainActorAnswers: true))
  }

  @Test func reloadsWaitForTheStartAndForEachOther() {
    var machine = machine()
    _ = machine.handle(.started)
    _ = machine.handle(.mainActorAnswered(hasGivenUp: false))
    #expect(machine.handle(signal(.hangUp)) == [.lookAtTerminal])
    #expect(machine.handle(.terminalLook(isGone: false)).isEmpty)
    _ = machine.handle(.transitionFinished(id: 1))
    let reload: [Effect] = [.notify([.reloading]), .reload, .askMainActor, .armExtension(Machine.patience)]
    #expect(machine.handle(.resourcesHeld) == [.notify([.ready, .mainProcess(42)]), .armExtension(nil)] + reload)
    _ = machine.handle(.mainActorAnswered(hasGivenUp: false))
    for _ in 0..<2 {
      #expect(machine.handle(signal(.hangUp)) == [.lookAtTerminal])
      #expect(machine.handle(.terminalLook(isGone: false)).isEmpty)
    }
    #expect(machine.handle(.reloaded(failure: nil)) == [.notify([.ready]), .armExtension(nil)] + reload)
    #expect(machine.handle(.reloaded(failure: nil)) == [.notify([.ready]), .armExtension(nil)])
    #expect(machine.phase == .running)
  }

  @Test func anEndDuringAReloadLeavesItBehind() {
    var machine = running()
    reload(&machine)
    _ = machine.handle(signal(.terminate))
    #expect(machine.handle(.reloaded(failure: nil)).isEmpty)
    #expect(machine.phase == .stopping)
  }

  @Test func anApplicationThatEndsItselfIsStoppingToo() {
    var machine = running()
    #expect(
      machine.handle(.applicationBeganToEnd) == [
        .notify([.stopping]), .armHeartbeat(nil), .armExtension(Machine.patience), .armDeadline(.milliseconds(3500)),
      ])
    #expect(machine.handle(signal(.terminate)).isEmpty)
    #expect(machine.handle(.applicationEnded(overruns: [])) == [.finish(status: 0, mainActorAnswers: true)])
  }

  @Test func theStatusNamesWhatCannotBeAcquiredBeforeWhatTheProgramSays() {
    var machine = machine()
    _ = machine.handle(.started)
    func status(_ text: String) -> [Effect] { [.notify([.status(text)])] }
    #expect(machine.handle(.trouble("no port")) == status("no port"))
    #expect(machine.handle(.trouble("no port")).isEmpty)
    #expect(machine.handle(.status("serving")) == status("no port; serving"))
    #expect(machine.handle(.trouble("no disk")) == status("no disk; serving"))
    #expect(machine.handle(.trouble(nil)) == status("serving"))
    #expect(machine.handle(.status("idle")) == status("idle"))
  }

  /// Whatever comes in whatever order: READY once at first, STOPPING once, nothing of life after it, and an end.
  @Test(arguments: 1...200 as ClosedRange<UInt64>) func everyLongSequenceKeepsTheRules(seed: UInt64) {
    print("ProcessStateMachineTests.everyLongSequenceKeepsTheRules: seed \(seed)")
    var random = SplitMix64(seed: seed)
    var machine = machine(watchdog: .seconds(4))
    var notices: [ServiceNotice] = []
    var endings = 0
    func give(_ event: Machine.Event) {
      for effect in machine.handle(event) {
        switch effect {
        case .notify(let told): notices += told
        case .die, .finish: endings += 1
        default: break
        }
      }
    }
    let common: [Machine.Event] = [
      .transitionFinished(id: 1), .resourcesHeld, .resourcesGivenUp, .reloaded(failure: nil),
      .reloaded(failure: "z"),
      .mainActorAnswered(hasGivenUp: false), .mainActorAnswered(hasGivenUp: true), .heartbeatDue, .extensionDue,
      .status("x"), .trouble("y"), .trouble(nil), .terminalLook(isGone: false), signal(.hangUp), signal(.continue),
      .poolNotAsked,
    ]
    let rare: [Machine.Event] = [
      signal(.terminate), .hangUp(at: .zero), .terminalLook(isGone: true), .applicationBeganToEnd, .deadlinePassed,
    ]
    give(.started)
    for _ in 0..<100 {
      give(
        Int.random(in: 0..<30, using: &random) == 0
          ? rare.randomElement(using: &random)! : common.randomElement(using: &random)!)
    }
    if machine.phase != .stopping { give(signal(.terminate)) }
    give(.deadlinePassed)
    #expect(machine.phase == .ended && endings == 1, "seed \(seed)")
    if let stopping = notices.firstIndex(of: .stopping) {
      let after = notices[(stopping + 1)...]
      #expect(!after.contains(.watchdog) && !after.contains(.ready) && !after.contains(.stopping), "seed \(seed)")
    }
    if let first = notices.firstIndex(of: .watchdog) {
      #expect(notices[..<first].contains(.ready), "seed \(seed)")
    }
    let reloadings = notices.indices.filter { notices[$0] == .reloading }
    for (index, next) in zip(reloadings, reloadings.dropFirst()) {
      #expect(notices[index..<next].contains(.ready), "seed \(seed)")
    }
  }

  // MARK: What is read and said

  @Test func addressesAreReadToTheByte() {
    #expect(NotifySocket.Address("/run/notify")?.bytes == Array("/run/notify".utf8) + [0])
    #expect(NotifySocket.Address("@a/b")?.bytes == [0] + Array("a/b".utf8))
    for text in ["", "/", "@", "relative", "vsock:2:1234", "/" + String(repeating: "x", count: 107)] {
      #expect(NotifySocket.Address(text) == nil, "\(text)")
    }
    #expect(NotifySocket.Address("/" + String(repeating: "x", count: 106)) != nil)
    #expect(NotifySocket.Address("@" + String(repeating: "x", count: 107)) != nil)
  }

  @Test(arguments: [
    (ServiceNotice.ready, "READY=1"), (.stopping, "STOPPING=1"), (.watchdog, "WATCHDOG=1"),
    (.status("a\nb\r\nc"), "STATUS=a b c"), (.extendTimeout(.milliseconds(1500)), "EXTEND_TIMEOUT_USEC=1500000"),
    (.mainProcess(7), "MAINPID=7"), (.reloading, "RELOADING=1\nMONOTONIC_USEC=5000001"),
  ])
  func noticesAreLines(notice: ServiceNotice, line: String) {
    #expect(notice.line(monotonic: .microseconds(5_000_001)) == line)
  }

  /// A line feed would begin another field, a zero byte would make the datagram void, and a terminal shows the text.
  @Test func aStatusIsOneFieldWhateverItsText() {
    for scalar in (0...0x2100 as ClosedRange<UInt32>).compactMap({ Unicode.Scalar($0) }) {
      let line = ServiceNotice.status("a\(scalar)READY=1").line(monotonic: .zero)
      #expect(!line.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "\(scalar.value)")
      #expect(line.utf8.starts(with: "STATUS=a".utf8), "\(scalar.value)")
    }
    // systemd ignores a datagram of more than 4096 bytes.
    let long = ServiceNotice.status(String(repeating: "é\u{1}", count: 10_000)).line(monotonic: .zero)
    #expect(long.utf8.count <= "STATUS=".utf8.count + ServiceNotice.statusLimit && long.hasSuffix("…"))
  }
}
