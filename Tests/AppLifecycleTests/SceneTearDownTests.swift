import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// The tear-down of windows: their handlers and those of the application, within one budget for all scenes of a step.
@MainActor @Suite(.timeLimit(.hang)) struct `A tear-down of scenes` {
  private let system = SimulatedSystem(profile: .scenes)
  private let trace = Notes()
  private var application: Application { system.application }

  @MainActor private final class Notes {
    var lines: [String] = []
  }

  /// Notes when the asynchronous handler of a scene's event has ended, and how.
  private func subscribe<E: SceneEvent>(_: E.Type, taking seconds: Double) -> EventBus.Subscription {
    system.bus.receive(E.self, label: "\(E.callback) handler") { [trace, clock = system.clock] event in
      let scene = event.scene.identifier.rawValue
      do {
        try await clock.sleep(for: .seconds(seconds))
        trace.lines.append("\(scene) \(E.callback) ended at \(clock.now.offset / .seconds(1))")
      } catch {
        trace.lines.append("\(scene) \(E.callback) cancelled")
        throw error
      }
    }
  }

  /// Notes a call of a scene's delegate when it happens.
  private func noteCalls() -> ObserverToken {
    application.observe { [trace] event in
      guard let record = event.record, record.kind == .delegate else { return }
      trace.lines.append("\(record.scene ?? "application") \(record.name)")
    }
  }

  private var reports: [String] { system.record.filter { $0.kind == .report }.map(\.name) }

  /// One subscriber's handlers run one after another, those of several side by side.
  @Test func `awaits the handlers of every scene, then releases what the application holds`() async throws {
    let subscriptions = [
      subscribe(Application.Scene.WillDeactivate.self, taking: 1),
      subscribe(Application.Scene.DidEnterBackground.self, taking: 2),
    ]
    try application.manage("held", while: .foreground) {
    } release: { [trace] _ in
      trace.lines.append("released")
    }
    try await system.play("launch; scene:open:b; home")
    withExtendedLifetime(subscriptions) {}
    #expect(
      trace.lines == [
        "main willResignActive ended at 1.0", "main didEnterBackground ended at 2.0", "b willResignActive ended at 2.0",
        "b didEnterBackground ended at 4.0", "released",
      ])
    #expect(reports.isEmpty && application.state == .background)
  }

  @Test func `has one budget for all scenes of the step`() async throws {
    let subscription = subscribe(Application.Scene.DidEnterBackground.self, taking: 2.5)
    try await system.play("launch; scene:open:b; slow:sceneDidEnterBackground:3s; home")
    withExtendedLifetime(subscription) {}
    #expect(reports == ["watchdog:didEnterBackground handler"])
    #expect(system.clock.now.offset == .seconds(5) && application.state == .notRunning)
    #expect(application.scenes.isEmpty && system.record.violations == [])
  }

  @Test(arguments: ["sceneDidEnterBackground", "didEnterBackground"])
  func `names a scene's call that is slow, once the handlers of the step have returned`(call: String) async throws {
    try await system.play("launch; scene:open:b; slow:\(call):6s; home")
    #expect(reports == ["watchdog:sceneDidEnterBackground"])
    #expect(
      system.record.suffix(6).map { "\($0.name) \($0.scene ?? "")" } == [
        "sceneDidEnterBackground b", "UISceneDidEnterBackgroundNotification b", "background ",
        "UIApplicationDidEnterBackgroundNotification ", "watchdog:sceneDidEnterBackground ", "notRunning ",
      ])
    #expect(
      application.ledger.transitions.last?.entries.filter(\.isLate).map(\.name) == ["sceneDidEnterBackground (main)"])
  }

  @Test func `of one of several windows is awaited before that is disconnected`() async throws {
    let subscription = subscribe(Application.Scene.DidEnterBackground.self, taking: 2)
    let calls = noteCalls()
    defer { calls.cancel() }
    try await system.play("launch; scene:open:b")
    trace.lines = []
    try await system.play("scene:close:b")
    withExtendedLifetime(subscription) {}
    #expect(
      trace.lines == [
        "b sceneWillResignActive", "b sceneDidEnterBackground", "b didEnterBackground ended at 2.0",
        "b sceneDidDisconnect",
      ])
    #expect(application.state == .active && reports.isEmpty)
  }

  @Test(arguments: ["scene:background:b", "scene:close:b"])
  func `of one of several windows has the budget of didEnterBackground, too`(script: String) async throws {
    let subscription = subscribe(Application.Scene.DidEnterBackground.self, taking: 6)
    try await system.play("launch; scene:open:b; \(script)")
    withExtendedLifetime(subscription) {}
    #expect(reports == ["watchdog:didEnterBackground handler"])
    #expect(system.clock.now.offset == .seconds(5) && application.state == .notRunning)
    #expect(!system.record.callbacks.contains { $0.hasPrefix("sceneDidDisconnect") })
    #expect(system.record.violations == [])
  }

  @Test func `of a window that is closed ends its session, also where it is overrun`() async throws {
    try await system.play("launch; scene:open:b; slow:sceneDidEnterBackground:6s; scene:close:b")
    #expect(application.state == .notRunning && reports == ["watchdog:sceneDidEnterBackground"])
    #expect(application.openSessions.map(\.identifier) == ["main"])
  }

  @Test func `names a handler that is late for a window that was reclaimed, and the time that it had`() async throws {
    let subscription = subscribe(Application.Scene.DidDisconnect.self, taking: 60)
    try await system.play("launch; scene:connect:b; scene:reclaim:b; wait:6s")
    withExtendedLifetime(subscription) {}
    #expect(reports == ["watchdog:didDisconnect handler"] && application.state == .active)
    #expect(
      application.ledger.overruns == [
        BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["didDisconnect handler"])
      ])
  }

  @Test func `awaits the handlers of didDisconnect before the process ends`() async throws {
    let subscription = subscribe(Application.Scene.DidDisconnect.self, taking: 2)
    try await system.play("launch; scene:open:b; kill")
    withExtendedLifetime(subscription) {}
    #expect(trace.lines == ["main didDisconnect ended at 2.0", "b didDisconnect ended at 4.0"])
    #expect(reports.isEmpty && system.record.last?.instant == .seconds(4))
  }

  @Test func `names the handlers of didDisconnect that outlast the process's end`() async throws {
    let subscription = subscribe(Application.Scene.DidDisconnect.self, taking: 6)
    try await system.play("launch; kill")
    withExtendedLifetime(subscription) {}
    #expect(reports == ["watchdog:didDisconnect handler"])
    #expect(system.record.last?.instant == .seconds(5) && application.state == .notRunning)
  }

  @Test func `is hurried by an input that brings the application back, and ends before anything is entered`()
    async throws
  {
    let subscription = subscribe(Application.Scene.DidEnterBackground.self, taking: 3)
    let calls = noteCalls()
    defer { calls.cancel() }
    try await system.play("launch")
    trace.lines = []
    let token = application.observe { [weak application] event in
      if event.record?.name == "UIApplicationDidEnterBackgroundNotification" { application?.send(.openScene("b")) }
    }
    defer { token.cancel() }
    try await system.play("home; wait:1s")
    withExtendedLifetime(subscription) {}
    #expect(
      trace.lines == [
        "main sceneWillResignActive", "main sceneDidEnterBackground", "main didEnterBackground cancelled",
        "b sceneWillConnect", "b sceneWillEnterForeground", "b sceneDidBecomeActive",
      ])
    #expect(application.state == .active && reports.isEmpty)
  }

  @Test func `of one of several windows is not hurried, as the application is not away`() async throws {
    let subscription = subscribe(Application.Scene.DidEnterBackground.self, taking: 3)
    try await system.play("launch; scene:open:b")
    let token = application.observe { [weak application] event in
      if event.record?.name == "UISceneDidEnterBackgroundNotification" {
        application?.send(.memoryWarning)
        application?.send(.openScene("c"))
      }
    }
    try await system.play("scene:background:b; wait:1s")
    withExtendedLifetime((subscription, token)) {}
    #expect(trace.lines == ["b didEnterBackground ended at 3.0"])
    #expect(application.scenes.map(\.identifier) == ["main", "b", "c"] && reports.isEmpty)
  }
}
