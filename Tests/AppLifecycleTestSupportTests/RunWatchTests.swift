import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import AppLifecycleTestSupport

/// A delegate that opens a socket while it is made, and closes it at the end.
@MainActor private final class SocketDelegate {
  private let balance: ResourceBalance
  private let closes: Bool

  init(_ balance: ResourceBalance, closes: Bool = true) {
    (self.balance, self.closes) = (balance, closes)
    balance.opened("socket")
  }
}

extension SocketDelegate: ApplicationDelegate {
  func applicationWillTerminate(_ application: Application) { if closes { balance.closed("socket") } }
}

@Suite(.timeLimit(.hang)) @MainActor struct `The watch of a run` {
  @Test(arguments: Mistake.allCases)
  func `complains of each mistake, and of nothing else`(mistake: Mistake) async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    try await system.play("launch")
    try mistake.make(in: system, watch.balance)
    let complaints = await watch.end()
    #expect(complaints.map(\.kind) == [mistake.complaint.kind])
    #expect(complaints.map(\.message) == [mistake.complaint.message])
  }

  @Test func `goes on to the end of the application after work has escaped`() async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    try await system.play("launch")
    watch.balance.opened("socket")
    try await system.play("home; wait:6s")
    // A task of the test itself, which no simulation has; it runs as the system is woken.
    let task = Task { try await system.clock.sleep(for: .seconds(1)) }
    let complaints = await watch.end()
    task.cancel()
    #expect(Set(complaints.map(\.kind)) == [.escapedWork, .resource])
    #expect(system.application.state == .notRunning)
  }

  /// A system that is watched, whose application opens a file when the phase begins and closes it when the phase ends.
  private func makeWatchedFile(
    while phase: LifecyclePhase
  ) throws -> (system: SimulatedSystem, watch: RunWatch, balance: ResourceBalance) {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    let balance = watch.balance
    try system.application.manage("file", while: phase) {
      balance.opened("file")
    } release: {
      balance.closed("file")
    }
    return (system, watch, balance)
  }

  /// A double that a delegate opens while it is made belongs to the process of that delegate.
  @Test func `counts what the delegate of the next process opens for that process`() async throws {
    let balance = ResourceBalance()
    let system = SimulatedSystem { SocketDelegate(balance) }
    let watch = RunWatch(system, balance: balance)
    try await system.play("launch; kill; launch; kill")
    #expect(await watch.end() == [])
  }

  @Test func `finds what the delegate of a later process leaves open`() async throws {
    let balance = ResourceBalance()
    let system = SimulatedSystem { SocketDelegate(balance, closes: false) }
    let watch = RunWatch(system, balance: balance)
    try await system.play("launch; crash; launch")
    #expect(balance.open == ["socket": 1])
    let fault = "“socket” was still open after the application had ended in order"
    #expect(await watch.end().map(\.message) == [fault])
  }

  @Test func `has no complaint about a program that does all in order`() async throws {
    let (system, watch, balance) = try makeWatchedFile(while: .foreground)
    system.application.task(label: "ticker") {
      while true { try await system.application.clock.sleep(for: .seconds(1)) }
    }
    try await system.play("launch; wait:3s; home; open; interrupt:call")
    system.application.performBackgroundTask(named: "upload") {
      try? await system.application.clock.sleep(for: .seconds(20))
    }
    #expect(balance.open == ["file": 1])
    #expect(system.application.openBackgroundTasks == ["upload"])
    #expect(await watch.end() == [])
    #expect(system.application.state == .notRunning)
    #expect(balance.open == [:])
    // The upload had its twenty seconds.
    #expect(system.clock.now.offset >= .seconds(23))
  }

  @Test func `wakes a suspended application, so that it ends in order`() async throws {
    let (system, watch, balance) = try makeWatchedFile(while: .running)
    try await system.play("launch; home; wait:6s")
    #expect(system.application.state == .suspended)
    #expect(await watch.end() == [])
    #expect(system.record.callbacks.last == "willTerminate (background)")
    #expect(balance.open == [:])
  }

  @Test(arguments: ["launch; crash", "launch; home; suspend; kill", "launch; home; suspend; reclaim; launch; crash"])
  func `does not ask a lost process for what it held, whenever one looks`(script: String) async throws {
    let (system, watch, balance) = try makeWatchedFile(while: .running)
    for action in script.split(separator: "; ") {
      try await system.play(String(action))
      #expect(watch.complaints == [])
    }
    #expect(balance.open == [:])
    try await system.play("\(script); launch")
    #expect(balance.open == ["file": 1])
    #expect(await watch.end() == [])
  }

  @Test(arguments: [
    "crash", "home; suspend; kill", "home; suspend; reclaim", "slow:didEnterBackground:6s; home",
    "slow:willTerminate:6s; kill",
  ])
  func `counts what a lost process had open as closed, at once`(script: String) async throws {
    let (system, watch, balance) = try makeWatchedFile(while: .running)
    try await system.play("launch")
    #expect(balance.open == ["file": 1])
    var atTheEnd: [String: Int]?
    let subscription = system.bus.subscribe(to: Application.StateDidChange.self) { event in
      if event.transition.to == .notRunning { atTheEnd = balance.open }
    }
    try await system.play(script)
    subscription.cancel()
    #expect(system.application.state == .notRunning && !system.hasEndedInOrder)
    #expect(atTheEnd == [:] && balance.open == [:])
    try await system.play("launch")
    #expect(balance.open == ["file": 1])
    #expect(await watch.end() == [])
  }

  @Test func `asks each process for what it held, also one that another has followed`() async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    system.bus.subscribe(to: Application.DidFinishLaunching.self, for: watch) { watch, _ in
      watch.balance.opened("file")
    }
    try await system.play("launch; kill; launch; crash")
    #expect(
      watch.complaints == [RunComplaint(.resource, "“file” was still open after the application had ended in order")])
  }

  @Test func `does not complain of an overrun that a script asks for`() async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    try await system.play("launch; slow:didEnterBackground:6s; home")
    #expect(system.application.ledger.overruns.count == 1)
    #expect(await watch.end() == [])
  }

  @Test(arguments: ["launch; slow:didBecomeActive:1s; home", "launch; slow:willTerminate:1s; home"])
  func `complains of an overrun that a slow call elsewhere does not explain`(script: String) async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    let subscription = system.bus.receive(Application.DidEnterBackground.self, label: "save") {
      [clock = system.clock] _ in try await clock.sleep(for: .seconds(6))
    }
    // The slow call has not happened.
    try await system.play(script)
    withExtendedLifetime(subscription) {}
    #expect(system.application.ledger.overruns.count == 1)
    #expect(watch.complaints.map(\.kind) == [.overrun])
  }

  @Test func `complains of an overrun in a later input than a slow call`() async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    let subscription = system.bus.receive(Application.DidEnterBackground.self, label: "save") {
      [clock = system.clock] _ in try await clock.sleep(for: .seconds(6))
    }
    try await system.play("slow:didBecomeActive:1s; launch; wait:1s; home")
    withExtendedLifetime(subscription) {}
    #expect(watch.complaints.map(\.kind) == [.overrun])
  }

  @Test func `complains of an overrun between the token of a slow call and the call`() async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    let subscription = system.bus.receive(Application.WillResignActive.self, label: "save") {
      [clock = system.clock] _ in try await clock.sleep(for: .seconds(6))
    }
    try await system.play("launch; interrupt:call; slow:didBecomeActive:1s; wait:10s")
    withExtendedLifetime(subscription) {}
    #expect(watch.complaints.map(\.kind) == [.overrun])
  }

  @Test func `allows the overrun of a handler that a slow call has left no time`() async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    let subscription = system.bus.receive(Application.DidEnterBackground.self, label: "save") {
      [clock = system.clock] _ in try await clock.sleep(for: .seconds(3))
    }
    try await system.play("launch; slow:didEnterBackground:4s; home")
    withExtendedLifetime(subscription) {}
    #expect(system.application.ledger.overruns.count == 1)
    #expect(await watch.end() == [])
  }

  @Test func `allows it after a background task of the same name was not ended`() async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    let clock = system.clock
    system.addAction("begin") { [application = system.application] in
      _ = application.beginBackgroundTask(named: "save")
    }
    try await system.play("launch; do:begin; host:end")
    #expect(system.application.state == .notRunning && watch.complaints.map(\.kind) == [.backgroundTask])
    let subscription = system.bus.receive(Application.DidEnterBackground.self, label: "save") { _ in
      try await clock.sleep(for: .seconds(3))
    }
    try await system.play("launch; slow:didEnterBackground:4s; home")
    withExtendedLifetime(subscription) {}
    #expect(watch.complaints.map(\.kind) == [.backgroundTask])
  }

  @Test(arguments: ["quit", "the last window"])
  func `does not complain of a program that ends itself, and takes its time`(cause: String) async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    let clock = system.clock
    try system.application.manage("store", while: .running) {
    } release: {
      try? await clock.sleep(for: .seconds(1))
    }
    system.addAction("end") { [unowned system] in
      system.application.shutDown(status: 1, cause: LifecycleCause(rawValue: cause))
    }
    try await system.play("launch; do:end; memory; kill; wait:5s")
    #expect(system.hasEndedInOrder && system.application.exitStatus == 1)
    #expect(await watch.end() == [])
  }

  @Test func `does not complain of a handler that heeds its cancellation, nor of a task that throws`() async throws {
    struct Lost: Error {}
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    system.bus.subscribe(to: Application.DidBecomeActive.self, for: watch) { _, _ in throw CancellationError() }
    try await system.play("launch")
    let task = system.application.task { throw Lost() }
    await #expect(throws: Lost.self) { try await task.value }
    let entries = system.application.ledger.entries.filter { $0.kind == .task }
    #expect(entries.map(\.outcome) == [.failed("Lost()")])
    #expect(await watch.end() == [])
  }

  @Test func `takes code that outlives its process for no fault of the life cycle`() async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    let task = system.application.beginBackgroundTask(named: "early")
    task.end()
    task.end()
    for _ in 0...1_001 { system.application.beginBackgroundTask(named: "early").end() }
    try await system.play("launch")
    #expect(await watch.end().allSatisfy { $0.kind != .lifecycle })
  }

  @Test func `says each fault once, and where it was found first`() async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    let wrong = LifecycleRecord(instant: .zero, kind: .state, name: "active", state: .active, cause: "launch")
    watch.examine([wrong, wrong])
    let complaint = try #require(watch.complaints.first)
    #expect(complaint.kind == .lifecycle)
    #expect(complaint.message == "notRunning does not lead to active")
    #expect(complaint.place?.hasPrefix("record 1, ") == true)
    #expect(Set(watch.complaints.map(\.message)).count == watch.complaints.count)
  }

  @Test func `complains of what was held when the application had ended`() async throws {
    let system = SimulatedSystem()
    let watch = RunWatch(system)
    try await system.play("launch")
    watch.resources.take(.held, of: "socket")
    #expect(
      await watch.end() == [RunComplaint(.resource, "“socket” was still held after the application had ended in order")]
    )
  }

  @Test func `says the kind, the fault and the place in one line`() {
    #expect("\(RunComplaint(.escapedWork, "a"))" == "escaped work: a")
    #expect("\(RunComplaint(.lifecycle, "a", at: "b"))" == "life cycle: a (b)")
  }
}

@Suite struct `What the application holds` {
  private func complaints(_ changes: [(ResourceStatus, String)]) -> [String] {
    var resources = HeldResources()
    for (status, name) in changes { resources.take(status, of: name) }
    return resources.takeComplaints().map(\.message) + resources.loseProcess()
  }

  @Test func `is in order if each acquire has its release`() {
    #expect(complaints([(.acquiring, "a"), (.held, "a"), (.releasing, "a"), (.acquiring, "a"), (.idle, "a")]) == [])
    // A cancelled acquire that succeeded all the same.
    #expect(complaints([(.acquiring, "a"), (.releasing, "a"), (.idle, "a")]) == [])
  }

  @Test func `is not acquired twice`() {
    #expect(
      complaints([(.held, "a"), (.held, "a"), (.releasing, "a")]) == ["“a” was acquired while it was already held"])
  }

  @Test func `does not vanish without a release, unless the process does`() {
    #expect(complaints([(.held, "a"), (.idle, "a"), (.held, "b")]) == ["a", "b"])
  }
}

@Suite struct `A balance` {
  private func messages(_ body: (ResourceBalance) -> Void) -> [String] {
    let balance = ResourceBalance()
    body(balance)
    return balance.takeComplaints().map(\.message)
  }

  @Test func `allows as many as are said to be allowed`() {
    #expect(messages { balance in for _ in 0..<3 { balance.opened("a", atMost: 3) } } == [])
    let said = messages { balance in for _ in 0..<3 { balance.opened("a", atMost: 2) } }
    #expect(said == ["“a” was opened while 2 were already open"])
  }

  @Test func `of a lost process may be closed by what remains of it, and no more often`() {
    let said = messages { balance in
      balance.opened("a")
      balance.loseProcess()
      #expect(balance.open == [:])
      balance.closed("a")
      balance.closed("a")
    }
    #expect(said == ["“a” was closed while it was not open"])
  }
}
