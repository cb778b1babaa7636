import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// One budget covers the step that several scenes take together.
@MainActor @Suite(.timeLimit(.hang)) struct `The budget of several scenes` {
  private let system = SimulatedSystem(profile: .scenes)
  private var clock: ManualClock { system.clock }
  private var reports: [String] { system.record.filter { $0.kind == .report }.map(\.name) }

  /// Waits in one window's handler.
  private func subscribe(_ window: String, _ name: String, asleepFor seconds: Double) -> EventBus.Subscription {
    system.bus.receive(Application.Scene.DidEnterBackground.self, label: name) { [clock] event in
      if event.scene.identifier.rawValue == window { try await clock.sleep(for: .seconds(seconds)) }
    }
  }

  /// Keeps the main actor busy in one window's handler.
  private func subscribe(_ window: String, _ name: String, busyFor seconds: Double) -> EventBus.Subscription {
    system.bus.subscribe(to: Application.Scene.DidEnterBackground.self, label: name) { [clock] event in
      if event.scene.identifier.rawValue == window { clock.passWithoutWaking(.seconds(seconds)) }
    }
  }

  @Test func `slow handlers of two scenes sum up, and the one that uses up the last of it is named`() async throws {
    let subscriptions = [subscribe("main", "first", busyFor: 3), subscribe("right", "second", busyFor: 3)]
    try await system.play("launch; scene:open:right; scene:background:right; wait:10s")
    #expect(reports.isEmpty, "each has its time if it goes alone")
    try await system.play("scene:open:right; home")
    withExtendedLifetime(subscriptions) {}
    #expect(reports == ["watchdog:second"])
    #expect(system.application.state == .notRunning)
    let page = try #require(system.application.ledger.transitions.last)
    #expect(
      page.overruns == [BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["second"])])
    let slow = page.entries.filter { $0.kind == .subscriber && $0.duration > .zero }
    #expect(slow.map(\.name) == ["first", "second"])
    #expect(slow.map(\.duration) == [.seconds(3), .seconds(3)])
    #expect(slow.map(\.outcome) == [.completed, .overran])
  }

  @Test func `the scene whose delegate uses up the last of it is named`() async throws {
    let delegate = SlowWindows()
    let system = SimulatedSystem(profile: .scenes) { delegate }
    delegate.clock = system.clock
    try await system.play("launch; scene:open:right; home")
    #expect(system.record.filter { $0.kind == .report }.map(\.name) == ["watchdog:sceneDidEnterBackground"])
    let entry = try #require(system.application.ledger.late.first)
    #expect(entry.name == "sceneDidEnterBackground (right)" && entry.duration == .seconds(3))
  }

  @Test func `asynchronous handlers of two scenes run side by side and are late together`() async throws {
    let subscriptions = [
      subscribe("main", "first", asleepFor: 4), subscribe("right", "second", asleepFor: 4),
    ]
    try await system.play("launch; scene:open:right; home; open")
    #expect(reports.isEmpty)
    #expect(clock.now.offset == .seconds(4), "side by side")
    let late = [subscribe("main", "third", asleepFor: 60), subscribe("right", "fourth", asleepFor: 60)]
    try await system.play("scene:open:right; home")
    withExtendedLifetime((subscriptions, late)) {}
    // The third has not begun with the other window, as it is busy still: it is named once.
    #expect(reports == ["watchdog:third", "watchdog:fourth"])
    let entries = system.application.ledger.transitions.last?.entries ?? []
    #expect(entries.filter { $0.name == "third" }.map(\.outcome) == [.overran, .cutShort])
    #expect(clock.now.offset == .seconds(9))
  }

  @Test func `what one scene does synchronously is taken from the other's asynchronous handlers`() async throws {
    let subscriptions = [subscribe("main", "first", busyFor: 3), subscribe("right", "second", asleepFor: 3)]
    try await system.play("launch; scene:open:right; home")
    withExtendedLifetime(subscriptions) {}
    #expect(reports == ["watchdog:second"])
    #expect(system.record.last?.instant == .seconds(5))
  }

  @Test func `a scene that goes to the background alone has the budget, too`() async throws {
    let subscription = subscribe("right", "late", asleepFor: 60)
    try await system.play("launch; scene:open:right; scene:background:right")
    withExtendedLifetime(subscription) {}
    #expect(reports == ["watchdog:late"])
    #expect(system.record.last?.instant == .seconds(5))
    #expect(system.application.state == .notRunning)
  }
}

/// Each window's didEnterBackground takes three seconds.
@MainActor private final class SlowWindows {
  weak var clock: ManualClock?
}

extension SlowWindows: ApplicationDelegate {
  func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? { self }
}

extension SlowWindows: SceneDelegate {
  func sceneDidEnterBackground(_ scene: Application.Scene) { clock?.passWithoutWaking(.seconds(3)) }
}
