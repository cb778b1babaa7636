import AppLifecycle
import AppLifecycleTesting
import Observation
import SavedState
import TestTraits
import Testing

/// When state is restored, and when it is not.
@MainActor @Suite(.timeLimit(.hang)) struct RestoringStepsTests {
  private static let setAside = RestorationOutcome.setAside(
    path: "saved-state.crashed",
    reason: "the process that had restored it crashed before it had been up for 5.0 seconds", usesPrevious: false)

  @Test("a draft is found after the application was reclaimed in the background") func reclaimed() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; home; wait:1d; reclaim; launch")
    #expect(device.draft == "a" && device.probe.outcomes == [.restored])
  }

  @Test("a launch into the background restores") func background() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; kill; launch:background")
    #expect(device.draft == "a" && device.probe.outcomes == [.restored])
    try await device.play("open")
    #expect(device.draft == "a" && device.probe.outcomes == [.restored])
  }

  @Test("state that the delegate refuses stays until the next save") func refused() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; kill")
    device.plan.mayRestore = false
    try await device.play("launch")
    #expect(device.draft == "" && device.probe.outcomes == [.refused])
    device.plan.mayRestore = true
    try await device.play("home; open; kill; launch")
    #expect(device.draft == "a" && device.probe.outcomes == [.restored])
    try await device.play("kill")
    device.plan.mayRestore = false
    try await device.play("launch; do:type; do:type; kill")
    device.plan.mayRestore = true
    try await device.play("launch")
    #expect(device.draft == "aa")
  }

  @Test("a crash soon after the restoration sets the state aside, once") func earlyCrash() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; kill; launch; wait:4999ms; crash; launch")
    #expect(device.draft == "" && device.probe.outcomes == [Self.setAside])
    #expect(device.state.outcome == Self.setAside)
    try await device.play("do:type; do:type; interrupt:call; crash; launch")
    #expect(device.draft == "aa" && device.probe.outcomes == [.restored])
  }

  @Test(
    "other ends set nothing aside",
    arguments: [
      "launch; wait:5s; crash", "launch; interrupt:call; wait:1m; end:call; wait:5s; crash", "launch; kill",
      "launch; home; suspend; kill", "launch; home; suspend; reclaim", "launch; home; suspend; crash",
      "launch; do:type; slow:didEnterBackground:6s; home", "launch; wait:5s; home; wait:1s; open; crash",
    ])
  func otherEnds(end: String) async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; kill; \(end)")
    try #require(device.application.state == .notRunning)
    try await device.play("launch")
    #expect(device.draft?.hasPrefix("a") == true && device.probe.outcomes == [.restored])
  }

  @Test(
    "a process that is launched into the background settles there, and anew in the foreground",
    arguments: [
      ("wait:4999ms; crash", true), ("wait:5s; crash", false), ("wait:31s; do:type; wait:31s; crash", false),
      ("wait:5s; open; wait:4s; crash", true), ("wait:5s; open; wait:5s; crash", false),
      ("wait:5s; open; wait:5s; home; wait:1s; open; crash", false),
    ])
  func backgroundLaunch(end: String, isBlamed: Bool) async throws {
    let device = ProbeDevice(stay: .seconds(3_600))
    try await device.play("launch; do:type; kill; launch:background; \(end)")
    try #require(device.application.state == .notRunning)
    try await device.play("launch")
    #expect(device.probe.outcomes == [isBlamed ? Self.setAside : .restored])
    #expect(device.draft?.hasPrefix("a") == !isBlamed)
  }

  @Test("time in a break or in the background does not settle", arguments: ["interrupt:call", "home"])
  func notSettled(step: String) async throws {
    let device = ProbeDevice()
    try await device.play(
      "launch; do:type; kill; launch; wait:3s; \(step); wait:4s; open; end:call; wait:3s; crash; launch")
    #expect(device.probe.outcomes == [Self.setAside])
  }

  @Test("state that is first used while the application is active settles, too") func lateUse() async throws {
    let device = ProbeDevice { _, _ in }
    func draft() throws -> SavedValue<String> { try device.state.value("draft", default: "") }
    try await device.play("launch; wait:1m")
    try draft().value = "a"
    try await device.play("kill; launch; wait:1m")
    #expect(try draft().value == "a")
    try await device.play("wait:5s; crash; launch")
    #expect(try draft().value == "a" && device.state.outcome == .restored)
  }

  @Test("keeping state reads no observable property, after which each change would cost more") func cost() async throws
  {
    let device = ProbeDevice()
    try await device.play("launch")
    device.probe.draft?.value = "a"
    try await device.play("home; wait:1s; open; wait:6s; interrupt:call; end:call")
    #expect(device.disk.writes == 1 && device.draft == "a" && !device.application.isObserved)
    _ = device.application.state
    #expect(device.application.isObserved)
  }

  @Test("what holds the state of an ended process notes nothing for the next") func heldBeyondTheEnd() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; interrupt:call; end:call; wait:1s")
    let (old, oldDraft) = (device.state, device.probe.draft)
    try await device.play("crash; launch; wait:4500ms")
    oldDraft?.value = "old"
    #expect(old.outcome == .nothingThere && device.probe.outcomes == [.restored] && device.draft == "a")
    try await device.play("interrupt:call; crash; launch")
    #expect(device.probe.outcomes == [Self.setAside])
  }

  @Test("a process that keeps no state is not accused of a crash") func crashOfAnother() async throws {
    let device = ProbeDevice()
    try await device.play("launch; do:type; kill; launch; home; suspend; reclaim")
    let keeps = device.plan.willFinishLaunching
    device.plan.willFinishLaunching = { _, _ in }
    device.plan.keepsState = false
    try await device.play("launch; crash")
    device.plan.willFinishLaunching = keeps
    device.plan.keepsState = true
    try await device.play("launch")
    #expect(device.draft == "a" && device.probe.outcomes == [.restored])
  }

  @Test("observers learn of restored and of changed values") func observation() async throws {
    var changes: [String] = []
    let device = ProbeDevice { probe, application in
      guard let draft = try? application.savedState.value("draft", default: "") else { return }
      probe.draft = draft
      withObservationTracking {
        _ = draft.value
      } onChange: {
        MainActor.assumeIsolated { changes.append("value was \(draft.value)") }
      }
    }
    try await device.play("launch")
    #expect(changes == [])
    try await device.play("do:type")
    #expect(changes == ["value was "])
    let state = device.state
    withObservationTracking {
      _ = state.problem
    } onChange: {
      MainActor.assumeIsolated { changes.append("problem") }
    }
    try await device.play("fail:save; home")
    #expect(changes.last == "problem")
    try await device.play("open; interrupt:call; kill; launch")
    #expect(changes == ["value was ", "problem", "value was "] && device.draft == "a")
  }
}
