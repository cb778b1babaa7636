import AppLifecycle
import AppLifecycleTesting
import Testing

@Suite struct RecordRenderingTests {
  private func record(
    _ instant: Duration = .zero, _ kind: LifecycleRecord.Kind = .delegate, name: String = "applicationDidBecomeActive",
    state: ApplicationState = .active, scene: String? = nil, cause: LifecycleCause = "launch", reason: String? = nil
  ) -> LifecycleRecord {
    LifecycleRecord(
      instant: instant, kind: kind, name: name, state: state, scene: scene, cause: cause, reason: reason)
  }

  @Test func `a line of JSON has its fields in the order of the format`() {
    #expect(
      record().jsonLine
        == #"{"t":0.0,"kind":"delegate","name":"applicationDidBecomeActive","state":"active","scene":null,"cause":"launch"}"#
    )
    let ignored = record(
      .seconds(5), .ignored, name: "home", state: .background, cause: "home", reason: "it is in the background")
    #expect(
      ignored.jsonLine
        == #"{"t":5.0,"kind":"ignored","name":"home","state":"background","scene":null,"cause":"home","reason":"it is in the background"}"#
    )
    #expect(record(scene: "main").jsonLine.contains(#""scene":"main""#))
    #expect([record(), ignored].jsonLines == record().jsonLine + "\n" + ignored.jsonLine + "\n")
    #expect([LifecycleRecord]().jsonLines == "")
  }

  @Test(
    arguments: [
      (Duration.zero, "0.0"), (.milliseconds(500), "0.5"), (.seconds(5), "5.0"), (.seconds(86_400), "86400.0"),
      (.milliseconds(1_001), "1.001"), (.microseconds(100), "0.0001"), (.nanoseconds(1), "0.000000001"),
      (Duration(secondsComponent: 1, attosecondsComponent: 1), "1.000000000000000001"), (.milliseconds(-1_500), "-1.5"),
      (.milliseconds(-1), "-0.001"), (.seconds(Int64.max), "9223372036854775807.0"),
      (.seconds(9_007_199_254_740_993) + .milliseconds(1), "9007199254740993.001"),
    ])
  func `time is an exact decimal with at least one digit after the point`(instant: Duration, text: String) {
    #expect(record(instant).jsonLine.hasPrefix("{\"t\":\(text),"))
  }

  @Test func `a description is one short line`() {
    #expect("\(record(.milliseconds(500)))" == "0.5 active delegate applicationDidBecomeActive (launch)")
    #expect(
      "\(record(.seconds(5), .ignored, name: "home", state: .background, cause: "Ctrl-Z", reason: "it is gone"))"
        == "5.0 background ignored home: it is gone (Ctrl-Z)")
    #expect(
      "\(record(name: "sceneDidBecomeActive", scene: "main", cause: ""))"
        == "0.0 active delegate sceneDidBecomeActive of main")
  }

  @Test func `names are escaped as JSON asks`() {
    #expect(
      record(name: "a\"b\\c\n\r\t\u{0}\u{1F}\u{7F}\u{80}\u{9F}\u{A0} é😀/").jsonLine
        .contains(#""name":"a\"b\\c\n\r\t\u0000\u001f\u007f\u0080\u009f"# + "\u{A0} é😀/\""))
  }

  @Test func `the table is aligned, and within 80 columns for the platform's names`() {
    let records = [
      record(.zero, .input, name: "launch", state: .notRunning),
      record(.zero, .state, name: "inactive", state: .inactive),
      record(.milliseconds(500)),
      record(.seconds(86_400), .notification, name: "UIApplicationDidBecomeActiveNotification"),
      record(.seconds(86_400), .ignored, name: "launch", reason: "it runs"),
      record(.seconds(86_400), .report, name: "watchdog:x"), record(.seconds(86_400), .task, name: "expire:x"),
      record(.seconds(86_400), .delegate, name: "sceneDidBecomeActive", scene: "main"),
    ]
    #expect(
      records.table == """
           TIME  STATE       WHAT HAPPENED
            0.0  notRunning  launch
            0.0  inactive      state   inactive
            0.5  active        call    applicationDidBecomeActive
        86400.0  active        post    UIApplicationDidBecomeActiveNotification
        86400.0  active        ignored: it runs
        86400.0  active        report  watchdog:x
        86400.0  active        task    expire:x
        86400.0  active        call    sceneDidBecomeActive (main)

        """)
    let longest = ApplicationCallback.allCases.flatMap { callback in
      [callback.rawValue, callback.notificationName ?? ""].map {
        record(.seconds(86_405), .notification, name: $0, state: .background)
      }
    }
    #expect(longest.table.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test func `a record tells its callbacks, notifications, states and ignored inputs`() {
    let records = [
      record(.zero, .input, name: "launch", state: .notRunning),
      record(.zero, .state, name: "inactive", state: .inactive),
      record(), record(.zero, .notification, name: "N"), record(.zero, .ignored, name: "launch", reason: "it runs"),
      record(.zero, .delegate, name: "sceneDidBecomeActive", state: .inactive, scene: "main"),
    ]
    #expect(records.callbacks == ["didBecomeActive (active)", "sceneDidBecomeActive (inactive)"])
    #expect(records.notifications == ["N"])
    #expect(records.states == [.inactive])
    #expect(records.ignored.map(\.reason) == ["it runs"])
  }
}
