import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) @MainActor struct `An action of the test's own` {
  private let system = SimulatedSystem()

  @Test func `is played, with all resulting work, and recorded like any other`() async throws {
    var text = ""
    system.addAction("type") { [application = system.application] in
      application.task { text += "a" }
    }
    let records = try await system.play("launch; do:type; wait:1s; do:type")
    #expect(text == "aa")
    #expect(records.last?.kind == .input && records.last?.name == "do:type" && records.last?.cause == "do:type")
    #expect(system.record.violations.isEmpty)
    #expect(try Script(replaying: system.record).actions.map(\.token) == ["launch", "do:type", "wait:1s", "do:type"])
  }

  @Test func `is ignored while no code runs, unless it happens outside`() async throws {
    var (typed, failed) = (0, 0)
    system.addAction("type") { typed += 1 }
    system.addAction("outage", always: true) { failed += 1 }
    let records = try await system.play("do:type; do:outage; launch; home; do:type; suspend; do:type; do:outage")
    #expect(records.compactMap(\.reason) == ["the application is not running", "the application is suspended"])
    #expect(typed == 1 && failed == 2)
  }

  @Test func `wakes what was due during the slow call of an input that it sends`() async throws {
    let clock = system.clock
    var lines: [String] = []
    system.addAction("sleep") { [application = system.application] in
      application.task {
        try await clock.sleep(for: .seconds(1))
        lines.append("woke")
      }
    }
    system.addAction("leave") { [application = system.application] in application.send(.home) }
    system.addAction("look") { lines.append("look") }
    try await system.play("launch; do:sleep; slow:willResignActive:2s; do:leave; do:look")
    #expect(lines == ["woke", "look"])
  }

  @Test func `may end the application`() async throws {
    system.addAction("quit") { [application = system.application] in application.send(.terminate) }
    try await system.play("launch; do:quit")
    #expect(system.application.state == .notRunning && system.hasEndedInOrder)
  }

  @Test func `is a mistake in a text if it was not added`() async throws {
    let error = await #expect(throws: ScriptError.self) { try await system.play("launch; do:typo") }
    #expect(error?.description == "1:9: no action of the test for \"do:typo\": add it with SimulatedSystem.addAction")
    #expect(system.record.isEmpty)
    let records = try await system.play(try Script("launch; do:typo"))
    #expect(records.last?.reason == "no such action was added")
    #expect(throws: ScriptError.self) { try Script("do:") }
    #expect(throws: ScriptError.self) { try Script("do:two words") }
  }
}

@Suite(.timeLimit(.hang)) @MainActor struct `An end in order` {
  @Test(arguments: [
    "launch; kill", "launch; quit", "launch:background; kill", "launch; home; suspend; wake; kill",
    "launch; crash; launch; kill",
  ])
  func `is one with willTerminate`(script: String) async throws {
    for profile in [LifecycleProfile.application, .scenes] {
      let system = SimulatedSystem(profile: profile)
      try await system.play(script)
      #expect(system.hasEndedInOrder)
      try await system.play("launch")
      #expect(!system.hasEndedInOrder)
    }
  }

  @Test(arguments: [
    "", "launch", "launch; crash", "launch; home; suspend; kill", "launch; home; suspend; reclaim", "launch; reboot",
    "launch; slow:willTerminate:6s; kill", "launch; slow:didEnterBackground:6s; home",
    "launch; task:begin:upload; home; wait:1m", "launch; kill; launch; crash",
  ])
  func `is none without it, nor after an overrun`(script: String) async throws {
    let system = SimulatedSystem()
    try await system.play(script)
    #expect(!system.hasEndedInOrder)
  }
}
