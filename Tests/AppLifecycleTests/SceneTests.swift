import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// Makes a delegate for each scene, and notes every call: a scene's lines show its state and the application's.
@MainActor private final class WindowsDelegate {
  var notes: [String] = []
  var onCallback: ((SceneCallback, Application.Scene) -> Void)?
  private(set) var asked: [String] = []

  func note(_ callback: SceneCallback, _ scene: Application.Scene) {
    notes.append(
      "\(scene.identifier.rawValue) \(callback) (\(scene.state), \(scene.application?.state as Any? ?? "gone"))")
    onCallback?(callback, scene)
  }
}

extension WindowsDelegate: ApplicationDelegate {
  func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? {
    asked.append("\(scene.identifier.rawValue) (\(scene.state))")
    return WindowDelegate(of: self, for: scene)
  }
  func applicationDidFinishLaunching(_ application: Application) { notes.append("didFinishLaunching") }
  func applicationDidBecomeActive(_ application: Application) { notes.append("never") }
  func applicationWillResignActive(_ application: Application) { notes.append("never") }
  func applicationDidEnterBackground(_ application: Application) { notes.append("never") }
  func applicationWillEnterForeground(_ application: Application) { notes.append("never") }
  func applicationWillTerminate(_ application: Application) { notes.append("willTerminate") }
  func applicationDidReceiveMemoryWarning(_ application: Application) { notes.append("didReceiveMemoryWarning") }
}

/// Holds its scene, as delegates do.
@MainActor private final class WindowDelegate {
  private let windows: WindowsDelegate
  private let scene: Application.Scene
  init(of windows: WindowsDelegate, for scene: Application.Scene) { (self.windows, self.scene) = (windows, scene) }
}

extension WindowDelegate: SceneDelegate {
  func sceneWillConnect(_ scene: Application.Scene) { windows.note(.willConnect, scene) }
  func sceneWillEnterForeground(_ scene: Application.Scene) { windows.note(.willEnterForeground, scene) }
  func sceneDidBecomeActive(_ scene: Application.Scene) { windows.note(.didBecomeActive, scene) }
  func sceneWillResignActive(_ scene: Application.Scene) { windows.note(.willResignActive, scene) }
  func sceneDidEnterBackground(_ scene: Application.Scene) { windows.note(.didEnterBackground, scene) }
  func sceneDidDisconnect(_ scene: Application.Scene) { windows.note(.didDisconnect, scene) }
}

@MainActor @Suite(.timeLimit(.hang)) struct `An application with scenes` {
  private let delegate = WindowsDelegate()
  private let system: SimulatedSystem
  private var application: Application { system.application }
  private var bus: EventBus { system.bus }

  init() { system = SimulatedSystem(profile: .scenes) { [delegate] in delegate } }

  // MARK: Sessions

  /// The system reclaims a scene, and the window later gets another one.
  @Test func `delivers the events of a window to a subscription to its session, scene after scene`() async throws {
    var lines: [String] = []
    try await system.play("launch; scene:open:second")
    let scene = try #require(application.scenes.first { $0.identifier == "second" })
    let session = scene.session
    let subscriptions = [
      bus.subscribe(to: Application.Scene.DidEnterBackground.self) {
        lines.append("any \($0.scene.identifier.rawValue)")
      },
      bus.subscribe(to: Application.Scene.DidEnterBackground.self, from: session) { [weak scene] in
        lines.append("session, \($0.scene === scene ? "the first scene" : "a later scene")")
      },
      bus.subscribe(to: Application.Scene.DidEnterBackground.self, from: scene) { _ in lines.append("scene") },
      bus.subscribe(to: Application.Scene.DidEnterBackground.self, from: session, priority: .high) { _ in
        lines.append("high")
      },
      bus.receive(Application.Scene.DidEnterBackground.self, from: session, label: "async") {
        (_: Application.Scene.DidEnterBackground) async in
        lines.append("async")
      },
    ]
    try await system.play("scene:background:second")
    // The order is reversed: the latest subscriber first, the highest priority last.
    #expect(lines == ["scene", "session, the first scene", "any second", "async", "high"])
    lines = []
    try await system.play("scene:background:main")
    #expect(lines == ["any main"])
    lines = []
    try await system.play("scene:reclaim:second; scene:open:second; scene:background:second")
    #expect(lines == ["session, a later scene", "any second", "async", "high"])
    withExtendedLifetime(subscriptions) {}
  }

  // MARK: Focus

  @Test func `shows each callback which windows have the focus, and why the application is inactive`() async throws {
    var seen: [String] = []
    delegate.onCallback = { callback, scene in
      let focus = scene.application?.scenes.filter(\.hasFocus).map(\.identifier.rawValue) ?? []
      let reasons = scene.application?.deactivationReasons.map(\.rawValue).sorted() ?? []
      seen.append("\(scene.identifier.rawValue) \(callback) focus \(focus) reasons \(reasons)")
    }
    try await system.play("launch; scene:open:b; interrupt:call; end:call")
    seen = []
    try await system.play(
      "scene:unfocus:b; scene:unfocus:main; interrupt:call; end:call; scene:focus:b; scene:unfocus:b; home; open")
    #expect(
      seen == [
        #"b willResignActive focus ["main"] reasons []"#, #"main willResignActive focus [] reasons ["focusLost"]"#,
        #"b didBecomeActive focus ["b"] reasons []"#, #"b willResignActive focus [] reasons ["focusLost"]"#,
        #"main didEnterBackground focus [] reasons ["focusLost"]"#, #"b didEnterBackground focus [] reasons []"#,
        #"main willEnterForeground focus [] reasons []"#,
      ])
    #expect(application.state == .inactive && application.deactivationReasons == [.focusLost])
    #expect(application.scenes.map(\.state) == [.foregroundInactive, .background])
    #expect(system.record.violations == [])
  }

  // MARK: Calls and notifications

  @Test func `calls the delegate of the scene, and posts the notification right after`() async throws {
    let everything = bus.subscribeToAll { [delegate] event in
      MainActor.assumeIsolated {
        switch event {
        case let event as any SceneEvent:
          delegate.notes.append("\(type(of: event).name.rawValue) \(event.scene.identifier.rawValue)")
        case is Application.StateDidChange: delegate.notes.append("state")
        default: delegate.notes.append(type(of: event).name.rawValue)
        }
      }
    }
    try await system.play("launch; memory; scene:background:main; scene:reclaim:main")
    withExtendedLifetime(everything) {}
    #expect(
      delegate.notes == [
        "state", "didFinishLaunching", "UIApplicationDidFinishLaunchingNotification",
        "main willConnect (unattached, background)", "UISceneWillConnectNotification main",
        "main willEnterForeground (unattached, background)", "UISceneWillEnterForegroundNotification main",
        "UIApplicationWillEnterForegroundNotification", "state",
        "main didBecomeActive (foregroundActive, inactive)", "UISceneDidActivateNotification main",
        "state", "UIApplicationDidBecomeActiveNotification",
        "didReceiveMemoryWarning", "UIApplicationDidReceiveMemoryWarningNotification",
        "main willResignActive (foregroundActive, active)", "UISceneWillDeactivateNotification main",
        "UIApplicationWillResignActiveNotification", "state",
        "main didEnterBackground (background, inactive)", "UISceneDidEnterBackgroundNotification main",
        "state", "UIApplicationDidEnterBackgroundNotification",
        "main didDisconnect (unattached, background)", "UISceneDidDisconnectNotification main",
      ])
  }

  @Test func `posts the notifications also where the application's delegate makes no delegate for scenes`() async throws
  {
    let system = SimulatedSystem(profile: .scenes)
    let record = try await system.play("launch; home")
    #expect(record.notifications.filter { $0.hasPrefix("UIScene") }.count == 5)
    #expect(record.callbacks.filter { $0.hasPrefix("scene") }.count == 5)
    #expect(system.application.scenes.count == 1 && system.application.scenes.first?.delegate == nil)
  }

  @Test func `tells in the event from which state to which the scene goes, why and when`() async throws {
    var steps: [String] = []
    func note(_ event: any SceneEvent) {
      let step = event.transition
      steps.append("\(step.from) → \(step.to), \(step.cause.rawValue), \(step.instant)")
    }
    var subscriptions: Set<EventBus.Subscription> = []
    bus.subscribe(to: Application.Scene.WillConnect.self) { note($0) }.store(in: &subscriptions)
    bus.subscribe(to: Application.Scene.WillEnterForeground.self) { note($0) }.store(in: &subscriptions)
    bus.subscribe(to: Application.Scene.DidActivate.self) { note($0) }.store(in: &subscriptions)
    bus.subscribe(to: Application.Scene.WillDeactivate.self) { note($0) }.store(in: &subscriptions)
    bus.subscribe(to: Application.Scene.DidEnterBackground.self) { note($0) }.store(in: &subscriptions)
    bus.subscribe(to: Application.Scene.DidDisconnect.self) { note($0) }.store(in: &subscriptions)
    try await system.play("launch; wait:2s; scene:connect:b; scene:close:main")
    #expect(
      steps == [
        "unattached → foregroundInactive, launch, 0.0 seconds", "unattached → foregroundInactive, launch, 0.0 seconds",
        "foregroundInactive → foregroundActive, launch, 0.0 seconds",
        "unattached → background, scene:connect:b, 2.0 seconds",
        "foregroundActive → foregroundInactive, scene:close:main, 2.0 seconds",
        "foregroundInactive → background, scene:close:main, 2.0 seconds",
        "background → unattached, scene:close:main, 2.0 seconds",
      ])
  }

  @Test func `the application's notifications tell its own steps`() async throws {
    var steps: [String] = []
    var subscriptions: Set<EventBus.Subscription> = []
    func note(_ event: any ApplicationEvent) {
      let step = event.transition
      steps.append("\(step.from) → \(step.to), away \(step.excursion.map { "\($0.deepestState)" } ?? "never")")
    }
    bus.subscribe(to: Application.WillEnterForeground.self) { note($0) }.store(in: &subscriptions)
    bus.subscribe(to: Application.DidBecomeActive.self) { note($0) }.store(in: &subscriptions)
    bus.subscribe(to: Application.WillResignActive.self) { note($0) }.store(in: &subscriptions)
    bus.subscribe(to: Application.DidEnterBackground.self) { note($0) }.store(in: &subscriptions)
    try await system.play("launch; scene:open:b; scene:background:main; home; wait:5s; scene:open:main")
    #expect(
      steps == [
        "background → inactive, away never", "inactive → active, away never", "active → inactive, away inactive",
        "inactive → background, away background", "background → inactive, away suspended",
        "inactive → active, away suspended",
      ])
  }

  @Test func `posts from the scene: a subscriber may ask for one`() async throws {
    try await system.play("launch; scene:open:b")
    let second = try #require(application.scenes.last)
    var heard: [String] = []
    let subscription = bus.subscribe(to: Application.Scene.DidEnterBackground.self, from: second) {
      heard.append($0.scene.identifier.rawValue)
    }
    try await system.play("home; open; home; scene:open:b; home")
    withExtendedLifetime(subscription) {}
    #expect(heard == ["b", "b"])
  }

  @Test func `delivers what tears down in reverse, and what builds up in order`() async throws {
    var heard: [String] = []
    var subscriptions: Set<EventBus.Subscription> = []
    for number in 1...2 {
      bus.subscribe(to: Application.Scene.WillConnect.self) { _ in heard.append("connect \(number)") }.store(
        in: &subscriptions)
      bus.subscribe(to: Application.Scene.WillEnterForeground.self) { _ in heard.append("enter \(number)") }
        .store(in: &subscriptions)
      bus.subscribe(to: Application.Scene.DidActivate.self) { _ in heard.append("activate \(number)") }.store(
        in: &subscriptions)
      bus.subscribe(to: Application.Scene.WillDeactivate.self) { _ in heard.append("resign \(number)") }.store(
        in: &subscriptions)
      bus.subscribe(to: Application.Scene.DidEnterBackground.self) { _ in heard.append("leave \(number)") }
        .store(in: &subscriptions)
      bus.subscribe(to: Application.Scene.DidDisconnect.self) { _ in heard.append("disconnect \(number)") }
        .store(in: &subscriptions)
    }
    try await system.play("launch; scene:close:main")
    #expect(
      heard == [
        "connect 1", "connect 2", "enter 1", "enter 2", "activate 1", "activate 2", "resign 2", "resign 1", "leave 2",
        "leave 1", "disconnect 2", "disconnect 1",
      ])
  }

  // MARK: Scenes and sessions

  @Test func `has its scenes in the order in which they connected, from willConnect to didDisconnect`() async throws {
    var present: [String] = []
    delegate.onCallback = { callback, scene in
      guard callback == .willConnect || callback == .didDisconnect else { return }
      let names = scene.application?.scenes.map(\.identifier.rawValue) ?? []
      present.append("\(scene.identifier.rawValue) \(callback): \(names.joined(separator: " "))")
    }
    try await system.play("launch; scene:connect:b; scene:connect:c; scene:close:b; scene:connect:b; kill")
    #expect(
      present == [
        "main willConnect: main", "b willConnect: main b", "c willConnect: main b c", "b didDisconnect: main c",
        "b willConnect: main c b", "main didDisconnect: c b", "c didDisconnect: b", "b didDisconnect: ",
      ])
    #expect(
      delegate.asked == ["main (unattached)", "b (unattached)", "c (unattached)", "b (unattached)"])
    #expect(application.scenes.isEmpty)
  }

  @Test func `a session stays when its scene is reclaimed and when the process ends, with what is kept in it`()
    async throws
  {
    try await system.play("launch; scene:open:b")
    let first = try #require(application.scenes.last)
    let session = first.session
    session.userInfo["page"] = 7
    #expect(session.scene === first && session.identifier == "b")
    try await system.play("scene:background:b; scene:reclaim:b")
    #expect(first.state == .unattached && session.scene == nil)
    for ending in ["", "kill", "launch; crash", "launch; home; suspend; reclaim", "launch; reboot"] {
      try await system.play("\(ending); scene:open:b")
      let next = try #require(application.scenes.first { $0.identifier == "b" })
      #expect(next !== first && next.session === session && session.scene === next, "\(ending)")
      #expect(session.userInfo["page"] as? Int == 7)
      #expect(application.openSessions.map(\.identifier) == ["main", "b"])
    }
    try await system.play("scene:close:b")
    #expect(application.openSessions.map(\.identifier) == ["main"])
    try await system.play("scene:open:b")
    #expect(application.scenes.last?.session !== session && application.scenes.last?.session.userInfo.isEmpty == true)
  }

  @Test func `a window that is closed while the screen is locked does not come back, without a scene either`()
    async throws
  {
    try await system.play("launch; lock; scene:reclaim:main; scene:close:main; unlock")
    #expect(application.scenes.isEmpty && application.openSessions.isEmpty && application.state == .background)
  }

  @Test(arguments: ["scene:close:b", "scene:background:b; scene:reclaim:b", "kill", "crash", "home; suspend; reclaim"])
  func `lets go of a scene that is disconnected, and of its delegate`(ending: String) async throws {
    try await system.play("launch; scene:open:b")
    weak let scene = application.scenes.last
    weak let sceneDelegate = scene?.delegate as? WindowDelegate
    #expect(scene != nil && sceneDelegate != nil)
    try await system.play(ending)
    #expect(scene == nil && sceneDelegate == nil)
  }

  @Test func `a process that vanishes takes its scenes with it, and calls no delegate`() async throws {
    try await system.play("launch; scene:open:b")
    let scenes = application.scenes
    delegate.notes = []
    try await system.play("crash")
    #expect(scenes.map(\.state) == [.unattached, .unattached])
    #expect(delegate.notes.isEmpty && application.scenes.isEmpty)
    #expect(scenes.allSatisfy { $0.delegate == nil && $0.session.scene == nil })
  }

  @Test func `a system that is released with windows open leaves nothing behind`() async throws {
    weak var application: Application?
    weak var scene: Application.Scene?
    weak var kept: WindowsDelegate?
    do {
      let delegate = WindowsDelegate()
      let system = SimulatedSystem(profile: .scenes) { delegate }
      try await system.play("launch; scene:open:b; home")
      (application, scene, kept) = (system.application, system.application.scenes.first, delegate)
      #expect(application != nil && scene != nil)
    }
    #expect(application == nil && scene == nil && kept == nil)
  }

  // MARK: Resources

  @Test func `managed resources follow the application's state, not that of single windows`() async throws {
    var events: [String] = []
    for phase in LifecyclePhase.allCases {
      try application.manage(phase.rawValue, while: phase) { () -> Void in
        events.append("+\(phase)")
      } release: { _ in
        events.append("-\(phase)")
      }
    }
    func played(_ script: String) async throws -> [String] {
      events = []
      try await system.play(script)
      return events
    }
    #expect(try await played("fetch") == ["+running"])
    #expect(try await played("scene:connect:b") == [])
    #expect(try await played("open") == ["+foreground", "+active"])
    #expect(try await played("scene:open:b; scene:background:main; scene:reclaim:main") == [])
    #expect(try await played("interrupt:call; end:call") == ["-active", "+active"])
    #expect(try await played("scene:close:b") == ["-active", "-foreground"])
    #expect(try await played("kill") == ["-running"])
    #expect(Set(try await played("launch")) == ["+running", "+foreground", "+active"])
  }

  // MARK: Inputs from inside, and bad ones

  @Test func `an input from inside a scene's callback waits for the end of the transition`() async throws {
    delegate.onCallback = { callback, scene in
      if callback == .willConnect { scene.application?.send(.home) }
      if callback == .didEnterBackground { scene.application?.send(.closeScene(scene.identifier)) }
    }
    try await system.play("launch")
    #expect(
      delegate.notes == [
        "didFinishLaunching", "main willConnect (unattached, background)",
        "main willEnterForeground (unattached, background)", "main didBecomeActive (foregroundActive, inactive)",
        "main willResignActive (foregroundActive, active)", "main didEnterBackground (background, inactive)",
        "main didDisconnect (unattached, background)",
      ])
    #expect(application.openSessions.isEmpty && system.record.violations.isEmpty)
  }

  @Test(arguments: ["", " ", "a:b", "\u{0}\n", "é", "🪟", String(repeating: "x", count: 10_000)])
  func `any text names a scene`(name: String) async throws {
    let id = SceneIdentifier(rawValue: name)
    let unknown = SceneIdentifier(rawValue: name + "?")
    func outcome(_ input: SystemInput) async -> TransitionReport.Outcome {
      await system.clock.running { [application] in await application.handle(input) }.outcome
    }
    #expect(await outcome(.closeScene(id)) == .ignored(reason: .notRunning))
    #expect(await outcome(.openScene(id)) == .completed)
    #expect(await outcome(.openScene(id)) == .ignored(reason: .sceneInForeground))
    #expect(await outcome(.reclaimScene(unknown)) == .ignored(reason: .unknownScene))
    #expect(await outcome(.sendSceneToBackground(unknown)) == .ignored(reason: .unknownScene))
    #expect(await outcome(.sendSceneToBackground(id)) == .completed)
    #expect(await outcome(.closeScene(id)) == .completed)
    #expect(delegate.notes.last == "\(name) didDisconnect (unattached, background)")
    #expect(application.state == .background && application.openSessions.isEmpty)
  }

  @Test func `thousands of windows take their steps together`() async throws {
    for number in 0..<2_000 {
      let id = SceneIdentifier(rawValue: "\(number)")
      await system.clock.running { [application] in _ = await application.handle(.openScene(id)) }
    }
    delegate.notes = []
    try await system.play("lock; unlock; kill")
    #expect(delegate.notes.count == 2_000 * 7 + 1)
    #expect(delegate.notes.first == "0 willResignActive (foregroundActive, active)")
    #expect(delegate.notes.dropLast().last == "1999 didDisconnect (unattached, background)")
    #expect(application.scenes.isEmpty && application.openSessions.count == 2_000)
  }

  // MARK: Records

  @Test func `whatever happens, in whatever order, the record keeps the rules`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix64(seed: seed)
    print("scenes: random scripts, seed \(seed)")
    let tokens =
      "launch launch:background open home lock unlock passcode:on passcode:off interrupt:call end:call switcher "
      + "switcher:return switcher:leave switcher:kill memory time fetch suspend wake reclaim kill crash reboot wait:5s wait:1s"
    let actions =
      tokens.split(separator: " ").map(String.init)
      + ["main", "b", "c"].flatMap { id in
        ["connect", "open", "open", "background", "reclaim", "close"].map { "scene:\($0):\(id)" }
      }
    for _ in 0..<100 {
      let system = SimulatedSystem(profile: .scenes)
      let script = (0..<100).map { _ in actions.randomElement(using: &random)! }.joined(separator: " ")
      // The first scene makes sure that the record shows that it has some.
      try await system.play("launch \(script)")
      #expect(system.record.violations == [], "seed \(seed): \(script)")
      guard system.record.violations.isEmpty else { return }
    }
  }
}
