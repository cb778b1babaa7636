import AppLifecycle
import AppLifecycleTesting
import TestTraits
import Testing

/// The whole record of everything that section 5 says about the background, and of calls that take their time.
@Suite(.timeLimit(.hang)) struct BackgroundRecordTests {
  typealias Golden = RecordSequenceTests.Golden

  @Test(arguments: Self.stays + Self.expirations + Self.modes + Self.mistakes + Self.slowCalls) @MainActor
  func `the record is, byte for byte,`(golden: Golden) async throws {
    let system = SimulatedSystem()
    try await system.play(golden.script)
    #expect(system.record.jsonLines == golden.jsonLines)
    #expect(system.record.violations.isEmpty)
    #expect(system.clock.executor.foreignWakeUps == 0)
  }

  private static let longScript = """
    launch; task:begin:a; slow:didEnterBackground:2s; home; wait:10s; task:begin:b; mode:begin:m; wait:1m; mode:end:m
    wait:24s; task:begin:c; wait:1s; task:begin:d; task:end:d; task:end:d; open; home; slow:didReceiveMemoryWarning:7s
    wait:20s; memory; wait:1s; task:begin:e; wait:1h; launch; task:begin:f; home; wait:26s; task:end:f; fetch; wait:1m
    """

  @Test @MainActor func `the same script gives the same record again and again`() async throws {
    let first = try await record(of: Self.longScript)
    for name in ["expire:c", "refused:e", "taskEndedTwice:d", "backgroundTimeExpired:b", "didEnterBackground", "fetch"]
    {
      #expect(first.contains(name), "\(name) is missing")
    }
    for run in 1..<200 {
      let next = try await record(of: Self.longScript)
      #expect(next == first, "run \(run)")
      guard next == first else { return }
    }
  }

  /// Nothing in it is ready at the same time as anything else, so that the order of jobs has no say.
  @Test @MainActor func `the record does not depend on the order of what is ready`() async throws {
    let first = try await record(of: Self.longScript)
    for seed in UInt64(0)..<50 {
      #expect(try await record(of: Self.longScript, order: .seeded(seed)) == first, "seed \(seed)")
    }
  }

  @MainActor private func record(of script: String, order: SimulationExecutor.Order = .fifo) async throws -> String {
    let system = SimulatedSystem(order: order)
    try await system.play(script)
    return system.record.jsonLines
  }

  /// With scenes `didEnterBackground` means the scene's, and the first scene of the step uses it up.
  @Test @MainActor func `a scene's call takes its time before its notification`() async throws {
    let system = SimulatedSystem(profile: .scenes)
    let record = try await system.play(
      "slow:sceneWillConnect:1s; launch; scene:open:b; slow:didEnterBackground:2s; slow:willTerminate:3s; home; kill")
    let timed = record.filter {
      $0.name.contains("SceneWillConnect") || $0.name.contains("SceneDidEnterBackground")
        || $0.name.contains("WillTerminate")
    }
    #expect(
      timed.map { "\($0.instant / .seconds(1)) \($0.name) \($0.scene ?? "")" } == [
        "1.0 UISceneWillConnectNotification main", "1.0 UISceneWillConnectNotification b",
        "3.0 UISceneDidEnterBackgroundNotification main", "3.0 UISceneDidEnterBackgroundNotification b",
        "3.0 applicationWillTerminate ", "6.0 UIApplicationWillTerminateNotification ",
      ])
    #expect(record.violations.isEmpty)
  }

  // MARK: Words of the lines

  static let launch = RecordSequenceTests.coldLaunch

  static func home(_ t: String) -> String {
    """
    \(t) | input | home | active | home
    \(t) | delegate | applicationWillResignActive | active | home
    \(t) | notification | UIApplicationWillResignActiveNotification | active | home
    \(t) | state | inactive | inactive | home
    \(t) | state | background | background | home
    \(t) | delegate | applicationDidEnterBackground | background | home
    \(t) | notification | UIApplicationDidEnterBackgroundNotification | background | home
    """
  }

  static func open(_ t: String, from state: String = "background") -> String {
    """
    \(t) | input | open | \(state) | open
    \(state == "suspended" ? "\(t) | state | background | background | open" : "")
    \(t) | delegate | applicationWillEnterForeground | background | open
    \(t) | notification | UIApplicationWillEnterForegroundNotification | background | open
    \(t) | state | inactive | inactive | open
    \(t) | state | active | active | open
    \(t) | delegate | applicationDidBecomeActive | active | open
    \(t) | notification | UIApplicationDidBecomeActiveNotification | active | open
    """
  }

  static func input(_ t: String, _ token: String, _ state: String) -> String {
    "\(t) | input | \(token) | \(state) | \(token)"
  }

  static func ignored(_ t: String, _ token: String, _ state: String, _ reason: String) -> String {
    "\(input(t, token, state))\n\(t) | ignored | \(token) | \(state) | \(token) | \(reason)"
  }

  static func suspended(_ t: String, _ cause: String) -> String { "\(t) | state | suspended | suspended | \(cause)" }

  static func expired(_ t: String, _ name: String, _ cause: String) -> String {
    "\(t) | task | expire:\(name) | background | \(cause)"
  }

  static func purged(_ t: String, _ names: String..., cause: String) -> String {
    let reports = names.map { "\(t) | report | backgroundTimeExpired:\($0) | background | \(cause)\n" }.joined()
    return "\(reports)\(t) | state | notRunning | notRunning | \(cause)"
  }
}
