import AppLifecycle
import AppLifecycleTesting
import Foundation
import NotificationCenterBridge
import PubSub
import Testing

/// What a host does beside the record.
@Suite @MainActor struct `A host by notifications` {
  /// The steps of a script on the simulated system.
  private func steps(_ script: String, _ profile: LifecycleProfile = .application) async throws -> [Step] {
    let system = SimulatedSystem(profile: profile)
    try await system.play(script)
    return system.record.steps
  }

  @Test func `follows the notifications in their order in a simulation that permutes its tasks`() async throws {
    for seed in UInt64(0)..<20 {
      let record = try await withSimulation(order: .seeded(seed)) { @MainActor clock in
        let application = Application(delegate: PlatformDouble.Delegate(), clock: clock)
        let (center, record) = (NotificationCenter(), Recorder())
        let token = application.observe { if let new = $0.record { record.records.append(new) } }
        let host = NotificationCenterHost(application, platform: .uiKit, center: center)
        for step in ["DidFinishLaunching", "DidBecomeActive", "WillResignActive", "DidEnterBackground"] {
          center.post(name: Notification.Name("UIApplication\(step)Notification"), object: nil)
        }
        await clock.settle()
        host.stop()
        token.cancel()
        return record.records
      }
      #expect(try await record.steps == steps("launch; home"), "seed \(seed)")
    }
  }

  @MainActor private final class Recorder {
    var records: [LifecycleRecord] = []
  }

  // MARK: AppKit and WatchKit

  @Test func `follows an application of AppKit`() async throws {
    let double = PlatformDouble(.appKit)
    double.post(
      stepsOf: "NSApplication", "DidFinishLaunching", "DidBecomeActive", "WillResignActive", "DidBecomeActive")
    // Hidden while active, and brought back by a click in the Dock.
    double.post(
      stepsOf: "NSApplication", "WillResignActive", "DidHide", "DidUnhide", "DidBecomeActive", "WillTerminate")
    #expect(try await double.steps == steps("launch; interrupt:call; end:call; home; open; kill"))
  }

  @Test func `takes the notifications of AppKit in either order`() async throws {
    let double = PlatformDouble(.appKit)
    double.post(stepsOf: "NSApplication", "DidFinishLaunching", "DidBecomeActive")
    double.post(stepsOf: "NSApplication", "DidHide", "WillResignActive", "DidBecomeActive", "DidUnhide")
    #expect(try await double.steps == steps("launch; home; open"))
  }

  @Test func `is in the background while anything keeps it out of sight`() async throws {
    let double = PlatformDouble(.appKit)
    double.post(stepsOf: "NSApplication", "DidFinishLaunching", "DidBecomeActive")
    double.post(stepsOf: "NSWorkspace", "ScreensDidSleep", "SessionDidResignActive", "ScreensDidWake")
    double.post(stepsOf: "NSWorkspace", "WillSleep", "DidWake")
    #expect(double.application.state == .background)
    double.post(stepsOf: "NSWorkspace", "SessionDidBecomeActive", "SessionDidBecomeActive")
    // It never resigned, so the platform does not say that it becomes active.
    #expect(try await double.steps == steps("launch; home; open"))
  }

  @Test func `comes back inactive if it has resigned out of sight`() async throws {
    let double = PlatformDouble(.appKit)
    double.post(stepsOf: "NSApplication", "DidFinishLaunching", "DidBecomeActive")
    double.post(stepsOf: "NSWorkspace", "ScreensDidSleep")
    double.post(stepsOf: "NSApplication", "WillResignActive")
    double.post(stepsOf: "NSWorkspace", "ScreensDidWake")
    #expect(double.application.state == .inactive && double.application.deactivationReasons == [.unspecified])
    double.post(stepsOf: "NSApplication", "DidBecomeActive")
    #expect(try await double.steps == steps("launch; home; open"))
  }

  @Test func `launches into the background what is hidden or asleep`() async throws {
    let hidden = PlatformDouble(.appKit, facts: PlatformDouble.Facts(launchesInBackground: true))
    hidden.post(stepsOf: "NSApplication", "DidFinishLaunching")
    hidden.post(stepsOf: "NSWorkspace", "ScreensDidSleep", "ScreensDidWake")
    #expect(try await hidden.steps == steps("launch:background"))
    hidden.post(stepsOf: "NSApplication", "DidUnhide", "DidBecomeActive")
    #expect(try await hidden.steps == steps("launch:background; open"))
    let asleep = PlatformDouble(.appKit)
    asleep.post(stepsOf: "NSWorkspace", "ScreensDidSleep")
    asleep.post(stepsOf: "NSApplication", "DidFinishLaunching")
    asleep.post(stepsOf: "NSWorkspace", "ScreensDidWake")
    asleep.post(stepsOf: "NSApplication", "DidBecomeActive")
    #expect(try await asleep.steps == steps("launch:background; open"))
  }

  @Test func `follows an application of WatchKit`() async throws {
    let double = PlatformDouble(.watchKit)
    double.post(
      stepsOf: "WKApplication", "DidFinishLaunching", "DidBecomeActive", "WillResignActive", "DidEnterBackground",
      "WillEnterForeground", "DidBecomeActive")
    double.post("NSCalendarDayChangedNotification")
    #expect(try await double.steps == steps("launch; home; open; time"))
  }

  // MARK: Odd orders

  @Test func `that begins late sends the steps that were skipped`() async throws {
    let active = PlatformDouble()
    active.post(stepsOf: "UIApplication", "DidBecomeActive")
    #expect(try await active.steps == steps("launch"))
    let leaving = PlatformDouble()
    leaving.post(stepsOf: "UIApplication", "DidEnterBackground", "DidBecomeActive")
    #expect(try await leaving.steps == steps("launch:background; open"))
    let window = PlatformDouble(profile: .scenes)
    window.post("UISceneDidActivateNotification", of: "main")
    #expect(try await window.steps == steps("launch", .scenes))
  }

  @Test func `that begins late takes what resigns for what is in the foreground`() {
    let application = PlatformDouble()
    application.post(stepsOf: "UIApplication", "WillResignActive")
    #expect(application.application.state == .inactive)
    let window = PlatformDouble(profile: .scenes)
    window.post("UISceneWillDeactivateNotification", of: "main")
    #expect(window.application.scenes.map(\.state) == [.foregroundInactive])
    #expect(window.application.state == .inactive)
    window.post("UISceneDidActivateNotification", of: "main")
    #expect(window.application.state == .active)
  }

  @Test func `leaves a window that resigns after the lock in the background`() {
    let double = PlatformDouble(profile: .scenes)
    for step in ["WillConnect", "WillEnterForeground", "DidActivate"] {
      double.post("UIScene\(step)Notification", of: "main")
    }
    double.post("UIApplicationProtectedDataWillBecomeUnavailable")
    double.post("UISceneWillDeactivateNotification", of: "main")
    #expect(double.application.state == .background && !double.application.isProtectedDataAvailable)
  }

  @Test func `sends no step twice`() async throws {
    let double = PlatformDouble()
    for step in ["DidFinishLaunching", "DidBecomeActive", "WillResignActive", "DidEnterBackground", "WillTerminate"] {
      double.post(stepsOf: "UIApplication", step, step)
    }
    #expect(try await double.steps == steps("launch; home; kill"))
  }

  @Test func `comes to the front of a locked screen`() async throws {
    let double = PlatformDouble()
    double.post(
      stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive", "WillResignActive", "DidEnterBackground")
    double.post("UIApplicationProtectedDataWillBecomeUnavailable")
    double.post(stepsOf: "UIApplication", "WillEnterForeground", "DidBecomeActive")
    #expect(double.application.state == .active)
    double.post("UIApplicationProtectedDataDidBecomeAvailable")
    #expect(try await double.steps == steps("passcode:on; launch; lock; unlock"))
  }

  @Test func `brings no window back by itself when the screen is unlocked`() async throws {
    let double = PlatformDouble(profile: .scenes)
    for scene in ["main", "second"] {
      for step in ["WillConnect", "WillEnterForeground", "DidActivate"] {
        double.post("UIScene\(step)Notification", of: scene)
      }
    }
    // The lock comes while both windows are in sight: the system says later, window by window, that they have left.
    double.post("UIApplicationProtectedDataWillBecomeUnavailable")
    #expect(double.application.state == .background)
    double.post("UIApplicationProtectedDataDidBecomeAvailable")
    #expect(double.application.state == .background)
    double.post("UISceneWillEnterForegroundNotification", of: "second")
    #expect(double.application.scenes.map(\.state) == [.background, .foregroundActive])
  }

  @Test func `connects a window behind the lock screen, and data stays protected until the platform says otherwise`()
    async throws
  {
    let double = PlatformDouble(
      profile: .scenes, facts: PlatformDouble.Facts(launchesInBackground: true, dataIsProtected: true))
    let log = Log()
    let subscription = double.application.bus.subscribe(to: Application.ProtectedDataDidBecomeAvailable.self) { _ in
      log.add("available")
    }
    double.post(stepsOf: "UIApplication", "DidFinishLaunching")
    double.post("UISceneWillConnectNotification", of: "main")
    #expect(double.application.scenes.map(\.state) == [.background])
    #expect(double.application.state == .background && !double.application.isProtectedDataAvailable)
    log.add("unlock")
    double.post("UIApplicationProtectedDataDidBecomeAvailable")
    #expect(double.application.isProtectedDataAvailable)
    #expect(log.all == ["unlock", "available"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `leaves what notifications of scenes say to applications with scenes`() async throws {
    let double = PlatformDouble()
    double.post(stepsOf: "UIApplication", "DidFinishLaunching")
    double.post("UISceneDidActivateNotification", of: "main")
    #expect(double.application.state == .inactive)
  }

  @Test func `names scenes itself where the platform does not`() async throws {
    let double = PlatformDouble(profile: .scenes, namesScenes: false)
    for scene in ["a", "b"] { double.post("UISceneWillConnectNotification", of: scene) }
    #expect(double.application.scenes.map(\.identifier) == ["main", "scene-1"])
    double.post("UISceneDidDisconnectNotification", of: "a")
    for scene in ["c", "d"] { double.post("UISceneWillConnectNotification", of: scene) }
    #expect(double.application.scenes.map(\.identifier) == ["scene-1", "main", "scene-2"])
  }

  // MARK: Which notifications

  @Test func `does not follow what a bridge posts of an application`() async throws {
    let double = PlatformDouble()
    let other = PlatformDouble()
    let link = NotificationCenterBridge(other.application.bus, to: double.center).postLifecycle()
    other.post(stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive")
    #expect(other.application.state == .active)
    #expect(double.record == [])
    link.cancel()
  }

  @Test func `takes changes of time from any thread`() async throws {
    let double = PlatformDouble()
    double.post(stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive")
    let changes = double.application.bus.events(Application.SignificantTimeChange.self)
    let center = double.center
    await Task.detached {
      center.post(name: Notification.Name("UIApplicationSignificantTimeChangeNotification"), object: nil)
    }.value
    for await _ in changes { break }
    #expect(try await double.steps == steps("launch; time"))
  }

  @Test func `stops, by itself when it is let go of`() async throws {
    for drops in [false, true] {
      let double = PlatformDouble()
      double.post(stepsOf: "UIApplication", "DidFinishLaunching")
      if drops { double.dropHost() } else { double.host?.stop() }
      double.post(stepsOf: "UIApplication", "DidBecomeActive")
      #expect(double.application.state == .inactive)
    }
  }

  // MARK: The process

  @Test func `keeps the process awake until all has been torn down`() async throws {
    var awake: [String] = []
    let double = PlatformDouble {
      $0.keepAwake = { name in
        awake.append("begin \(name)")
        return { awake.append("end") }
      }
    }
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    let subscription = double.application.bus.receive(Application.DidEnterBackground.self) { _ async in
      for await _ in gate { break }
    }
    double.post(stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive", "WillResignActive")
    #expect(awake == [])
    let task = double.application.beginBackgroundTask(named: "upload")
    double.post(stepsOf: "UIApplication", "DidEnterBackground")
    #expect(awake == ["begin UIApplicationDidEnterBackgroundNotification"])
    opener.yield()
    while double.record.last?.name != "UIApplicationDidEnterBackgroundNotification" { await Task.yield() }
    await double.application.handle(.memoryWarning)
    #expect(awake.count == 1)
    task.end()
    while awake.count == 1 { await Task.yield() }
    #expect(awake.last == "end")
    withExtendedLifetime(subscription) {}
  }

  @Test func `holds up the last notification until all has been torn down`() async throws {
    var answers: [Bool] = []
    var release: AsyncStream<Void>.Continuation?
    let double = PlatformDouble {
      $0.waitForEnd = { _, mayEnd in
        // A test's main actor does no other work before this has returned; a program's run loop does.
        answers.append(mayEnd())
        release?.yield()
      }
    }
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    release = opener
    let subscription = double.application.bus.receive(Application.WillTerminate.self) { _ async in
      for await _ in gate { break }
    }
    double.post(stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive", "WillTerminate")
    #expect(answers == [false])
    while double.application.state != .notRunning { await Task.yield() }
    let idle = PlatformDouble { $0.waitForEnd = { _, _ in answers.append(true) } }
    idle.post(stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive", "WillTerminate")
    // Nothing to wait for.
    #expect(answers.count == 1 && idle.application.state == .notRunning)
    withExtendedLifetime(subscription) {}
  }

  /// In work of the main queue the run loop returns at once; the wait must not use a whole processor for that.
  @Test func `waits between two questions whether the process may end`() {
    let configuration = NotificationCenterHost.Configuration(.uiKit)
    var questions = 0
    configuration.waitForEnd(.milliseconds(100)) {
      questions += 1
      return false
    }
    #expect(1...12 ~= questions)
  }

  @Test func `names the reason why the process ends before its tear-down is complete`() {
    let messages = [false, true].map {
      NotificationCenterHost.lastMessage(
        "NSApplicationWillTerminateNotification", mainQueueHasRun: $0, limit: .seconds(8))
    }
    #expect(messages[0].contains("inside work of the main queue"))
    #expect(!messages[1].contains("main queue") && messages[1].contains("8.0 seconds"))
  }

  @Test func `is followed no further when the application has ended`() async throws {
    let double = PlatformDouble()
    double.post(stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive", "WillTerminate", "WillResignActive")
    double.post(stepsOf: "UIApplication", "DidEnterBackground", "WillEnterForeground", "DidBecomeActive")
    #expect(try await double.steps == steps("launch; kill"))
  }

  @Test func `ends the process when the application ends by its own order`() async throws {
    var ends: [Int32] = []
    let double = PlatformDouble { $0.endProcess = { ends.append($0) } }
    double.post(stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive")
    double.application.shutDown(status: 3)
    while ends.isEmpty { await Task.yield() }
    #expect(ends == [3])
    double.post(stepsOf: "UIApplication", "WillTerminate")
    #expect(try await double.steps == steps("launch; quit"))
    let other = PlatformDouble { $0.endProcess = { ends.append($0) } }
    other.post(stepsOf: "UIApplication", "DidFinishLaunching", "WillTerminate")
    for _ in 0..<100 { await Task.yield() }
    #expect(ends == [3])
  }

  /// A journal's last line must not be missing because the process was ended first.
  @Test func `ends the process when observers know that the transition has ended`() async throws {
    var log: [String] = []
    let double = PlatformDouble { $0.endProcess = { _ in log.append("process") } }
    let token = double.application.observe { event in
      if case .transitionEnded(let report) = event, report.endsProcess {
        log.append("transition")
      }
    }
    double.post(stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive")
    double.application.shutDown(status: 0)
    while log.last != "process" { await Task.yield() }
    #expect(log == ["transition", "process"])
    token.cancel()
  }

  @Test func `waits for the end, too, where a background task posts it`() async throws {
    var waits = 0
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    let double = PlatformDouble {
      $0.waitForEnd = { _, mayEnd in
        waits += mayEnd() ? 0 : 1
        opener.yield()
      }
    }
    let subscription = double.application.bus.receive(Application.WillTerminate.self) { _ async in
      for await _ in gate { break }
    }
    double.post(stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive")
    await double.application.performBackgroundTask(named: "save") {
      double.post(stepsOf: "UIApplication", "WillTerminate")
    }.value
    #expect(waits == 1)
    while double.application.state != .notRunning { await Task.yield() }
    withExtendedLifetime(subscription) {}
  }

  @Test func `lets tasks begin in the background when others have ended there`() async throws {
    let double = PlatformDouble()
    double.post(stepsOf: "UIApplication", "DidFinishLaunching", "DidBecomeActive")
    let first = double.application.beginBackgroundTask(named: "first")
    double.post(stepsOf: "UIApplication", "DidEnterBackground")
    first.end()
    for _ in 0..<100 { await Task.yield() }
    var hasExpired = false
    let second = double.application.beginBackgroundTask(named: "second") { _ in hasExpired = true }
    for _ in 0..<100 { await Task.yield() }
    #expect(!hasExpired && double.application.openBackgroundTasks == ["second"])
    second.end()
  }
}
