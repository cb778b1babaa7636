import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import PubSub
import SavedState
import TestTraits
import Testing

/// Where a program drops the application, and the state with it.
enum Drop: CaseIterable {
  case inRefusal, inAgreement, inReport
}

@MainActor final class Dropping: SavedStateDelegate {
  let drop: Drop
  var application: Application?
  var draft: SavedValue<String>?
  let savedStateConfiguration = SavedState.Configuration(autosaveInterval: .zero)

  init(_ drop: Drop) { self.drop = drop }
}

extension Dropping {
  func applicationShouldSaveState(_ application: Application) -> Bool {
    if drop != .inReport { self.application = nil }
    return drop != .inRefusal
  }
}

/// Saves that take time, and what happens meanwhile.
@MainActor @Suite(.timeLimit(.hang)) struct OverlappingSavesTests {
  @Test("save() returns when the state is written, and at once if nothing has changed") func acknowledges() async throws
  {
    let device = ProbeDevice()
    try await device.play("launch; do:type; slow:save:2s")
    let answer = device.save()
    try await device.play("wait:1999ms")
    #expect(answer.text == nil && device.disk.writes == 0)
    try await device.play("wait:1ms")
    #expect(answer.text == "saved" && device.disk.writes == 1)
    let other = device.save()
    try await device.play("wait:0s")
    #expect(other.text == "saved" && device.disk.writes == 1)
    try await device.play("crash; launch")
    #expect(device.draft == "a")
  }

  @Test("save() throws why the state was not written, and the state before stays") func throwing() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; interrupt:call; end:call; do:type; fail:save")
    let answer = device.save()
    try await device.play("wait:0s")
    #expect(answer.text == "saved-state: No space left on device; the state is not saved")
    try await device.play("crash; launch")
    #expect(device.draft == "a")
  }

  @Test("a save that is asked for during a save has what was changed meanwhile") func second() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; slow:save:2s")
    let first = device.save()
    try await device.play("wait:1s; do:type")
    let second = device.save()
    try await device.play("slow:save:3s; wait:1s")
    #expect(first.text == "saved" && second.text == nil && device.disk.writes == 1)
    try await device.play("wait:3s")
    #expect(second.text == "saved" && device.disk.writes == 2)
    try await device.play("crash; launch")
    #expect(device.draft == "aa")
  }

  @Test("a change during a save that fails is saved with the rest") func changeDuringFailure() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; slow:save:2s; fail:save")
    let answer = device.save()
    try await device.play("wait:1s; do:type; wait:1s")
    #expect(answer.text != "saved" && answer.text != nil)
    try await device.play("wait:29s; crash; launch")
    #expect(device.draft == "aa" && device.disk.writes == 1)
  }

  @Test("a save that the report of a failed one begins at once ends, and so does one that waited") func nested()
    async throws
  {
    let device = ProbeDevice()
    try await device.play("launch; do:type; slow:save:2s; fail:save")
    let failing = device.save()
    let nested = ProbeDevice.Answer()
    let state = device.state
    let subscription = device.application.bus.subscribe(to: EventBus.HandlerFailure.self) { _ in
      MainActor.assumeIsolated { state.saveBeforeLeaving { nested.text = "ended" } }
    }
    try await device.play("wait:1s; do:type")
    let waiting = device.save()
    try await device.play("slow:save:3s; wait:1s; do:type")
    // Nothing is written yet.
    #expect(failing.text != nil && waiting.text == nil && nested.text == nil)
    try await device.play("wait:10s")
    #expect(failing.text != "saved")
    #expect(nested.text == "ended" && waiting.text == "saved" && device.disk.writes == 2)
    try await device.play("crash; launch")
    #expect(device.draft == "aaa")
    withExtendedLifetime(subscription) {}
  }

  @Test("a process that is lost during a save writes nothing more, and ends every wait")
  func lost() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; slow:save:2s")
    let running = device.save()
    try await device.play("wait:1s; do:type")
    let waiting = device.save()
    // Held beyond its process, as by a part of the program that is never released.
    let old = device.state
    try await device.play("wait:0s; crash; launch; do:type; wait:10s")
    #expect(old.outcome == .nothingThere)
    #expect(device.disk.writes == 0 && device.draft == "a")
    #expect(running.text == "the state is not saved: the process has ended")
    #expect(waiting.text == running.text)
  }

  @Test("the user who returns during a save finds the program after it, with nothing lost") func comesBack()
    async throws
  {
    let device = ProbeDevice()
    try await device.play("launch; do:type; slow:save:2s; home; open; do:type")
    #expect(device.disk.writes == 1 && device.application.state == .active)
    try await device.play("interrupt:call; crash; launch")
    #expect(device.draft == "aa")
  }

  @Test("a save that is later than the budget is an overrun, which the script has asked for") func overrun()
    async throws
  {
    let device = ProbeDevice()
    let watch = RunWatch(device.system)
    try await device.play("launch; do:type; slow:save:6s; home")
    #expect(device.application.state == .notRunning)
    #expect(device.system.record.contains { $0.name == "watchdog:saved state" })
    #expect(device.disk.writes == 0)
    #expect(watch.complaints == [])
  }

  @Test("a save within the budget is none", arguments: ["home", "kill"]) func inTime(end: String) async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; slow:save:4s; \(end)")
    #expect(!device.system.record.contains { $0.kind == .report })
    #expect(device.disk.writes == 1)
  }

  @Test("a handler that is late for another reason than a slow save is a complaint") func otherOverrun() async throws {
    let device = ProbeDevice { probe, application in
      probe.draft = try? application.savedState.value("draft", default: "")
      let clock = application.clock
      application.bus.receive(Application.DidEnterBackground.self, for: probe, label: "late") { _, _ in
        try await clock.sleep(for: .seconds(10))
      }
    }
    let watch = RunWatch(device.system)
    try await device.play("launch; do:type; slow:save:1s; interrupt:call; wait:1s; end:call; home")
    #expect(watch.complaints.map(\.kind) == [.overrun])
  }

  @Test("a failure that the script asks for is no complaint; another problem of saved state is one")
  func complaints() async throws {
    let device = ProbeDevice { probe, application in
      probe.draft = try? application.savedState.value("draft", default: "")
      application.bus.receive(Application.DidEnterBackground.self, for: probe) { _, _ in
        try await application.savedState.save()
      }
    }
    let watch = RunWatch(device.system)
    try await device.play("launch; do:type; fail:save; home; open; crash; launch; do:type; home; open; crash; launch")
    #expect(device.probe.outcomes.count == 1)
    #expect(watch.complaints == [])
    try device.state.value("number", default: 0.0).value = .nan
    try await device.play("home")
    #expect(watch.complaints.map(\.kind).contains(.handler))
  }

  @Test("code of the program may drop the application in a save", arguments: Drop.allCases) func dropped(drop: Drop)
    async throws
  {
    let delegate = Dropping(drop)
    weak var application: Application?
    let disk = CountingStorage(SimulatedStateStorage())
    disk.isFull = drop == .inReport
    do {
      let made = Application(delegate: delegate)
      (application, delegate.application) = (made, made)
      made.stateStorage = disk
      await made.handle(.launch)
      delegate.draft = try made.savedState.value("draft", default: "")
      made.bus.subscribe(to: SavedState.ProblemDidChange.self, for: delegate) { delegate, _ in
        delegate.application = nil
      }
    }
    delegate.draft?.value = "a"
    let attempts = drop == .inRefusal ? 0 : 1
    while application != nil || disk.attempts < attempts { await Task.yield() }
    #expect(delegate.application == nil && disk.attempts == attempts)
  }
}
