public import AppLifecycle

extension [LifecycleRecord] {
  /// The records as a readable table; each line ends with a line feed, and has 80 columns at most for the platform's
  /// names.
  ///
  ///      TIME  STATE       WHAT HAPPENED
  ///       0.0  notRunning  launch
  ///       0.0  inactive      state   inactive
  ///       0.0  inactive      call    applicationWillFinishLaunching
  ///       0.0  inactive      call    applicationDidFinishLaunching
  ///       0.0  inactive      post    UIApplicationDidFinishLaunchingNotification
  ///
  /// Below each input of the system, the table lists its effects, indented: changes of state, delegate calls, and posts
  /// of notifications.
  public var table: String {
    let times = map(\.instant.decimalSeconds)
    let timeWidth = Swift.max(times.map(\.count).max() ?? 0, 6)
    let stateWidth = ApplicationState.allCases.map(\.rawValue.count).max() ?? 0
    var table = "\("TIME".leftPadded(to: timeWidth))  \("STATE".rightPadded(to: stateWidth))  WHAT HAPPENED\n"
    for (time, record) in zip(times, self) {
      table += "\(time.leftPadded(to: timeWidth))  \(record.state.rawValue.rightPadded(to: stateWidth))  "
      table += record.tableText + "\n"
    }
    return table
  }
}

extension LifecycleRecord {
  fileprivate var tableText: String {
    let subject = scene.map { "\(name) (\($0))" } ?? name
    return switch kind {
    case .input: subject
    case .state: "  state   \(subject)"
    case .delegate: "  call    \(subject)"
    case .notification: "  post    \(subject)"
    case .task: "  task    \(subject)"
    case .report: "  report  \(subject)"
    case .ignored: "  ignored: \(reason ?? subject)"
    }
  }
}
