// How long a stay lasts, and how it ends.

extension BackgroundRecordTests {
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
}
