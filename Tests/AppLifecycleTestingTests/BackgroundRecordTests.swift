import AppLifecycle
import AppLifecycleTesting
import Testing

/// The whole record of everything that section 5 says about the background, and of calls that take their time.
@Suite(.timeLimit(.minutes(5))) struct BackgroundRecordTests {
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

  // MARK: Stays

  static let stays = [
    Golden(
      "the stay ends exactly with a wait", "launch; home; wait:5s",
      [
        launch, home("0.0"),
        input("0.0", "wait:5s", "background"), suspended("5.0", "wait:5s"),
      ].joined(separator: "\n")),
    Golden(
      "a task keeps the application awake until its end", "launch; task:begin:a; home; wait:8s; task:end:a; wait:1h",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:8s", "background"))
      \(input("8.0", "task:end:a", "background"))
      \(suspended("8.0", "task:end:a"))
      \(input("8.0", "wait:1h", "suspended"))
      """),
    Golden(
      "a task that ends within the stay does not shorten it",
      "launch; home; wait:1s; task:begin:a; wait:2s; task:end:a; wait:2s",
      """
      \(launch)
      \(home("0.0"))
      \(input("0.0", "wait:1s", "background"))
      \(input("1.0", "task:begin:a", "background"))
      \(input("1.0", "wait:2s", "background"))
      \(input("3.0", "task:end:a", "background"))
      \(input("3.0", "wait:2s", "background"))
      \(suspended("5.0", "wait:2s"))
      """),
    Golden(
      "the last of several tasks counts",
      "launch; task:begin:a; task:begin:b; home; wait:6s; task:end:b; wait:6s; task:end:a",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(input("0.0", "task:begin:b", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:6s", "background"))
      \(input("6.0", "task:end:b", "background"))
      \(input("6.0", "wait:6s", "background"))
      \(input("12.0", "task:end:a", "background"))
      \(suspended("12.0", "task:end:a"))
      """),
    Golden(
      "a background launch and a wake begin stays",
      "launch:background; task:begin:a; wait:6s; task:end:a; wake; wait:5s",
      """
      \(input("0.0", "launch:background", "notRunning"))
      0.0 | state | background | background | launch:background
      0.0 | delegate | applicationWillFinishLaunching | background | launch:background
      0.0 | delegate | applicationDidFinishLaunching | background | launch:background
      0.0 | notification | UIApplicationDidFinishLaunchingNotification | background | launch:background
      \(input("0.0", "task:begin:a", "background"))
      \(input("0.0", "wait:6s", "background"))
      \(input("6.0", "task:end:a", "background"))
      \(suspended("6.0", "task:end:a"))
      \(input("6.0", "wake", "suspended"))
      6.0 | state | background | background | wake
      \(input("6.0", "wait:5s", "background"))
      \(suspended("11.0", "wait:5s"))
      """),
    Golden(
      "a task that was frozen with the application counts in the next stay",
      "launch; task:begin:a; home; wait:20s; suspend; wait:1h; wake; wait:10s; task:end:a",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:20s", "background"))
      \(input("20.0", "suspend", "background"))
      \(suspended("20.0", "suspend"))
      \(input("20.0", "wait:1h", "suspended"))
      \(input("3620.0", "wake", "suspended"))
      3620.0 | state | background | background | wake
      \(input("3620.0", "wait:10s", "background"))
      \(input("3630.0", "task:end:a", "background"))
      \(suspended("3630.0", "task:end:a"))
      """),
  ]

  // MARK: Expiration and purge

  static let expirations = [
    Golden(
      "expired in order of begin, refused, purged with a report for each",
      "launch; task:begin:b; home; wait:3s; task:begin:a; wait:22s; task:begin:late; wait:5s; task:end:a",
      """
      \(launch)
      \(input("0.0", "task:begin:b", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:3s", "background"))
      \(input("3.0", "task:begin:a", "background"))
      \(input("3.0", "wait:22s", "background"))
      \(expired("25.0", "b", "wait:22s"))
      \(expired("25.0", "a", "wait:22s"))
      \(input("25.0", "task:begin:late", "background"))
      25.0 | task | refused:late | background | task:begin:late
      \(input("25.0", "wait:5s", "background"))
      \(purged("30.0", "b", "a", cause: "wait:5s"))
      \(ignored("30.0", "task:end:a", "notRunning", "the application is not running"))
      """),
    Golden(
      "a moment before the expiration a begin is taken",
      "launch; task:begin:a; home; wait:24999ms; task:begin:b; wait:1ms; task:end:a; task:end:b",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:24999ms", "background"))
      \(input("24.999", "task:begin:b", "background"))
      \(input("24.999", "wait:1ms", "background"))
      \(expired("25.0", "a", "wait:1ms"))
      \(expired("25.0", "b", "wait:1ms"))
      \(input("25.0", "task:end:a", "background"))
      \(input("25.0", "task:end:b", "background"))
      \(suspended("25.0", "task:end:b"))
      """),
    Golden(
      "ended after its expiration, in time", "launch; task:begin:a; home; wait:29999ms; task:end:a; wait:1m",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:29999ms", "background"))
      \(expired("25.0", "a", "wait:29999ms"))
      \(input("29.999", "task:end:a", "background"))
      \(suspended("29.999", "task:end:a"))
      \(input("29.999", "wait:1m", "suspended"))
      """),
    Golden(
      "back in time; expired once in its life; in the next stay its time runs out all the same",
      "launch; task:begin:a; home; wait:29s; open; task:begin:b; home; wait:30s",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:29s", "background"))
      \(expired("25.0", "a", "wait:29s"))
      \(open("29.0"))
      \(input("29.0", "task:begin:b", "active"))
      \(home("29.0"))
      \(input("29.0", "wait:30s", "background"))
      \(expired("54.0", "b", "wait:30s"))
      \(purged("59.0", "a", "b", cause: "wait:30s"))
      """),
    Golden(
      "a task that was refused is not reported, and gives no time",
      "launch; task:begin:a; home; wait:26s; task:begin:b; task:end:a",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:26s", "background"))
      \(expired("25.0", "a", "wait:26s"))
      \(input("26.0", "task:begin:b", "background"))
      26.0 | task | refused:b | background | task:begin:b
      \(input("26.0", "task:end:a", "background"))
      \(suspended("26.0", "task:end:a"))
      """),
    Golden(
      "purged, and launched anew without the tasks", "launch; task:begin:a; home; wait:1m; launch; home; wait:5s",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:1m", "background"))
      \(expired("25.0", "a", "wait:1m"))
      \(purged("30.0", "a", cause: "wait:1m"))
      \(launch.replacing("0.0 |", with: "60.0 |"))
      \(home("60.0"))
      \(input("60.0", "wait:5s", "background"))
      \(suspended("65.0", "wait:5s"))
      """),
  ]

  // MARK: Modes

  static let modes = [
    Golden(
      "no clock runs while a mode stands; with its end a new stay begins",
      "launch; mode:begin:audio; home; wait:1d; mode:end:audio; wait:5s",
      """
      \(launch)
      \(input("0.0", "mode:begin:audio", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:1d", "background"))
      \(input("86400.0", "mode:end:audio", "background"))
      \(input("86400.0", "wait:5s", "background"))
      \(suspended("86405.0", "wait:5s"))
      """),
    Golden(
      "a mode stops the clocks of tasks, also after their expiration; then they count anew",
      "launch; task:begin:a; home; wait:27s; mode:begin:m; task:begin:b; wait:1m; mode:end:m; wait:30s",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:27s", "background"))
      \(expired("25.0", "a", "wait:27s"))
      \(input("27.0", "mode:begin:m", "background"))
      \(input("27.0", "task:begin:b", "background"))
      \(input("27.0", "wait:1m", "background"))
      \(input("87.0", "mode:end:m", "background"))
      \(input("87.0", "wait:30s", "background"))
      \(expired("112.0", "b", "wait:30s"))
      \(purged("117.0", "a", "b", cause: "wait:30s"))
      """),
    Golden(
      "the last of several modes counts, also of one name",
      "launch; mode:begin:m; mode:begin:m; mode:begin:n; home; mode:end:m; mode:end:n; wait:1m; mode:end:m; wait:5s",
      """
      \(launch)
      \(input("0.0", "mode:begin:m", "active"))
      \(input("0.0", "mode:begin:m", "active"))
      \(input("0.0", "mode:begin:n", "active"))
      \(home("0.0"))
      \(input("0.0", "mode:end:m", "background"))
      \(input("0.0", "mode:end:n", "background"))
      \(input("0.0", "wait:1m", "background"))
      \(input("60.0", "mode:end:m", "background"))
      \(input("60.0", "wait:5s", "background"))
      \(suspended("65.0", "wait:5s"))
      """),
    Golden(
      "the system may freeze an application in a mode",
      "launch; mode:begin:m; home; suspend; mode:end:m; wake; wait:1m",
      """
      \(launch)
      \(input("0.0", "mode:begin:m", "active"))
      \(home("0.0"))
      \(input("0.0", "suspend", "background"))
      \(suspended("0.0", "suspend"))
      \(ignored("0.0", "mode:end:m", "suspended", "the application is suspended"))
      \(input("0.0", "wake", "suspended"))
      0.0 | state | background | background | wake
      \(input("0.0", "wait:1m", "background"))
      """),
  ]

  // MARK: What cannot be done

  static let mistakes = [
    Golden(
      "before the launch, and suspended",
      "task:begin:a mode:begin:m launch home suspend task:begin:a task:end:a mode:end:m",
      """
      \(ignored("0.0", "task:begin:a", "notRunning", "the application is not running"))
      \(ignored("0.0", "mode:begin:m", "notRunning", "the application is not running"))
      \(launch)
      \(home("0.0"))
      \(input("0.0", "suspend", "background"))
      \(suspended("0.0", "suspend"))
      \(ignored("0.0", "task:begin:a", "suspended", "the application is suspended"))
      \(ignored("0.0", "task:end:a", "suspended", "the application is suspended"))
      \(ignored("0.0", "mode:end:m", "suspended", "the application is suspended"))
      """),
    Golden(
      "unknown ones, those of a process that has ended among them",
      "launch task:end:a mode:end:m task:begin:a mode:begin:m crash launch task:end:a mode:end:m",
      """
      \(launch)
      \(ignored("0.0", "task:end:a", "active", "no such background task was begun"))
      \(ignored("0.0", "mode:end:m", "active", "no such background mode stands"))
      \(input("0.0", "task:begin:a", "active"))
      \(input("0.0", "mode:begin:m", "active"))
      \(input("0.0", "crash", "active"))
      0.0 | state | notRunning | notRunning | crash
      \(launch)
      \(ignored("0.0", "task:end:a", "active", "no such background task was begun"))
      \(ignored("0.0", "mode:end:m", "active", "no such background mode stands"))
      """),
    Golden(
      "ended twice: reported, and the script goes on",
      "launch task:begin:a task:end:a task:end:a mode:begin:m mode:end:m mode:end:m",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(input("0.0", "task:end:a", "active"))
      \(input("0.0", "task:end:a", "active"))
      0.0 | report | taskEndedTwice:a | active | task:end:a
      \(input("0.0", "mode:begin:m", "active"))
      \(input("0.0", "mode:end:m", "active"))
      \(ignored("0.0", "mode:end:m", "active", "no such background mode stands"))
      """),
    Golden(
      "two tasks of one name are ended one after the other, then twice",
      "launch task:begin:a task:begin:a task:end:a task:end:a task:begin:a task:end:a task:end:a",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(input("0.0", "task:begin:a", "active"))
      \(input("0.0", "task:end:a", "active"))
      \(input("0.0", "task:end:a", "active"))
      \(input("0.0", "task:begin:a", "active"))
      \(input("0.0", "task:end:a", "active"))
      \(input("0.0", "task:end:a", "active"))
      0.0 | report | taskEndedTwice:a | active | task:end:a
      """),
  ]

  // MARK: Calls that take their time

  static let slowCalls = [
    Golden(
      "the time passes inside the call, before its notification, once",
      "launch; slow:didReceiveMemoryWarning:3s; wait:1s; memory; memory",
      """
      \(launch)
      \(input("0.0", "slow:didReceiveMemoryWarning:3s", "active"))
      \(input("0.0", "wait:1s", "active"))
      \(input("1.0", "memory", "active"))
      1.0 | delegate | applicationDidReceiveMemoryWarning | active | memory
      4.0 | notification | UIApplicationDidReceiveMemoryWarningNotification | active | memory
      \(input("4.0", "memory", "active"))
      4.0 | delegate | applicationDidReceiveMemoryWarning | active | memory
      4.0 | notification | UIApplicationDidReceiveMemoryWarningNotification | active | memory
      """),
    Golden(
      "it holds until it is used, also before the launch, and the latest counts",
      "slow:willFinishLaunching:1m; slow:willFinishLaunching:1s; slow:sceneDidBecomeActive:1s; launch",
      """
      \(input("0.0", "slow:willFinishLaunching:1m", "notRunning"))
      \(input("0.0", "slow:willFinishLaunching:1s", "notRunning"))
      \(input("0.0", "slow:sceneDidBecomeActive:1s", "notRunning"))
      0.0 | input | launch | notRunning | launch
      0.0 | state | inactive | inactive | launch
      0.0 | delegate | applicationWillFinishLaunching | inactive | launch
      1.0 | delegate | applicationDidFinishLaunching | inactive | launch
      1.0 | notification | UIApplicationDidFinishLaunchingNotification | inactive | launch
      1.0 | state | active | active | launch
      1.0 | delegate | applicationDidBecomeActive | active | launch
      1.0 | notification | UIApplicationDidBecomeActiveNotification | active | launch
      """),
    Golden(
      "it counts as part of the stay", "launch; slow:didEnterBackground:4s; home; wait:1s",
      """
      \(launch)
      \(input("0.0", "slow:didEnterBackground:4s", "active"))
      \(home("0.0").replacing("0.0 | notification | UIApplicationDid", with: "4.0 | notification | UIApplicationDid"))
      \(input("4.0", "wait:1s", "background"))
      \(suspended("5.0", "wait:1s"))
      """),
    Golden(
      "clocks that ended during it have their say right after it, in order",
      "launch; task:begin:a; home; wait:20s; slow:significantTimeChange:11s; time; wait:1s",
      """
      \(launch)
      \(input("0.0", "task:begin:a", "active"))
      \(home("0.0"))
      \(input("0.0", "wait:20s", "background"))
      \(input("20.0", "slow:significantTimeChange:11s", "background"))
      \(input("20.0", "time", "background"))
      20.0 | delegate | applicationSignificantTimeChange | background | time
      31.0 | notification | UIApplicationSignificantTimeChangeNotification | background | time
      \(expired("31.0", "a", "time"))
      \(purged("31.0", "a", cause: "time"))
      \(input("31.0", "wait:1s", "notRunning"))
      """),
    Golden(
      "a call on the way back outlasts the stay, and the application comes back all the same",
      "launch; home; wait:1s; slow:willEnterForeground:1m; open; home",
      """
      \(launch)
      \(home("0.0"))
      \(input("0.0", "wait:1s", "background"))
      \(input("1.0", "slow:willEnterForeground:1m", "background"))
      \(input("1.0", "open", "background"))
      1.0 | delegate | applicationWillEnterForeground | background | open
      61.0 | notification | UIApplicationWillEnterForegroundNotification | background | open
      61.0 | state | inactive | inactive | open
      61.0 | state | active | active | open
      61.0 | delegate | applicationDidBecomeActive | active | open
      61.0 | notification | UIApplicationDidBecomeActiveNotification | active | open
      \(home("61.0"))
      """),
  ]
}
