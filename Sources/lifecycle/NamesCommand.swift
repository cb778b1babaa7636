import AppLifecycle

/// `lifecycle names`: prints every event of the life cycle with the platform's name for it.
struct NamesCommand: Action {
  var isJSON = false

  init(_ arguments: inout Arguments) throws(UsageError) {
    while try arguments.nextOption() != nil { isJSON = true }
    try arguments.requireNoOperand()
  }

  /// One event: the type in this package, the delegate's method before it, and the raw name.
  struct Row: Equatable {
    var event: String?
    var method: String?
    var rawName: String?
  }

  static let rows: [Row] =
    ApplicationCallback.allCases.map { callback in
      let type = callback.event.map { "Application.\($0)" }
      return Row(event: type, method: callback.rawValue, rawName: callback.notificationName)
    } + [Row(event: "Application.StateDidChange", method: nil, rawName: "Application.StateDidChange")]
    + SceneCallback.allCases.map { callback in
      let type = callback.event.map { "Scene.\($0)" }
      return Row(event: type, method: callback.rawValue, rawName: callback.notificationName)
    }

  func run() throws -> ExitStatus {
    var text = ""
    if isJSON {
      for row in Self.rows {
        text += "{\"event\":\(row.event.json),\"method\":\(row.method.json),\"rawName\":\(row.rawName.json)}\n"
      }
    } else {
      let rows = Self.rows.map { [$0.event ?? "-", $0.method ?? "-", $0.rawName ?? "-"] }
      let lines = table([["EVENT", "METHOD", "RAW NAME"]] + rows)
      let isNarrow = Terminal.width ?? .max < lines.map(\.count).max() ?? 0
      if !isNarrow { text = lines.joined(separator: "\n") + "\n" }
      // On several lines, if the terminal is too narrow for a row.
      for row in isNarrow ? Self.rows : [] {
        let names = [row.event, row.method, row.rawName].compactMap(\.self)
        text += names.enumerated().map { "\($0.offset == 0 ? "" : "  ")\($0.element)\n" }.joined()
      }
    }
    try StandardStreams.write(text, to: .output)
    return .success
  }
}
