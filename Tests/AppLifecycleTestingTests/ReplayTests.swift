import AppLifecycle
import PubSub
import TestTraits
import Testing

@testable import AppLifecycleTesting

/// The time that passes in a replay.
@Suite(.timeLimit(.hang)) @MainActor struct `The replay of a record` {
  /// A system whose way to the background takes two seconds.
  private func system() -> (SimulatedSystem, EventBus.Subscription) {
    let system = SimulatedSystem()
    let subscription = system.bus.receive(Application.DidEnterBackground.self) { [clock = system.clock] _ in
      try await clock.sleep(for: .seconds(2))
    }
    return (system, subscription)
  }

  @Test(arguments: ["launch; home; open", "launch; home; open; lock; unlock; home; fetch; kill", "launch; home"])
  func `has no wait that the record has not, though its work takes time`(script: String) async throws {
    let (first, firstHandler) = system()
    let (again, nextHandler) = system()
    let record = try await first.play(script)
    #expect(try await again.play(try Script(replaying: record)) == record)
    withExtendedLifetime((firstHandler, nextHandler)) {}
  }

  @Test func `waits to the millisecond, however long`() throws {
    for milliseconds in Swift.stride(from: 1, to: 100_000_000, by: 9_973) {
      let records = [("launch", Duration.zero), ("home", .milliseconds(milliseconds))].map {
        LifecycleRecord(instant: $1, kind: .input, name: $0, state: .active, cause: "test")
      }
      let script = try Script(replaying: records)
      #expect(script.actions.map(\.token) == ["launch", "wait:\(milliseconds)ms", "home"])
      guard script.actions.count == 3 else { return }
      let whole = script.actions[1].begun(at: .zero)
      #expect(whole?.token == script.actions[1].token)
    }
  }

  @Test func `plays each input at its time, whatever the work of the inputs before it takes`() async throws {
    let (system, handler) = system()
    func input(_ seconds: Double, _ name: String) -> LifecycleRecord {
      LifecycleRecord(
        instant: .seconds(seconds), kind: .input, name: name, state: .active, cause: LifecycleCause(rawValue: name))
    }
    try await system.clock.advance(by: .seconds(100))
    let script = try Script(replaying: [input(2, "launch"), input(5, "home"), input(6, "open"), input(10, "home")])
    let record = try await system.play(script)
    let inputs = record.filter { $0.kind == .input }
    #expect(
      inputs.map { "\($0.name) \($0.instant / .seconds(1) - 100)" } == [
        "launch 0.0", "wait:3000ms 0.0", "home 3.0", "open 5.0", "wait:3000ms 5.0", "home 8.0",
      ])
    // The record of a replay is one of a simulator, with its waits.
    #expect(try Script(replaying: record).actions.map(\.token) == inputs.map(\.name))
    withExtendedLifetime(handler) {}
  }
}
