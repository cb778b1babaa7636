import AppLifecycle
import AppLifecycleTesting
import TestTraits
import Testing

/// The whole record of sequences of the scene-based life cycle, from the script to the line of JSON.
@Suite(.timeLimit(.hang)) @MainActor struct SceneRecordSequenceTests {
  typealias Golden = RecordSequenceTests.Golden

  @Test(arguments: Self.golden)
  func `the record is, byte for byte,`(golden: Golden) async throws {
    let system = SimulatedSystem(profile: .scenes)
    try await system.play(golden.script)
    #expect(system.record.jsonLines == golden.jsonLines)
    #expect(system.record.violations == [])
    #expect(system.clock.executor.foreignWakeUps == 0)
  }

  @Test func `the profile of the configuration holds where none is named`() async throws {
    var configuration = Application.Configuration()
    configuration.profile = .scenes
    let byConfiguration = try await SimulatedSystem(configuration: configuration).play("launch; home")
    let byProfile = try await SimulatedSystem(profile: .scenes).play("launch; home")
    #expect(byConfiguration == byProfile)
    let overridden = try await SimulatedSystem(profile: .application, configuration: configuration).play("launch; home")
    let plain = try await SimulatedSystem().play("launch; home")
    #expect(overridden == plain)
  }

  @Test func `the documented didEnterBackground of a background launch is a matter of configuration`() async throws {
    var configuration = Application.Configuration()
    configuration.callsDidEnterBackgroundOnBackgroundLaunch = true
    let plain = try await SimulatedSystem(configuration: configuration).play("fetch; kill; launch:background; open")
    #expect(
      plain.callbacks == [
        "willFinishLaunching (background)", "didFinishLaunching (background)", "didEnterBackground (background)",
        "willTerminate (background)", "willFinishLaunching (background)", "didFinishLaunching (background)",
        "didEnterBackground (background)", "willEnterForeground (background)", "didBecomeActive (active)",
      ])
    #expect(plain.violations == [])
    let scenes = try await SimulatedSystem(profile: .scenes, configuration: configuration).play("fetch; launch")
    #expect(scenes.callbacks == ["willFinishLaunching (background)", "didFinishLaunching (background)"])
    #expect(
      scenes.notifications == [
        "UIApplicationDidFinishLaunchingNotification", "UIApplicationDidEnterBackgroundNotification",
      ])
  }

  nonisolated static let coldLaunch = """
    0.0 | input | launch | notRunning | launch
    0.0 | state | background | background | launch
    0.0 | delegate | applicationWillFinishLaunching | background | launch
    0.0 | delegate | applicationDidFinishLaunching | background | launch
    0.0 | notification | UIApplicationDidFinishLaunchingNotification | background | launch
    0.0 | delegate | sceneWillConnect@main | background | launch
    0.0 | notification | UISceneWillConnectNotification@main | background | launch
    0.0 | delegate | sceneWillEnterForeground@main | background | launch
    0.0 | notification | UISceneWillEnterForegroundNotification@main | background | launch
    0.0 | notification | UIApplicationWillEnterForegroundNotification | background | launch
    0.0 | state | inactive | inactive | launch
    0.0 | delegate | sceneDidBecomeActive@main | inactive | launch
    0.0 | notification | UISceneDidActivateNotification@main | inactive | launch
    0.0 | state | active | active | launch
    0.0 | notification | UIApplicationDidBecomeActiveNotification | active | launch
    """

  nonisolated static let golden = [
    Golden(
      "home, suspended after the stay, and back", "launch; home; wait:5s; open",
      """
      \(coldLaunch)
      0.0 | input | home | active | home
      0.0 | delegate | sceneWillResignActive@main | active | home
      0.0 | notification | UISceneWillDeactivateNotification@main | active | home
      0.0 | notification | UIApplicationWillResignActiveNotification | active | home
      0.0 | state | inactive | inactive | home
      0.0 | delegate | sceneDidEnterBackground@main | inactive | home
      0.0 | notification | UISceneDidEnterBackgroundNotification@main | inactive | home
      0.0 | state | background | background | home
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | home
      0.0 | input | wait:5s | background | wait:5s
      5.0 | state | suspended | suspended | wait:5s
      5.0 | input | open | suspended | open
      5.0 | state | background | background | open
      5.0 | delegate | sceneWillEnterForeground@main | background | open
      5.0 | notification | UISceneWillEnterForegroundNotification@main | background | open
      5.0 | notification | UIApplicationWillEnterForegroundNotification | background | open
      5.0 | state | inactive | inactive | open
      5.0 | delegate | sceneDidBecomeActive@main | inactive | open
      5.0 | notification | UISceneDidActivateNotification@main | inactive | open
      5.0 | state | active | active | open
      5.0 | notification | UIApplicationDidBecomeActiveNotification | active | open
      """),
    Golden(
      "a second window opens during a call, both are killed", "launch; interrupt:call; scene:open:b; end:call; kill",
      """
      \(coldLaunch)
      0.0 | input | interrupt:call | active | interrupt:call
      0.0 | delegate | sceneWillResignActive@main | active | interrupt:call
      0.0 | notification | UISceneWillDeactivateNotification@main | active | interrupt:call
      0.0 | notification | UIApplicationWillResignActiveNotification | active | interrupt:call
      0.0 | state | inactive | inactive | interrupt:call
      0.0 | input | scene:open:b | inactive | scene:open:b
      0.0 | delegate | sceneWillConnect@b | inactive | scene:open:b
      0.0 | notification | UISceneWillConnectNotification@b | inactive | scene:open:b
      0.0 | delegate | sceneWillEnterForeground@b | inactive | scene:open:b
      0.0 | notification | UISceneWillEnterForegroundNotification@b | inactive | scene:open:b
      0.0 | input | end:call | inactive | end:call
      0.0 | delegate | sceneDidBecomeActive@main | inactive | end:call
      0.0 | notification | UISceneDidActivateNotification@main | inactive | end:call
      0.0 | delegate | sceneDidBecomeActive@b | inactive | end:call
      0.0 | notification | UISceneDidActivateNotification@b | inactive | end:call
      0.0 | state | active | active | end:call
      0.0 | notification | UIApplicationDidBecomeActiveNotification | active | end:call
      0.0 | input | kill | active | kill
      0.0 | delegate | sceneWillResignActive@main | active | kill
      0.0 | notification | UISceneWillDeactivateNotification@main | active | kill
      0.0 | delegate | sceneWillResignActive@b | active | kill
      0.0 | notification | UISceneWillDeactivateNotification@b | active | kill
      0.0 | notification | UIApplicationWillResignActiveNotification | active | kill
      0.0 | state | inactive | inactive | kill
      0.0 | delegate | sceneDidEnterBackground@main | inactive | kill
      0.0 | notification | UISceneDidEnterBackgroundNotification@main | inactive | kill
      0.0 | delegate | sceneDidEnterBackground@b | inactive | kill
      0.0 | notification | UISceneDidEnterBackgroundNotification@b | inactive | kill
      0.0 | state | background | background | kill
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | kill
      0.0 | delegate | sceneDidDisconnect@main | background | kill
      0.0 | notification | UISceneDidDisconnectNotification@main | background | kill
      0.0 | delegate | sceneDidDisconnect@b | background | kill
      0.0 | notification | UISceneDidDisconnectNotification@b | background | kill
      0.0 | delegate | applicationWillTerminate | background | kill
      0.0 | notification | UIApplicationWillTerminateNotification | background | kill
      0.0 | state | notRunning | notRunning | kill
      """),
    Golden(
      "connected, opened, in background, reclaimed, closed",
      "launch; scene:connect:b; scene:open:b; scene:background:b; scene:reclaim:b; memory; scene:close:main",
      """
      \(coldLaunch)
      0.0 | input | scene:connect:b | active | scene:connect:b
      0.0 | delegate | sceneWillConnect@b | active | scene:connect:b
      0.0 | notification | UISceneWillConnectNotification@b | active | scene:connect:b
      0.0 | input | scene:open:b | active | scene:open:b
      0.0 | delegate | sceneWillEnterForeground@b | active | scene:open:b
      0.0 | notification | UISceneWillEnterForegroundNotification@b | active | scene:open:b
      0.0 | delegate | sceneDidBecomeActive@b | active | scene:open:b
      0.0 | notification | UISceneDidActivateNotification@b | active | scene:open:b
      0.0 | input | scene:background:b | active | scene:background:b
      0.0 | delegate | sceneWillResignActive@b | active | scene:background:b
      0.0 | notification | UISceneWillDeactivateNotification@b | active | scene:background:b
      0.0 | delegate | sceneDidEnterBackground@b | active | scene:background:b
      0.0 | notification | UISceneDidEnterBackgroundNotification@b | active | scene:background:b
      0.0 | input | scene:reclaim:b | active | scene:reclaim:b
      0.0 | delegate | sceneDidDisconnect@b | active | scene:reclaim:b
      0.0 | notification | UISceneDidDisconnectNotification@b | active | scene:reclaim:b
      0.0 | input | memory | active | memory
      0.0 | delegate | applicationDidReceiveMemoryWarning | active | memory
      0.0 | notification | UIApplicationDidReceiveMemoryWarningNotification | active | memory
      0.0 | input | scene:close:main | active | scene:close:main
      0.0 | delegate | sceneWillResignActive@main | active | scene:close:main
      0.0 | notification | UISceneWillDeactivateNotification@main | active | scene:close:main
      0.0 | notification | UIApplicationWillResignActiveNotification | active | scene:close:main
      0.0 | state | inactive | inactive | scene:close:main
      0.0 | delegate | sceneDidEnterBackground@main | inactive | scene:close:main
      0.0 | notification | UISceneDidEnterBackgroundNotification@main | inactive | scene:close:main
      0.0 | state | background | background | scene:close:main
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | scene:close:main
      0.0 | delegate | sceneDidDisconnect@main | background | scene:close:main
      0.0 | notification | UISceneDidDisconnectNotification@main | background | scene:close:main
      """),
    Golden(
      "gone without a word; what cannot be done", "launch; scene:open:main; scene:reclaim:x; crash; scene:close:main",
      """
      \(coldLaunch)
      0.0 | input | scene:open:main | active | scene:open:main
      0.0 | ignored | scene:open:main | active | scene:open:main | the scene is in the foreground
      0.0 | input | scene:reclaim:x | active | scene:reclaim:x
      0.0 | ignored | scene:reclaim:x | active | scene:reclaim:x | no such scene is connected
      0.0 | input | crash | active | crash
      0.0 | state | notRunning | notRunning | crash
      0.0 | input | scene:close:main | notRunning | scene:close:main
      0.0 | ignored | scene:close:main | notRunning | scene:close:main | the application is not running
      """),
  ]
}
