import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import PubSub
import SavedState
import Scheduling
import TestTraits
import Testing

/// When state is saved, and what is saved then.
@MainActor @Suite(.timeLimit(.hang)) struct SavingStepsTests {
  @Test("the step to the background saves what its handlers and releases write, and what they make")
  func background() async throws {
    var late: SavedValue<Int>?
    let device = ProbeDevice { probe, application in
      let draft = try? application.savedState.value("draft", default: "")
      probe.draft = draft
      application.bus.subscribe(to: Application.DidEnterBackground.self, for: probe) { probe, _ in
        probe.draft?.value += "h"
      }
      let clock = application.clock
      application.bus.receive(Application.DidEnterBackground.self, for: probe) { probe, _ in
        try await clock.sleep(for: .seconds(1))
        probe.draft?.value += "s"
      }
      _ = try? application.manage("page", while: .foreground) {
        "a page"
      } release: { _ in
        try? await clock.sleep(for: .seconds(1))
        draft?.value += "r"
        late = try? application.savedState.value("late", default: 0)
        late?.value += 1
      }
    }
    try await device.play("launch; home")
    #expect(device.disk.writes == 1)
    try await device.play("suspend; reclaim; launch")
    #expect(device.draft == "hsr")
    #expect(try device.state.value("late", default: 0).value == 1)
  }

  @Test("the first use of state in a handler of DidEnterBackground is saved in that step") func firstUse() async throws
  {
    let device = ProbeDevice { probe, application in
      let clock = application.clock
      application.bus.receive(Application.DidEnterBackground.self, for: probe) { _, _ in
        try await clock.sleep(for: .seconds(1))
        try application.savedState.value("late", default: 0).value = 7
      }
    }
    try await device.play("launch; home; suspend; reclaim; launch")
    #expect(try device.state.value("late", default: 0).value == 7)
  }

  @Test("the end saves what handlers of WillTerminate write", arguments: ["kill", "quit", "home; wait:1s; kill"])
  func end(end: String) async throws {
    let device = ProbeDevice { probe, application in
      probe.draft = try? application.savedState.value("draft", default: "")
      application.bus.subscribe(to: Application.WillTerminate.self, for: probe) { probe, _ in probe.draft?.value += "t"
      }
    }
    try await device.play("launch; \(end); launch")
    #expect(device.draft == "t")
  }

  @Test("unchanged state is not written, nor is a value that is set to what it was") func unchanged() async throws {
    let device = ProbeDevice()
    try await device.play("launch; home; open; wait:1h; home; open; kill; launch; do:type; home; open")
    #expect(device.disk.writes == 1)
    device.probe.draft?.value = "a"
    try await device.play("home; open; wait:1h; home; open; kill; launch; kill")
    #expect(device.disk.writes == 1)
  }

  @Test("an autosave comes an interval after the first change, and not without one") func autosave() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; wait:29s; do:type")
    #expect(device.disk.writes == 0)
    try await device.play("wait:1s")
    #expect(device.disk.writes == 1)
    try await device.play("wait:10m; do:type; do:type; wait:29s; do:type")
    #expect(device.disk.writes == 1)
    try await device.play("wait:1s; wait:1h; crash; launch")
    #expect(device.disk.writes == 2 && device.draft == "aaaaa")
  }

  @Test("a value that is set before the restoration is saved by itself") func earlyChange() async throws {
    let device = ProbeDevice { probe, application in
      probe.draft = try? application.savedState.value("draft", default: "")
      probe.draft?.value = "early"
    }
    try await device.play("launch; wait:30s")
    #expect(device.disk.writes == 1)
    try await device.play("do:type; wait:30s; crash; launch")
    #expect(device.draft == "earlya")
  }

  @Test("a break saves") func resigning() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; interrupt:call")
    #expect(device.disk.writes == 1)
    try await device.play("crash; launch")
    #expect(device.draft == "a")
  }

  @Test("a save that fails is tried again after the interval, and its reason is known until then")
  func failure() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; fail:save; wait:30s; do:type")
    #expect(device.disk.writes == 0)
    #expect(
      device.state.problem == .notWritten(path: "saved-state", reason: "No space left on device"))
    try await device.play("wait:30s")
    #expect(device.disk.writes == 1 && device.state.problem == nil)
    try await device.play("crash; launch")
    #expect(device.draft == "aa")
  }

  @Test("the delegate refuses to save, and is asked again") func refusal() async throws {
    let device = ProbeDevice()
    device.plan.maySave = false
    try await device.play("launch; do:type; home; open; wait:30s")
    let answer = device.save()
    try await device.play("wait:0s")
    #expect(answer.text == "the state is not saved: the delegate refused it")
    #expect(device.disk.writes == 0)
    device.plan.maySave = true
    try await device.play("wait:30s")
    #expect(device.disk.writes == 1)
  }

  @Test("an overrun that does not end the process saves at once, in spite of a save that runs")
  func overrun() async throws {
    let device = ProbeDevice()
    device.application.enforcesBudgets = false
    try await device.play("launch; do:type; wait:1s; slow:save:3s; interrupt:call")
    #expect(device.disk.writes == 0)
    try await device.play("do:type; slow:didEnterBackground:6s; home")
    #expect(device.disk.writes == 2)
    try await device.play("wait:10s; crash; launch")
    #expect(device.disk.writes == 2 && device.draft == "aa")
  }

  @Test("a save that is under way when the budget ends is not lost", arguments: ["home; crash", "quit"])
  func lateSave(end: String) async throws {
    let device = ProbeDevice()
    device.application.enforcesBudgets = false
    try await device.play("launch; do:type; slow:save:6s; \(end); launch")
    #expect(device.draft == "a")
  }

  @Test(
    "what changes in the background is saved before the process is suspended",
    arguments: [
      ("launch; home; do:type; wait:1d; reclaim", 1), ("launch:background; do:type; wait:1d; reclaim", 1),
      ("launch; home; suspend; wake; do:type; suspend; kill", 1), ("launch; do:type; home; wait:1d; reclaim", 1),
      ("launch; home; do:type; slow:save:1s; do:save; suspend; reclaim", 1), ("launch; home; wait:1d; reclaim", 0),
    ])
  func suspension(script: String, writes: Int) async throws {
    let device = ProbeDevice()
    device.system.addAction("save") { _ = device.save() }
    try await device.play("\(script); launch")
    #expect(device.disk.writes == writes && device.draft == (writes > 0 ? "a" : ""))
  }

  @Test("each of several problems is told once, as long as it lasts") func alternatingProblems() async throws {
    let failures = Guarded<[String]>([])
    var told: [String] { failures.withLock(\.self) }
    let device = ProbeDevice { probe, application in
      probe.draft = try? application.savedState.value("draft", default: "")
      try? application.savedState.value("ratio", default: 0.0).value = .nan
      application.bus.subscribe(to: EventBus.HandlerFailure.self, for: probe) { _, failure in
        failures.withLock { $0.append(String(describing: failure.error)) }
      }
    }
    device.disk.isFull = true
    try await device.play("launch; do:type; wait:10m")
    #expect(told.count == 2 && Set(told).count == 2, "\(told)")
    device.disk.isFull = false
    try await device.play("wait:1m")
    #expect(device.disk.writes == 1)
    device.disk.isFull = true
    try await device.play("do:type; wait:10m")
    // The disk is full anew, and what cannot be encoded has lasted.
    #expect(told.count == 3 && told[2].contains("No space left"), "\(told)")
  }

  @Test(
    "a save that fails is not tried again at once, whatever the interval",
    arguments: [Duration.zero, .seconds(-1)])
  func noInterval(interval: Duration) async throws {
    let device = ProbeDevice()
    device.plan.configuration.autosaveInterval = interval
    device.disk.isFull = true
    try await device.play("launch; do:type; wait:10s")
    #expect((2...12).contains(device.disk.attempts), "\(device.disk.attempts)")
    device.disk.isFull = false
    try await device.play("wait:1s; crash; launch")
    #expect(device.draft == "a")
  }

  @Test("the save of an overrun asks the delegate, too") func refusedOverrun() async throws {
    let device = ProbeDevice()
    device.application.enforcesBudgets = false
    device.plan.maySave = false
    try await device.play("launch; do:type; slow:didEnterBackground:6s; home")
    #expect(device.disk.writes == 0)
  }

  @Test("on a clock that cannot sleep a refused save is not asked for again and again") func refusalWithoutPauses()
    async throws
  {
    let clock = SleeplessClock()
    let plan = Probe.Plan()
    let delegate = Probe(plan)
    let application = Application(delegate: delegate, clock: clock)
    application.stateStorage = CountingStorage(SimulatedStateStorage())
    plan.maySave = false
    await application.handle(.launch)
    delegate.draft?.value = "a"
    await #expect(throws: SavedStateError.notKept(reason: "the delegate refused it")) {
      try await application.savedState.save()
    }
    await application.handle(.home)
    for _ in 0..<1_000 { await Task.yield() }
    #expect(clock.sleeps < 10)
  }
}
