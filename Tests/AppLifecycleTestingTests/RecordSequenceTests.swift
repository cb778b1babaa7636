import AppLifecycle
import AppLifecycleTesting
import TestTraits
import Testing

/// The whole record of each sequence of the app-based life cycle, from the script to the line of JSON.
@Suite(.timeLimit(.hang)) struct RecordSequenceTests {
  struct Golden: Sendable, CustomTestStringConvertible {
    let name: String
    let script: String
    /// A line a record: t, kind, name, state, cause, and for an ignored input the reason.
    let lines: String

    init(_ name: String, _ script: String, _ lines: String) {
      (self.name, self.script, self.lines) = (name, script, lines)
    }

    var testDescription: String { name }

    /// The lines in the record's format, put together here by hand; a scene's name stands after the name and an `@`.
    var jsonLines: String {
      lines.split(separator: "\n").map { line in
        let fields = line.split(separator: "|").map { $0.trimmingSpaces }
        let name = fields[2].split(separator: "@")
        let scene = name.count > 1 ? "\"\(name[1])\"" : "null"
        let reason = fields.count > 5 ? ",\"reason\":\"\(fields[5])\"" : ""
        return "{\"t\":\(fields[0]),\"kind\":\"\(fields[1])\",\"name\":\"\(name[0])\",\"state\":\"\(fields[3])\","
          + "\"scene\":\(scene),\"cause\":\"\(fields[4])\"\(reason)}\n"
      }.joined()
    }
  }

  @Test(arguments: Self.golden) @MainActor
  func `the record is, byte for byte,`(golden: Golden) async throws {
    let system = SimulatedSystem()
    try await system.play(golden.script)
    #expect(system.record.jsonLines == golden.jsonLines)
    #expect(system.clock.executor.foreignWakeUps == 0)
  }

  static let coldLaunch = """
    0.0 | input | launch | notRunning | launch
    0.0 | state | inactive | inactive | launch
    0.0 | delegate | applicationWillFinishLaunching | inactive | launch
    0.0 | delegate | applicationDidFinishLaunching | inactive | launch
    0.0 | notification | UIApplicationDidFinishLaunchingNotification | inactive | launch
    0.0 | state | active | active | launch
    0.0 | delegate | applicationDidBecomeActive | active | launch
    0.0 | notification | UIApplicationDidBecomeActiveNotification | active | launch
    """

  static let golden = [
    Golden(
      "cold launch", "launch",
      """
      \(coldLaunch)
      """),
    Golden(
      "background launch, opened later", "launch:background; open",
      """
      0.0 | input | launch:background | notRunning | launch:background
      0.0 | state | background | background | launch:background
      0.0 | delegate | applicationWillFinishLaunching | background | launch:background
      0.0 | delegate | applicationDidFinishLaunching | background | launch:background
      0.0 | notification | UIApplicationDidFinishLaunchingNotification | background | launch:background
      0.0 | input | open | background | open
      0.0 | delegate | applicationWillEnterForeground | background | open
      0.0 | notification | UIApplicationWillEnterForegroundNotification | background | open
      0.0 | state | inactive | inactive | open
      0.0 | state | active | active | open
      0.0 | delegate | applicationDidBecomeActive | active | open
      0.0 | notification | UIApplicationDidBecomeActiveNotification | active | open
      """),
    Golden(
      "home, and suspended after the stay", "launch; home; wait:5s",
      """
      \(coldLaunch)
      0.0 | input | home | active | home
      0.0 | delegate | applicationWillResignActive | active | home
      0.0 | notification | UIApplicationWillResignActiveNotification | active | home
      0.0 | state | inactive | inactive | home
      0.0 | state | background | background | home
      0.0 | delegate | applicationDidEnterBackground | background | home
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | home
      0.0 | input | wait:5s | background | wait:5s
      5.0 | state | suspended | suspended | wait:5s
      """),
    Golden(
      "back from background and from suspended", "launch; home; open; home; suspend; open",
      """
      \(coldLaunch)
      0.0 | input | home | active | home
      0.0 | delegate | applicationWillResignActive | active | home
      0.0 | notification | UIApplicationWillResignActiveNotification | active | home
      0.0 | state | inactive | inactive | home
      0.0 | state | background | background | home
      0.0 | delegate | applicationDidEnterBackground | background | home
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | home
      0.0 | input | open | background | open
      0.0 | delegate | applicationWillEnterForeground | background | open
      0.0 | notification | UIApplicationWillEnterForegroundNotification | background | open
      0.0 | state | inactive | inactive | open
      0.0 | state | active | active | open
      0.0 | delegate | applicationDidBecomeActive | active | open
      0.0 | notification | UIApplicationDidBecomeActiveNotification | active | open
      0.0 | input | home | active | home
      0.0 | delegate | applicationWillResignActive | active | home
      0.0 | notification | UIApplicationWillResignActiveNotification | active | home
      0.0 | state | inactive | inactive | home
      0.0 | state | background | background | home
      0.0 | delegate | applicationDidEnterBackground | background | home
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | home
      0.0 | input | suspend | background | suspend
      0.0 | state | suspended | suspended | suspend
      0.0 | input | open | suspended | open
      0.0 | state | background | background | open
      0.0 | delegate | applicationWillEnterForeground | background | open
      0.0 | notification | UIApplicationWillEnterForegroundNotification | background | open
      0.0 | state | inactive | inactive | open
      0.0 | state | active | active | open
      0.0 | delegate | applicationDidBecomeActive | active | open
      0.0 | notification | UIApplicationDidBecomeActiveNotification | active | open
      """),
    Golden(
      "locked and unlocked with a pass code", "passcode:on; launch; lock; unlock",
      """
      0.0 | input | passcode:on | notRunning | passcode:on
      \(coldLaunch)
      0.0 | input | lock | active | lock
      0.0 | delegate | applicationWillResignActive | active | lock
      0.0 | notification | UIApplicationWillResignActiveNotification | active | lock
      0.0 | state | inactive | inactive | lock
      0.0 | state | background | background | lock
      0.0 | delegate | applicationDidEnterBackground | background | lock
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | lock
      0.0 | delegate | applicationProtectedDataWillBecomeUnavailable | background | lock
      0.0 | notification | UIApplicationProtectedDataWillBecomeUnavailable | background | lock
      0.0 | input | unlock | background | unlock
      0.0 | delegate | applicationProtectedDataDidBecomeAvailable | background | unlock
      0.0 | notification | UIApplicationProtectedDataDidBecomeAvailable | background | unlock
      0.0 | delegate | applicationWillEnterForeground | background | unlock
      0.0 | notification | UIApplicationWillEnterForegroundNotification | background | unlock
      0.0 | state | inactive | inactive | unlock
      0.0 | state | active | active | unlock
      0.0 | delegate | applicationDidBecomeActive | active | unlock
      0.0 | notification | UIApplicationDidBecomeActiveNotification | active | unlock
      """),
    Golden(
      "unlocked after suspension", "passcode:on; launch; lock; wait:1m; unlock",
      """
      0.0 | input | passcode:on | notRunning | passcode:on
      \(coldLaunch)
      0.0 | input | lock | active | lock
      0.0 | delegate | applicationWillResignActive | active | lock
      0.0 | notification | UIApplicationWillResignActiveNotification | active | lock
      0.0 | state | inactive | inactive | lock
      0.0 | state | background | background | lock
      0.0 | delegate | applicationDidEnterBackground | background | lock
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | lock
      0.0 | delegate | applicationProtectedDataWillBecomeUnavailable | background | lock
      0.0 | notification | UIApplicationProtectedDataWillBecomeUnavailable | background | lock
      0.0 | input | wait:1m | background | wait:1m
      5.0 | state | suspended | suspended | wait:1m
      60.0 | input | unlock | suspended | unlock
      60.0 | state | background | background | unlock
      60.0 | delegate | applicationProtectedDataDidBecomeAvailable | background | unlock
      60.0 | notification | UIApplicationProtectedDataDidBecomeAvailable | background | unlock
      60.0 | delegate | applicationWillEnterForeground | background | unlock
      60.0 | notification | UIApplicationWillEnterForegroundNotification | background | unlock
      60.0 | state | inactive | inactive | unlock
      60.0 | state | active | active | unlock
      60.0 | delegate | applicationDidBecomeActive | active | unlock
      60.0 | notification | UIApplicationDidBecomeActiveNotification | active | unlock
      """),
    Golden(
      "an interruption", "launch; interrupt:call; end:call",
      """
      \(coldLaunch)
      0.0 | input | interrupt:call | active | interrupt:call
      0.0 | delegate | applicationWillResignActive | active | interrupt:call
      0.0 | notification | UIApplicationWillResignActiveNotification | active | interrupt:call
      0.0 | state | inactive | inactive | interrupt:call
      0.0 | input | end:call | inactive | end:call
      0.0 | state | active | active | end:call
      0.0 | delegate | applicationDidBecomeActive | active | end:call
      0.0 | notification | UIApplicationDidBecomeActiveNotification | active | end:call
      """),
    Golden(
      "app switcher, returned from", "launch; switcher; switcher:return",
      """
      \(coldLaunch)
      0.0 | input | switcher | active | switcher
      0.0 | delegate | applicationWillResignActive | active | switcher
      0.0 | notification | UIApplicationWillResignActiveNotification | active | switcher
      0.0 | state | inactive | inactive | switcher
      0.0 | input | switcher:return | inactive | switcher:return
      0.0 | state | active | active | switcher:return
      0.0 | delegate | applicationDidBecomeActive | active | switcher:return
      0.0 | notification | UIApplicationDidBecomeActiveNotification | active | switcher:return
      """),
    Golden(
      "app switcher, left for another app", "launch; switcher; switcher:leave",
      """
      \(coldLaunch)
      0.0 | input | switcher | active | switcher
      0.0 | delegate | applicationWillResignActive | active | switcher
      0.0 | notification | UIApplicationWillResignActiveNotification | active | switcher
      0.0 | state | inactive | inactive | switcher
      0.0 | input | switcher:leave | inactive | switcher:leave
      0.0 | state | background | background | switcher:leave
      0.0 | delegate | applicationDidEnterBackground | background | switcher:leave
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | switcher:leave
      """),
    Golden(
      "killed from the app switcher", "launch; switcher; switcher:kill",
      """
      \(coldLaunch)
      0.0 | input | switcher | active | switcher
      0.0 | delegate | applicationWillResignActive | active | switcher
      0.0 | notification | UIApplicationWillResignActiveNotification | active | switcher
      0.0 | state | inactive | inactive | switcher
      0.0 | input | switcher:kill | inactive | switcher:kill
      0.0 | state | background | background | switcher:kill
      0.0 | delegate | applicationDidEnterBackground | background | switcher:kill
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | switcher:kill
      0.0 | delegate | applicationWillTerminate | background | switcher:kill
      0.0 | notification | UIApplicationWillTerminateNotification | background | switcher:kill
      0.0 | state | notRunning | notRunning | switcher:kill
      """),
    Golden(
      "killed while active", "launch; kill",
      """
      \(coldLaunch)
      0.0 | input | kill | active | kill
      0.0 | delegate | applicationWillResignActive | active | kill
      0.0 | notification | UIApplicationWillResignActiveNotification | active | kill
      0.0 | state | inactive | inactive | kill
      0.0 | state | background | background | kill
      0.0 | delegate | applicationDidEnterBackground | background | kill
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | kill
      0.0 | delegate | applicationWillTerminate | background | kill
      0.0 | notification | UIApplicationWillTerminateNotification | background | kill
      0.0 | state | notRunning | notRunning | kill
      """),
    Golden(
      "gone without a word",
      "launch; home; suspend; kill; launch:background; suspend; reclaim; fetch; crash; fetch; reboot",
      """
      \(coldLaunch)
      0.0 | input | home | active | home
      0.0 | delegate | applicationWillResignActive | active | home
      0.0 | notification | UIApplicationWillResignActiveNotification | active | home
      0.0 | state | inactive | inactive | home
      0.0 | state | background | background | home
      0.0 | delegate | applicationDidEnterBackground | background | home
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | home
      0.0 | input | suspend | background | suspend
      0.0 | state | suspended | suspended | suspend
      0.0 | input | kill | suspended | kill
      0.0 | state | notRunning | notRunning | kill
      0.0 | input | launch:background | notRunning | launch:background
      0.0 | state | background | background | launch:background
      0.0 | delegate | applicationWillFinishLaunching | background | launch:background
      0.0 | delegate | applicationDidFinishLaunching | background | launch:background
      0.0 | notification | UIApplicationDidFinishLaunchingNotification | background | launch:background
      0.0 | input | suspend | background | suspend
      0.0 | state | suspended | suspended | suspend
      0.0 | input | reclaim | suspended | reclaim
      0.0 | state | notRunning | notRunning | reclaim
      0.0 | input | fetch | notRunning | fetch
      0.0 | state | background | background | fetch
      0.0 | delegate | applicationWillFinishLaunching | background | fetch
      0.0 | delegate | applicationDidFinishLaunching | background | fetch
      0.0 | notification | UIApplicationDidFinishLaunchingNotification | background | fetch
      0.0 | input | crash | background | crash
      0.0 | state | notRunning | notRunning | crash
      0.0 | input | fetch | notRunning | fetch
      0.0 | state | background | background | fetch
      0.0 | delegate | applicationWillFinishLaunching | background | fetch
      0.0 | delegate | applicationDidFinishLaunching | background | fetch
      0.0 | notification | UIApplicationDidFinishLaunchingNotification | background | fetch
      0.0 | input | reboot | background | reboot
      0.0 | state | notRunning | notRunning | reboot
      """),
    Golden(
      "memory and time", "launch; memory; time; home; suspend; memory; time; time; open",
      """
      \(coldLaunch)
      0.0 | input | memory | active | memory
      0.0 | delegate | applicationDidReceiveMemoryWarning | active | memory
      0.0 | notification | UIApplicationDidReceiveMemoryWarningNotification | active | memory
      0.0 | input | time | active | time
      0.0 | delegate | applicationSignificantTimeChange | active | time
      0.0 | notification | UIApplicationSignificantTimeChangeNotification | active | time
      0.0 | input | home | active | home
      0.0 | delegate | applicationWillResignActive | active | home
      0.0 | notification | UIApplicationWillResignActiveNotification | active | home
      0.0 | state | inactive | inactive | home
      0.0 | state | background | background | home
      0.0 | delegate | applicationDidEnterBackground | background | home
      0.0 | notification | UIApplicationDidEnterBackgroundNotification | background | home
      0.0 | input | suspend | background | suspend
      0.0 | state | suspended | suspended | suspend
      0.0 | input | memory | suspended | memory
      0.0 | ignored | memory | suspended | memory | the application is suspended
      0.0 | input | time | suspended | time
      0.0 | input | time | suspended | time
      0.0 | input | open | suspended | open
      0.0 | state | background | background | open
      0.0 | delegate | applicationWillEnterForeground | background | open
      0.0 | notification | UIApplicationWillEnterForegroundNotification | background | open
      0.0 | state | inactive | inactive | open
      0.0 | delegate | applicationSignificantTimeChange | inactive | open
      0.0 | notification | UIApplicationSignificantTimeChangeNotification | inactive | open
      0.0 | state | active | active | open
      0.0 | delegate | applicationDidBecomeActive | active | open
      0.0 | notification | UIApplicationDidBecomeActiveNotification | active | open
      """),
  ]
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    var trimmed = drop { $0 == " " }
    while trimmed.last == " " { trimmed.removeLast() }
    return trimmed
  }
}
