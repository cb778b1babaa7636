import AppLifecycle
import AppLifecycleTesting
import Foundation
import NotificationCenterBridge
import Testing

#if !canImport(UIKit)
  @Suite @MainActor struct `UIKit's application` {
    private let center = NotificationCenter()
    private let log = Log()

    /// Plays a script with a bridge, and calls a closure at each notification of the center.
    private func play(
      _ script: String, profile: LifecycleProfile = .application,
      at notification: @escaping @MainActor (Notification) -> Void
    ) async throws {
      let system = SimulatedSystem(profile: profile)
      let link = NotificationCenterBridge(system.bus, to: center).postLifecycle()
      let observer = center.addObserver(forName: nil, object: nil, queue: nil) { notice in
        nonisolated(unsafe) let notice = notice
        MainActor.assumeIsolated { notification(notice) }
      }
      try await system.play(script)
      center.removeObserver(observer)
      link.cancel()
    }

    @Test func `has the platform's names for its notifications`() {
      let names: [ApplicationCallback: Notification.Name] = [
        .didFinishLaunching: UIApplication.didFinishLaunchingNotification,
        .didBecomeActive: UIApplication.didBecomeActiveNotification,
        .willResignActive: UIApplication.willResignActiveNotification,
        .didEnterBackground: UIApplication.didEnterBackgroundNotification,
        .willEnterForeground: UIApplication.willEnterForegroundNotification,
        .willTerminate: UIApplication.willTerminateNotification,
        .didReceiveMemoryWarning: UIApplication.didReceiveMemoryWarningNotification,
        .significantTimeChange: UIApplication.significantTimeChangeNotification,
        .protectedDataWillBecomeUnavailable: UIApplication.protectedDataWillBecomeUnavailableNotification,
        .protectedDataDidBecomeAvailable: UIApplication.protectedDataDidBecomeAvailableNotification,
      ]
      for callback in ApplicationCallback.allCases {
        #expect(callback.notificationName == names[callback]?.rawValue)
      }
      let sceneNames: [SceneCallback: Notification.Name] = [
        .willConnect: UIScene.willConnectNotification,
        .willEnterForeground: UIScene.willEnterForegroundNotification,
        .didBecomeActive: UIScene.didActivateNotification,
        .willResignActive: UIScene.willDeactivateNotification,
        .didEnterBackground: UIScene.didEnterBackgroundNotification,
        .didDisconnect: UIScene.didDisconnectNotification,
      ]
      for callback in SceneCallback.allCases {
        #expect(callback.notificationName == sceneNames[callback]?.rawValue)
      }
    }

    @Test func `is the object of each notification, and is shared`() async throws {
      var count = 0
      let script = "passcode:on; launch; memory; time; home; lock; unlock; open; home; kill; launch; quit"
      try await play(script) { notification in
        count += 1
        let application = notification.object as? UIApplication
        #expect(application != nil && application === UIApplication.shared, "\(notification.name)")
      }
      #expect(count >= 10)
    }

    @Test func `has UIKit's states`() async throws {
      var states: [String] = []
      let system = SimulatedSystem()
      let application = system.application
      #expect(application.applicationState == .inactive)
      let observer = application.observe { event in
        guard let record = event.record, record.kind == .state else { return }
        states.append("\(record.name) \(application.applicationState)")
      }
      try await system.play("launch; home; suspend; kill")
      #expect(
        states == [
          "inactive inactive", "active active", "inactive inactive", "background background", "suspended background",
          "notRunning background",
        ], "\(states)")
      #expect(UIApplication.State(rawValue: 0) == .active && UIApplication.State(rawValue: 2) == .background)
      observer.cancel()
    }

    @Test func `has scenes in a set, with UIKit's states`() async throws {
      var steps: [String] = []
      try await play("launch; home; open; kill", profile: .scenes) { notification in
        guard let scene = notification.object as? UIScene else { return }
        let isConnected = UIApplication.shared.connectedScenes.contains(scene)
        steps.append("\(notification.name.rawValue.dropFirst(7)) \(scene.activationState) \(isConnected)")
        #expect(scene.session.persistentIdentifier == "main")
        #expect(scene.session.scene === scene || scene.activationState == .unattached)
      }
      #expect(
        steps == [
          "WillConnectNotification unattached true",
          "WillEnterForegroundNotification unattached true",
          "DidActivateNotification foregroundActive true",
          "WillDeactivateNotification foregroundActive true",
          "DidEnterBackgroundNotification background true",
          "WillEnterForegroundNotification background true",
          "DidActivateNotification foregroundActive true",
          "WillDeactivateNotification foregroundActive true",
          "DidEnterBackgroundNotification background true",
          "DidDisconnectNotification unattached false",
        ], "\(steps)")
      #expect(UIScene.ActivationState(rawValue: -1) == .unattached)
    }

    // MARK: The delegate

    @MainActor fileprivate final class Delegate {
      var calls: [String] = []
    }

    @Test func `calls its delegate as UIKit does`() async throws {
      let delegate = Delegate()
      let system = SimulatedSystem(profile: .scenes) { delegate }
      try await system.play("launch; home")
      #expect(delegate.calls == ["willFinish nil", "didFinish nil", "connect main", "active", "resign", "background"])
    }

    @Test func `tells its delegate of each window that the user has closed, with and without a scene`() async throws {
      let delegate = Delegate()
      let system = SimulatedSystem(profile: .scenes) { delegate }
      try await system.play("launch; scene:open:second; scene:open:third; home; scene:reclaim:second")
      delegate.calls = []
      try await system.play("scene:close:second; scene:close:third; scene:close:unknown; open; kill")
      #expect(delegate.calls.filter { $0.hasPrefix("discard") } == ["discard second", "discard third"])
    }

    // MARK: Without an application, and with two

    @Test func `is the second application inside its own scope, and the object of its notifications`() async throws {
      let first = SimulatedSystem()
      let second = SimulatedSystem()
      let links = [first, second].map { NotificationCenterBridge($0.bus, to: center).postLifecycle() }
      let (one, two) = (first.application, second.application)
      let observer = center.addObserver(
        forName: UIApplication.didBecomeActiveNotification, object: nil, queue: nil
      ) { [log] notification in
        log.add(notification.object as? UIApplication === UIApplication.shared ? "shared" : "another")
        log.add(notification.object as? UIApplication === two ? "second" : "first")
      }
      try await Application.withShared(one) {
        _ = try await first.play("launch")
        // The system that plays decides, and not the code around it.
        _ = try await second.play("launch")
        // An observer that asks for no object is called for the application of another place, too.
        await two.handle(.home)
        await two.handle(.open)
      }
      #expect(log.all == ["shared", "first", "shared", "second", "another", "second"], "\(log.all)")
      center.removeObserver(observer)
      for link in links { link.cancel() }
    }

    @Test func `is there before the launch, and on any thread`() async {
      let application = SimulatedSystem().application
      await Application.withShared(application) {
        #expect(UIApplication.shared === application && UIApplication.shared.applicationState == .inactive)
        let other = Task { @concurrent in UIApplication.shared }
        #expect(await other.value === application)
      }
    }

    @Test func `says what to do where there is none`() async throws {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        guard UIApplication.current == nil else { return }
        _ = UIApplication.shared
      }
      let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      for advice in ["there is no shared application", "adopt(_:)", "Application.withShared(application)"] {
        #expect(message.contains(advice), "\(message)")
      }
    }
  }

  extension `UIKit's application`.Delegate: UIApplicationDelegate, UIWindowSceneDelegate {
    func application(
      _ application: UIApplication, willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
      calls.append("willFinish \(launchOptions == nil ? "nil" : "options")")
      return true
    }

    func application(
      _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
      calls.append("didFinish \(launchOptions?[.url] == nil ? "nil" : "options")")
      return true
    }

    func application(_ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>) {
      calls += sceneSessions.map { "discard \($0.persistentIdentifier)" }
    }

    func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? { self }

    func scene(
      _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) {
      calls.append("connect \(session.persistentIdentifier)")
    }

    func sceneDidBecomeActive(_ scene: UIScene) { calls.append("active") }
    func sceneWillResignActive(_ scene: UIScene) { calls.append("resign") }
    func sceneDidEnterBackground(_ scene: UIScene) { calls.append("background") }
  }
#endif
