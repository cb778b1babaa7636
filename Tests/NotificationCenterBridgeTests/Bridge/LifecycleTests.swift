import AppLifecycle
import AppLifecycleTesting
import Foundation
import NotificationCenterBridge
import PubSub
import Testing

@Suite @MainActor struct `A bridged life cycle` {
  private let center = NotificationCenter()
  private let log = Log()

  @Test func `is the platform's, under its raw names, from the application and with the step`() async throws {
    let system = SimulatedSystem()
    let link = NotificationCenterBridge(system.bus, to: center).postLifecycle()
    let application = system.application
    let observer = center.addObserver(forName: nil, object: nil, queue: nil) { [log] notification in
      let transition = try? notification.value(for: .transition)
      let isFromApplication = notification.object as? Application === application
      log.add(
        "\(notification.name.rawValue) \(transition?.from.rawValue ?? "?")→\(transition?.to.rawValue ?? "?") \(isFromApplication)"
      )
    }
    try await system.play("launch; home; open")
    #expect(
      log.all == [
        "UIApplicationDidFinishLaunchingNotification notRunning→inactive true",
        "UIApplicationDidBecomeActiveNotification inactive→active true",
        "UIApplicationWillResignActiveNotification active→inactive true",
        "UIApplicationDidEnterBackgroundNotification inactive→background true",
        "UIApplicationWillEnterForegroundNotification background→inactive true",
        "UIApplicationDidBecomeActiveNotification inactive→active true",
      ], "\(log.all)")
    withExtendedLifetime((link, observer)) {}
  }

  @Test func `reaches another bus as the same events`() async throws {
    let system = SimulatedSystem()
    let other = EventBus()
    let links = [
      NotificationCenterBridge(system.bus, to: center).postLifecycle(),
      NotificationCenterBridge(other, to: center).receiveLifecycle(),
    ]
    let (here, there) = (Log(), Log())
    let subscriptions = [
      system.bus.subscribeToAll { event in if event is any ApplicationEvent { here.add("\(event)") } },
      other.subscribeToAll { event in there.add("\(event)") },
    ]
    try await system.play("launch; home; kill")
    #expect(!here.all.isEmpty)
    #expect(here.all == there.all)
    withExtendedLifetime((links, subscriptions)) {}
  }

  @Test func `of a scene reaches subscribers to the scene and to its session on another bus`() async throws {
    let system = SimulatedSystem(profile: .scenes)
    let other = EventBus()
    let links = [
      NotificationCenterBridge(system.bus, to: center).postLifecycle(),
      NotificationCenterBridge(other, to: center).receiveLifecycle(),
    ]
    try await system.play("launch")
    let scene = try #require(system.application.scenes.first)
    let (here, there) = (Log(), Log())
    let subscriptions = [(system.bus, here), (other, there)].flatMap { bus, log in
      [
        bus.subscribe(to: Application.Scene.DidEnterBackground.self) { _ in
          log.add("all, subject is the scene: \(EventBus.subjectOfPost === scene)")
        },
        bus.subscribe(to: Application.Scene.DidEnterBackground.self, from: scene) { _ in log.add("scene") },
        bus.subscribe(to: Application.Scene.DidEnterBackground.self, from: scene.session) { _ in log.add("session") },
      ]
    }
    try await system.play("home")
    #expect(here.all == ["session", "scene", "all, subject is the scene: true"])
    #expect(there.all == here.all)
    withExtendedLifetime((links, subscriptions)) {}
  }
}
