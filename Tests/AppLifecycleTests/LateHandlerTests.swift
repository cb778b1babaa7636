import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import AppLifecycle

/// Handlers that end after their budget, but before the application names the late code.
@MainActor @Suite(.timeLimit(.hang)) struct `A handler that ends late` {
  @Test func `is named beside one that still runs`() async throws {
    let system = SimulatedSystem()
    let clock = system.clock
    let subscriptions = [
      system.bus.receive(Application.DidEnterBackground.self, label: "saver") { _ in
        try await clock.sleep(for: .milliseconds(4_900))
        clock.passWithoutWaking(.milliseconds(200))
      },
      system.bus.receive(Application.DidEnterBackground.self, label: "sender") { _ in
        try await clock.sleep(for: .seconds(60))
      },
    ]
    try await system.play("launch; home")
    withExtendedLifetime(subscriptions) {}
    #expect(system.application.ledger.late.map(\.name).sorted() == ["saver", "sender"])
    #expect(system.application.ledger.overruns.map { $0.culprits.sorted() } == [["saver", "sender"]])
    #expect(
      system.record.filter { $0.kind == .report }.map(\.name).sorted() == ["watchdog:saver", "watchdog:sender"])
  }
}
