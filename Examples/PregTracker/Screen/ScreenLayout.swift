import ExampleSupport

/// Turns contents into the lines of a screen: a pure function, so that every size can be tested without a terminal.
struct ScreenLayout {
  let columns: Int
  let rows: Int

  init(columns: Int, rows: Int) { (self.columns, self.rows) = (max(columns, 1), max(rows, 1)) }

  /// A part of the screen; when rows are short, the least important parts go first.
  private struct Block {
    var lines: [StyledLine]
    var importance: Int
  }

  /// Exactly as many lines as the screen has rows, none wider than it has columns.
  func lines(_ contents: ScreenContents) -> [StyledLine] {
    // The label comes first, so that it is shown however few rows there are.
    if contents.mode == .help { return fill(label(contents.label, rows: rows) + helpLines) }
    let dueDate = dueDate(contents)
    let label = label(contents.label, rows: contents.mode.editor != nil ? rows - dueDate.count : rows)

    var blocks = [
      Block(lines: [title(contents)], importance: 2),
      Block(lines: [""], importance: 0),
      Block(lines: label, importance: 12),
      Block(lines: [bar(contents.progress)], importance: 1),
      Block(lines: [""], importance: 0),
      Block(lines: dueDate, importance: contents.mode.editor != nil ? 11 : 7),
      Block(lines: [field("Tip", contents.tip.isEmpty ? "–" : contents.tip)], importance: 6),
      Block(lines: [field("", contents.tipsStatus, .dim)], importance: 4),
      Block(lines: notice(contents.previousRun), importance: 5),
      Block(lines: notice(contents.journalProblem), importance: 9),
      Block(lines: notice(contents.problem), importance: 10),
      Block(lines: [""], importance: 0),
    ]
    let keys = Block(lines: [self.keys(contents.mode)], importance: 8)

    // The table gets the remaining rows. Less important parts are removed until it has room for its heading and three events.
    let wanted = min(contents.events.count, 3) + 1
    var room: Int { rows - blocks.reduce(keys.lines.count) { $0 + $1.lines.count } }
    while room < wanted, let least = blocks.indices.min(by: { blocks[$0].importance < blocks[$1].importance }),
      blocks[least].importance < 3
    {
      blocks.remove(at: least)
    }
    let table = self.table(contents.events, rows: room)
    blocks.append(Block(lines: table, importance: 3))
    blocks.append(keys)
    while blocks.count > 1, blocks.reduce(0, { $0 + $1.lines.count }) > rows,
      let least = blocks.indices.min(by: { blocks[$0].importance < blocks[$1].importance })
    {
      blocks.remove(at: least)
    }
    return fill(blocks.flatMap(\.lines))
  }

  private func fill(_ lines: [StyledLine]) -> [StyledLine] {
    let lines = lines.prefix(rows).map { $0.cut(to: columns) }
    return lines + Array(repeating: StyledLine(), count: rows - lines.count)
  }

  private func title(_ contents: ScreenContents) -> StyledLine {
    let seconds = contents.activeTime.components.seconds
    let (minutes, rest) = (seconds / 60, seconds % 60)
    let clock = "active \(minutes):\(rest < 10 ? "0" : "")\(rest)"
    var line = StyledLine("PregTracker", .accent)
    guard line.width + 2 + clock.columns <= columns else { return line }
    line.pad(to: columns - clock.columns)
    line.append(clock, .dim)
    return line
  }

  /// On one line if it fits; else broken between its parts; if even those lines are too many, as many as there are rows.
  private func label(_ label: String, rows: Int) -> [StyledLine] {
    let separator = " · "
    let rows = max(rows, 1)
    var lines: [String] = []
    for part in label.limited.split(separator: separator) {
      if let last = lines.last, (last + separator + part).columns <= columns {
        lines[lines.count - 1] = last + separator + part
      } else {
        lines.append(String(part))
      }
    }
    if lines.count > rows, lines[rows - 1].columns + 2 <= columns { lines[rows - 1] += " …" }
    return lines.prefix(rows).map { StyledLine($0, .bold) }
  }

  private func bar(_ progress: Double?) -> StyledLine {
    let width = min(columns, 64)
    let done = Int((Double(width) * (progress ?? 0)).rounded())
    return StyledLine(String(repeating: "━", count: done), .accent)
      .adding(String(repeating: "─", count: width - done), .dim)
  }

  private func dueDate(_ contents: ScreenContents) -> [StyledLine] {
    guard let editor = contents.mode.editor else {
      return [field("Due", contents.dueDate.map { "\($0)" } ?? "–")]
    }
    let line = StyledLine("Due  ", .dim).adding(editor.text).adding(" ", .reversed)
    if case .quitting = contents.mode { return [line, StyledLine("Quit? This date is not set.", .warning)] }
    guard let complaint = editor.complaint else { return [line.adding("  YYYY-MM-DD", .dim)] }
    return [line, StyledLine(complaint, .warning)]
  }

  /// The whole message, on as many lines as it needs: it names a file or a process, which must not be cut.
  private func notice(_ text: String?) -> [StyledLine] {
    guard let text = text?.limited.escaped else { return [] }
    var rest = text[...]
    var lines: [StyledLine] = []
    // More lines than there are rows would not be seen.
    while !rest.isEmpty, lines.count < rows {
      var line = rest.prefix(columns: columns)
      let next = rest.dropFirst(line.count).first
      // Between two words, unless one alone is too long, as a path may be.
      if let next, next != " ", let space = line.lastIndex(of: " ") { line = line[...space] }
      lines.append(StyledLine(String(line), .warning))
      rest = rest.dropFirst(max(line.count, 1))  // a character that is wider than the screen is left out
      if next == " " { rest = rest.dropFirst() }
    }
    return lines
  }

  private func field(_ name: String, _ value: String, _ style: StyledLine.Style = .plain) -> StyledLine {
    var line = StyledLine(name, .dim)
    line.pad(to: 5)
    return line.adding(value, style)
  }

  /// The newest events, oldest first; a row reads name, state, time.
  private func table(_ events: [ScreenContents.Event], rows: Int) -> [StyledLine] {
    guard rows >= 2, !events.isEmpty else { return [] }
    let names = events.map(\.name.columns).max() ?? 0
    let states = events.map(\.state.columns).max() ?? 0
    let times = events.map(\.time.columns).max() ?? 0
    let gap = names + states + times + 4 <= columns ? 2 : 1
    func row(_ name: String, _ state: String, _ time: String, _ style: StyledLine.Style = .plain) -> StyledLine {
      var line = StyledLine(name, style)
      line.pad(to: names + gap)
      line.append(state, style)
      line.pad(to: names + gap + states + gap)
      line.append(time, .dim)
      return line
    }
    let shown = events.suffix(rows - 1).map { row($0.name, $0.state, $0.time) }
    let padding = Array(repeating: StyledLine(), count: rows - 1 - shown.count)
    return [row("Event", "State", "Time", .dim)] + shown + padding
  }

  private func keys(_ mode: Interaction.Mode) -> StyledLine {
    let keys =
      switch mode {
      case .browsing: [("d", "due date"), ("t", "next tip"), ("h", "help"), ("q", "quit")]
      case .editing: [("Enter", "set"), ("Esc", "leave it as it is")]
      case .quitting: [("y", "quit"), ("n", "go on typing")]
      case .help: [("any key", "back")]
      }
    return keys.reduce(into: StyledLine()) { line, key in
      if line.width > 0 { line.append("  ") }
      line.append(key.0, .bold)
      line.append(" \(key.1)", .dim)
    }
  }

  private var helpLines: [StyledLine] {
    [
      "",
      StyledLine("d", .bold).adding("  sets the due date"),
      StyledLine("t", .bold).adding("  asks for another tip"),
      StyledLine("q", .bold).adding("  quits"),
      "",
      "Press Ctrl-Z and come back with fg, and watch the table:",
      "the connection is closed on the way out and opened again",
      "on return; the label is made anew; the clock stands still.",
      "",
      keys(.help),
    ]
  }
}
