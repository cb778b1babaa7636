import AppLifecycle
import LifecycleJournal

/// The lines of a log, as they are printed.
struct LogTable {
  let paint: Paint
  let isJSON: Bool
  /// Whether the page is too narrow for all columns; then the state is printed only where it changes.
  let isNarrow: Bool
  private(set) var text = ""
  private var session = -1

  /// Creates a page for a terminal of a number of columns; nil for one that has room for everything.
  init(paint: Paint, isJSON: Bool, width: Int?) {
    (self.paint, self.isJSON, isNarrow) = (paint, isJSON, width ?? .max < 80)
  }

  mutating func flush() throws {
    defer { text = "" }
    if !text.isEmpty { try StandardStreams.write(text, to: .output) }
  }

  mutating func add(_ item: JournalScan.Item) {
    if isJSON {
      if case .line(.record(let record)) = item.entry.content { text += record.jsonLine + "\n" }
      return
    }
    if item.session != session, item.session > 0 {
      if session >= 0 { text += "\n" }
      session = item.session
      text += paint.bold(title(of: item)) + "\n"
    }
    guard let row = row(of: item) else { return }
    text += row + "\n"
  }

  private func title(of item: JournalScan.Item) -> String {
    guard let header = item.run.header else { return "#\(item.session)  \(item.run.nameWithoutHeader)" }
    return "#\(item.session)  \(header.program.printable), process \(header.processID), \(header.start.localDateTime)"
  }

  private func row(of item: JournalScan.Item) -> String? {
    // A record that no program has written has no time of day, only the time since its beginning.
    let clock = (item.run.header == nil ? item.wallTime?.timeSinceBeginning : item.wallTime?.localTime) ?? ""
    // A narrow page leaves out the milliseconds.
    let time = paint.faint(isNarrow ? String(clock.dropLast(4)) : clock.rightPadded(to: 12))
    func row(_ state: ApplicationState, _ text: String) -> String {
      isNarrow ? "\(time) \(text)" : "\(time)  \(paint.state(state.rawValue.rightPadded(to: 10), state))  \(text)"
    }
    switch item.entry.content {
    case .line(.record(let record)): return row(record.state, words(of: record))
    case .line(.entry(let entry)):
      let text = (isNarrow ? entry.briefly : entry.description).printable
      let isAlarming = entry.isLate || entry.outcome.isFailure
      return row(item.run.state, step("spent", isAlarming ? paint.alarm(text) : text))
    case .line(.crash(let crash)): return row(item.run.state, paint.alarm("the process crashed: \(crash.signal)"))
    case .line(.stopped(let stop)):
      return row(item.run.state, paint.alarm("the journal stopped here: \(stop.error.printable)"))
    case .line(.gap(let gap)):
      return row(item.run.state, paint.alarm("\(gap.lost) lines are missing here: \(gap.error.printable)"))
    case .line(.clock(let mark)):
      return row(item.run.state, paint.faint("the clock says \(mark.wallTime.localDateTime)"))
    case .line(.run), .line(.alive), .line(.unknown), .damaged: return nil
    }
  }

  private func words(of record: LifecycleRecord) -> String {
    let name = (record.scene.map { "\(record.name) (\($0))" } ?? record.name).printable
    let cause = record.cause.rawValue == record.name ? "" : paint.faint("  \(record.cause.rawValue.printable)")
    return switch record.kind {
    case .input: paint.bold(name)
    case .state: step("state", paint.state(name, record.state) + cause)
    case .delegate: step("call", name)
    case .notification: step("post", name)
    case .task: step("task", name)
    case .report: step("report", paint.alarm(name))
    case .ignored: "\(isNarrow ? " " : "  ")ignored: \((record.reason ?? record.name).printable)"
    }
  }

  /// An effect of an input, indented below it.
  private func step(_ kind: String, _ text: String) -> String {
    isNarrow ? " \(kind) \(text)" : "  \(kind.rightPadded(to: 6))  \(text)"
  }
}

extension LedgerEntry {
  /// A short form: the name, and the time.
  fileprivate var briefly: String {
    let outcome = outcome == .completed ? "" : ", \(outcome.words)"
    return "\(name) \(duration.brief)\(outcome)"
  }
}
