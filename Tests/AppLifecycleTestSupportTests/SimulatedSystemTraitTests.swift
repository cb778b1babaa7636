import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@MainActor private final class NamedDelegate: ApplicationDelegate {
  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.willTerminateBudget = .seconds(20)
    return configuration
  }
}

@Suite(.timeLimit(.hang)) @MainActor struct `The trait of a simulated system` {
  @Test(.simulatedSystem, arguments: 1...3)
  func `gives each case a system of its own`(number: Int) async throws {
    let system = try SimulatedSystem.current
    #expect(system.record.isEmpty)
    #expect(try SimulatedSystem.current === system)
    try await system.play("launch")
    #expect(system.application.state == .active)
  }

  @Test func `is asked for where it is missing`() {
    let error = #expect(throws: NoSimulatedSystem.self) { try SimulatedSystem.current }
    #expect(throws: NoSimulatedSystem.self) { try ResourceBalance.current }
    #expect(error?.description.contains("@Test(.simulatedSystem)") == true)
  }

  @Test(.simulatedSystem(profile: .scenes, order: .seeded(7)) { NamedDelegate() })
  func `makes the system that it was asked for`() async throws {
    let system = try SimulatedSystem.current
    #expect(system.application.configuration.profile == .scenes)
    #expect(system.clock.executor.order == .seeded(7))
    #expect(system.application.delegate is NamedDelegate)
    #expect(system.application.configuration.willTerminateBudget == .seconds(20))
    try await system.play("launch; home; open")
    #expect(system.record.states.last == .active)
  }

  @Test(
    .simulatedSystem { balance in
      let system = SimulatedSystem()
      try system.application.manage("file", while: .running) {
        balance.opened("file")
      } release: {
        balance.closed("file")
      }
      return system
    })
  func `makes it as the test says, with a balance for doubles`() async throws {
    try await SimulatedSystem.current.play("launch")
    #expect(try ResourceBalance.current.open == ["file": 1])
  }

  @Test(.simulatedSystem(allowing: [.backgroundTask]))
  func `leaves out what is allowed`() async throws {
    try await SimulatedSystem.current.play("launch")
    try Mistake.leavesBackgroundTask.make(in: try SimulatedSystem.current, try ResourceBalance.current)
  }

  @Test(.simulatedSystem(allowing: [.handler]))
  func `leaves out the error of a handler if that is allowed`() async throws {
    try await SimulatedSystem.current.play("launch")
    try Mistake.throwsInHandler.make(in: try SimulatedSystem.current, try ResourceBalance.current)
    try await SimulatedSystem.current.play("home")
  }

  @Test(arguments: Mistake.allCases)
  func `fails a test by itself, at the place of the test`(mistake: Mistake) async throws {
    let test = try #require(Test.current)
    try await withKnownIssue {
      let trait: SimulatedSystemTrait = .simulatedSystem
      try await trait.provideScope(for: test, testCase: nil) {
        let system = try SimulatedSystem.current
        try await system.play("launch")
        try await mistake.make(in: system, try ResourceBalance.current)
      }
    } matching: { issue in
      issue.comments.contains { $0.rawValue.hasPrefix(mistake.complaint.description) }
        && issue.sourceLocation == test.sourceLocation
    }
  }

  @Test func `leaves a test that throws alone`() async throws {
    struct Failure: Error {}
    let test = try #require(Test.current)
    let trait: SimulatedSystemTrait = .simulatedSystem
    await #expect(throws: Failure.self) {
      try await trait.provideScope(for: test, testCase: nil) {
        let system = try SimulatedSystem.current
        try await system.play("launch")
        try await Mistake.leavesBackgroundTask.make(in: system, try ResourceBalance.current)
        throw Failure()
      }
    }
  }

  @Test func `asks nothing of an application that was never launched`() async throws {
    let test = try #require(Test.current)
    let trait: SimulatedSystemTrait = .simulatedSystem
    try await trait.provideScope(for: test, testCase: nil) {
      let application = try await SimulatedSystem.current.application
      await application.task { try await application.clock.sleep(for: .seconds(1)) }
    }
  }
}

@Suite(.simulatedSystem(profile: .scenes), .timeLimit(.hang)) @MainActor struct `A suite with the trait` {
  @Test(arguments: 1...2) func `has it for all its tests`(number: Int) async throws {
    let system = try SimulatedSystem.current
    #expect(system.record.isEmpty)
    #expect(system.application.configuration.profile == .scenes)
    try await system.play("launch")
  }

  @Test(.simulatedSystem(profile: .application)) func `leaves a test its own`() async throws {
    #expect(try SimulatedSystem.current.application.configuration.profile == .application)
  }

  @Suite @MainActor struct `and a suite in it` {
    @Test func `have it, too`() throws { #expect(try SimulatedSystem.current.record.isEmpty) }
  }
}
