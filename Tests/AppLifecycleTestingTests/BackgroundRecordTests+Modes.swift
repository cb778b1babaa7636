// What stops the clock, what cannot be done, and what takes its time.

extension BackgroundRecordTests {
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
