import AppLifecycle
import LifecycleJournal

/// `lifecycle sessions`: one line for each run in a journal.
struct SessionsCommand: Action {
  let path: String
  var isJSON = false
  var color = Paint.Choice.auto

  init(_ arguments: inout Arguments) throws(UsageError) {
    while let option = try arguments.nextOption() {
      if option == "--color" { color = try arguments.choice(of: option) } else { isJSON = true }
    }
    path = try arguments.journal()
  }

  func run() throws -> ExitStatus {
    let progress = Progress()
    let scan = JournalScan(progress: progress)
    let paint = Paint(color)
    let isNarrow = Terminal.width ?? .max < 100
    var text = isJSON || isNarrow ? "" : Self.title + "\n"
    func flush() throws {
      let all = text
      text = ""
      progress?.clear()
      try StandardStreams.write(all, to: .output)
    }
    scan.didEndRun = { session, run, next in
      let exit = scan.exit(of: run, before: next)
      let length = RunLength(of: run, runningBy: exit.kind == .stillRunning ? .ofThisProcess() : nil)
      let row = isNarrow ? Self.lines : Self.row
      text += isJSON ? Self.json(session, run, length, exit) : row(session, run, length, exit, paint)
      text += "\n"
      if text.utf8.count > 60_000 { try flush() }
    }
    do {
      try scan.read(path) { scan.complain(about: $0) }
    } catch {
      // The runs before the failure; a title without any run would say that there is none.
      if scan.session > 0 { try? flush() }
      throw error
    }
    try scan.finish()
    scan.sumUpComplaints()
    try flush()
    return scan.status
  }

  private static let states: [ApplicationState] = [.active, .inactive, .background, .suspended]

  private static let title =
    "   #  START                  LENGTH" + states.map { $0.rawValue.uppercased().leftPadded(to: 11) }.joined()
    + "  ENDED"

  private static func row(
    _ session: Int, _ run: RunSummary, _ length: RunLength, _ exit: PreviousExit, _ paint: Paint
  ) -> String {
    var row = String(session).leftPadded(to: 4)
    row += "  " + (run.header?.start.localDateTime ?? "").rightPadded(to: 19)
    row += (run.header == nil ? "" : length.words).leftPadded(to: 10)
    for state in states {
      let time = length.words(for: state)
      row += paint.state((time ?? "-").leftPadded(to: 11), time == nil ? .notRunning : state)
    }
    return row + "  " + ending(run, exit, paint)
  }

  /// The run on several lines, for a terminal that is too narrow for a row.
  private static func lines(
    _ session: Int, _ run: RunSummary, _ length: RunLength, _ exit: PreviousExit, _ paint: Paint
  ) -> String {
    let start = run.header.map { "  \($0.start.localDateTime)  \(length.words)" } ?? ""
    let times = states.compactMap { state in
      length.words(for: state).map { paint.state("\(state.rawValue) \($0)", state) }
    }
    let title = paint.bold("#\(session)") + "\(start)  \(ending(run, exit, paint))"
    return
      ([title]
      + stride(from: 0, to: times.count, by: 2).map { index in
        "  " + times[index..<min(index + 2, times.count)].joined(separator: ", ")
      }).joined(separator: "\n")
  }

  private static func ending(_ run: RunSummary, _ exit: PreviousExit, _ paint: Paint) -> String {
    if run.isOnlyRecorded { return run.nameWithoutHeader }
    var text = exit.isAlarming ? paint.alarm(exit.text) : exit.text
    if run.stop != nil { text += paint.alarm(", the journal stopped before") }
    if run.lost > 0 { text += paint.alarm(", \(run.lost) lines missing") }
    if run.damagedLines > 0 { text += paint.alarm(", \(run.damagedLines) damaged lines") }
    return text
  }

  private static func json(
    _ session: Int, _ run: RunSummary, _ length: RunLength, _ exit: PreviousExit
  ) -> String {
    let header = run.header
    var text = "{\"session\":\(session),\"run\":\((header?.run).json),\"program\":\((header?.program).json)"
    text += ",\"pid\":\(header.map { "\($0.processID)" } ?? "null"),\"boot\":\((header?.bootID).json)"
    text += ",\"start\":\(header?.start.decimalSeconds ?? "null"),\"length\":\(length.length.decimalSeconds)"
    text += ",\"lengthIsLowerBound\":\(length.isLowerBound),\"times\":{"
    text += ApplicationState.allCases.map { "\"\($0.rawValue)\":\((length.times[$0] ?? .zero).decimalSeconds)" }
      .joined(separator: ",")
    text += "},\"records\":\(run.records),\"lost\":\(run.lost),\"damaged\":\(run.damagedLines)"
    text +=
      ",\"ended\":\"\(exit.kind.rawValue)\",\"state\":\"\(exit.state.rawValue)\",\"signal\":\((run.crash?.signal).json)"
    return text + ",\"evidence\":\(exit.evidence.asJSON)}"
  }
}

extension String? {
  /// The text as a JSON string, or null.
  var json: String { self?.asJSON ?? "null" }
}

extension PreviousExit {
  /// Whether the end deserves the user's attention.
  var isAlarming: Bool {
    switch kind {
    case .crashed, .watchdog: true
    case .killed: state == .active || state == .inactive
    case .firstRun, .terminated, .deviceRestarted, .stillRunning, .unknown: false
    }
  }
}
