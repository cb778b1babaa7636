import LifecycleJournal

/// What of a journal is asked for: a run, a time.
struct Selection: Equatable {
  var session: SessionChoice?
  var since: Moment?
  var until: Moment?

  /// The options that say so, for the help on them.
  static let options: [(name: String, values: [String])] = [("--since", []), ("--until", []), ("--session", ["last"])]

  /// Takes an option with its value; false where it is another's.
  mutating func take(_ option: String, _ arguments: inout Arguments) throws(UsageError) -> Bool {
    switch option {
    case "--since": since = try Self.moment(of: option, &arguments)
    case "--until": until = try Self.moment(of: option, &arguments)
    case "--session":
      session = SessionChoice(try arguments.value(of: option, "a number, 'last', or the run's name"))
    default: return false
    }
    return true
  }

  private static func moment(of option: String, _ arguments: inout Arguments) throws(UsageError) -> Moment {
    let text = try arguments.value(of: option, "a time: '10m', '2026-11-21' or '2026-11-21T17:15'")
    guard let moment = Moment(text) else {
      throw UsageError("\(option) is '10m', '2026-11-21' or '2026-11-21T17:15', not '\(text)'")
    }
    return moment
  }

  /// Whether less than everything is asked for.
  var isNarrow: Bool { self != Selection() }

  /// The selection in numbers and times of a journal, which is read once where a run is counted from the end.
  func resolved(in path: String) throws -> Resolved {
    let now = RunFacts.ofThisProcess().wallTime()
    return Resolved(
      session: try session?.resolved(in: path), earliest: since?.wallTime(now: now), end: until?.wallTime(now: now))
  }

  /// What is looked for, line by line.
  struct Resolved {
    let session: SessionChoice?
    let earliest: Duration?
    let end: Duration?

    /// Whether a line belongs to the run that is asked for.
    func includesRun(of item: JournalScan.Item) -> Bool { session?.matches(item) ?? true }

    /// Whether a line is too old.
    func isBefore(_ item: JournalScan.Item) -> Bool { earliest.map { item.wallTime ?? .zero < $0 } ?? false }

    /// Whether a line is too new.
    func isAfter(_ item: JournalScan.Item) -> Bool { end.map { item.wallTime ?? .zero >= $0 } ?? false }
  }
}
