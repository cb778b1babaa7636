import AppLifecycle

/// `lifecycle names`: prints every event of the life cycle with the platform's name for it.
struct NamesCommand: Action {
  var isJSON = false

  init(_ arguments: inout Arguments) throws(UsageError) {
    while try arguments.nextOption() != nil { isJSON = true }
    try arguments.requireNoOperand()
  }

  /// For each event its type in this package, the delegate's method before it, and its raw name.
  private static let rows: [[String?]] =
    ApplicationCallback.allCases.map { [$0.event.map { "Application.\($0)" }, $0.rawValue, $0.notificationName] }
    + [["Application.StateDidChange", nil, "Application.StateDidChange"]]
    + SceneCallback.allCases.map { [$0.event.map { "Scene.\($0)" }, $0.rawValue, $0.notificationName] }

  func run() throws -> ExitStatus {
    var lines = table([["EVENT", "METHOD", "RAW NAME"]] + Self.rows.map { $0.map { $0 ?? "-" } })
    if isJSON {
      lines = Self.rows.map { "{\"event\":\($0[0].json),\"method\":\($0[1].json),\"rawName\":\($0[2].json)}" }
    } else if Terminal.width ?? .max < lines.map(\.count).max() ?? 0 {
      // The terminal is too narrow for a row, so a row takes several lines.
      lines = Self.rows.flatMap { row in
        row.compactMap(\.self).enumerated().map { ($0 == 0 ? "" : "  ") + $1 }
      }
    }
    try StandardStreams.write(lines.map { $0 + "\n" }.joined(), to: .output)
    return .success
  }
}
