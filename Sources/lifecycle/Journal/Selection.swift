import LifecycleJournal

/// The part of a journal that the user asks for: a run, a range of time.
struct Selection: Equatable {
  var session: SessionChoice?
  var since: Moment?
  var until: Moment?

  /// The options of a selection, with the words that complete their values.
  static let options: [Command.Option] = [
    ("--since", .text), ("--until", .text), ("--session", .words(["last"])),
  ]

  /// Takes the value of an option, if the option belongs to a selection.
  mutating func take(_ option: String, _ arguments: inout Arguments) throws(UsageError) {
    switch option {
    case "--since": since = try Self.moment(of: option, &arguments)
    case "--until": until = try Self.moment(of: option, &arguments)
    case "--session":
      session = SessionChoice(try arguments.value(of: option, "a number, 'last', or the run's name"))
    default: break
    }
  }

  private static func moment(of option: String, _ arguments: inout Arguments) throws(UsageError) -> Moment {
    let text = try arguments.value(of: option, "a time: '10m', '2026-11-21' or '2026-11-21T17:15'")
    guard let moment = Moment(text) else {
      throw UsageError("\(option) is '10m', '2026-11-21' or '2026-11-21T17:15', not '\(text)'")
    }
    return moment
  }

  /// Whether the user asks for less than the whole journal.
  var isNarrow: Bool { self != Selection() }

  /// The selection in run numbers and times of a journal; reads the journal once if a run is counted from the end.
  func resolved(in path: String) throws -> Resolved {
    let now = RunFacts.ofThisProcess().wallTime()
    return Resolved(
      session: try session?.resolved(in: path), earliest: since?.wallTime(now: now), end: until?.wallTime(now: now))
  }

  /// A selection that decides line by line.
  struct Resolved {
    let session: SessionChoice?
    let earliest: Duration?
    let end: Duration?

    /// Whether a line belongs to the selected run.
    func includesRun(of item: JournalScan.Item) -> Bool { session?.matches(item) ?? true }

    /// Whether a line is too old.
    func isBefore(_ item: JournalScan.Item) -> Bool { earliest.map { item.wallTime ?? .zero < $0 } ?? false }

    /// Whether a line is too new.
    func isAfter(_ item: JournalScan.Item) -> Bool { end.map { item.wallTime ?? .zero >= $0 } ?? false }
  }
}
