import AppLifecycle
import LifecycleJournal

/// Everything in a journal, of all its files, oldest first.
func entries(of path: String) -> [JournalEntry] {
  JournalFiles.all(of: path, files: SystemFiles()).flatMap { name in
    // The file that is written may be missing: it could never be made.
    (try? JournalReader(path: name)).map(Array.init) ?? []
  }
}

extension [JournalEntry] {
  var records: [LifecycleRecord] {
    compactMap { if case .line(.record(let record)) = $0.content { record } else { nil } }
  }
  var spent: [LedgerEntry] {
    compactMap { if case .line(.entry(let entry)) = $0.content { entry } else { nil } }
  }
  var gaps: [JournalGap] { compactMap { if case .line(.gap(let gap)) = $0.content { gap } else { nil } } }
  var headers: [RunHeader] { compactMap { if case .line(.run(let header)) = $0.content { header } else { nil } } }
  var clocks: [JournalClockMark] { compactMap { if case .line(.clock(let mark)) = $0.content { mark } else { nil } } }
  var alive: [Duration] { compactMap { if case .line(.alive(let instant)) = $0.content { instant } else { nil } } }
  var stops: [JournalStop] { compactMap { if case .line(.stopped(let stop)) = $0.content { stop } else { nil } } }
  var damage: [JournalDamage] { compactMap { if case .damaged(let damage) = $0.content { damage } else { nil } } }
}

/// A record with a number for a name.
func numbered(
  _ number: Int, _ kind: LifecycleRecord.Kind = .notification, state: ApplicationState = .active
) -> LifecycleRecord {
  LifecycleRecord(instant: .milliseconds(number), kind: kind, name: "n\(number)", state: state, cause: "test")
}

extension RunFacts {
  /// A process that only a test knows.
  static func made(
    program: String = "trips", processID: Int32 = 7, bootID: String? = "boot-1",
    wallTime: @escaping @Sendable () -> Duration = { .seconds(1_000) },
    uptime: @escaping @Sendable () -> Duration? = { nil }
  ) -> RunFacts {
    RunFacts(program: program, processID: processID, bootID: bootID, wallTime: wallTime, uptime: uptime)
  }
}
