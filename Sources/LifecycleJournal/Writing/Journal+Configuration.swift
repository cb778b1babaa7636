public import AppLifecycle

extension Journal {
  /// What a journal records, and how it treats its files.
  public struct Configuration: Sendable {
    /// What is flushed to the disk before the program goes on.
    public var flush = FlushPolicy.beforeSuspensionOrDeath
    /// Which entries of the application's ledger stand in the journal beside the records.
    public var entries = EntryPolicy.notable
    /// The length in bytes that the file does not grow beyond, unless a single record does; nil for any length.
    public var maximumSize: Int? = 4 * 1_024 * 1_024
    /// How many files are kept that have grown to that length: `PATH.1`, the newest, to `PATH.N`.
    public var keptFiles = 3
    /// What to do if another program writes the file.
    public var contention = Contention.refuse
    /// The time without a record after which a short line says that the application still runs; nil for no such lines.
    ///
    /// A timer wakes the process once an interval at most; while the application is suspended or not running, no timer is set.
    /// If a program vanishes, its last line shows how long it ran at least. The interval is a second at least, by the
    /// application's clock. A journal without an application writes no such lines.
    public var heartbeat: Duration? = .seconds(60)
    /// What to do if the file is no journal.
    public var foreignFile = ForeignFile.refuse

    /// A configuration that flushes before suspension and death, keeps four files of 4 MiB, and expects one program.
    public init() {}
  }

  /// Which records are flushed to the disk before `append` returns.
  ///
  /// A record that is written, and not flushed, outlives the program; only a failure of the machine can lose it.
  public enum FlushPolicy: Sendable {
    /// The records that precede suspension or death: the notifications of didEnterBackground and willTerminate, the states
    /// *suspended* and *not running*, and the reports of overruns.
    case beforeSuspensionOrDeath
    /// Every record.
    case everyRecord
    /// None.
    case never
    /// The records for which a condition is true.
    case when(@Sendable (LifecycleRecord) -> Bool)

    func flushes(_ record: LifecycleRecord) -> Bool {
      switch self {
      case .beforeSuspensionOrDeath: record.precedesSuspensionOrDeath
      case .everyRecord: true
      case .never: false
      case .when(let condition): condition(record)
      }
    }
  }

  /// Which calls are written down: of delegates, handlers, resources, background tasks, and bodies of `run(while:)`.
  public enum EntryPolicy: String, Sendable, Hashable, CaseIterable {
    /// No calls.
    case none
    /// Resources and background tasks, and other calls that took a millisecond or more or did not end in order.
    case notable
    /// All calls. With many handlers most lines are about calls.
    case all

    func includes(_ entry: LedgerEntry) -> Bool {
      switch self {
      case .none: false
      case .notable:
        entry.kind == .resource || entry.kind == .task || entry.outcome != .completed
          || entry.duration >= .milliseconds(1)
      case .all: true
      }
    }
  }

  /// What becomes of a journal that another program writes already.
  public enum Contention: String, Sendable, Hashable {
    /// The journal writes nothing, and reports that as any failure. It begins to write when the other program has ended.
    case refuse
    /// The journal is a file of its own beside the other one: `trips-2.jsonl` for `trips.jsonl`, then `trips-3.jsonl`.
    ///
    /// It takes the first file that no program writes, so there are never more files than programs at the same time.
    case ownFile
  }

  /// What becomes of a journal whose file exists and does not begin as a journal does.
  ///
  /// In both cases the file stays as it is, byte for byte.
  public enum ForeignFile: String, Sendable, Hashable {
    /// The journal writes nothing, and reports that as any failure. It begins to write when the file has been moved.
    case refuse
    /// A journal is written beside it: `notes.txt.journal` for `notes.txt`, then `notes.txt.journal-2`.
    ///
    /// The first name under which there is a journal, or nothing, is taken, so the next run goes on in the same file.
    case beginBeside
  }
}

extension LifecycleRecord {
  /// Whether the program may be frozen or dead right after.
  var precedesSuspensionOrDeath: Bool {
    switch kind {
    case .state: state == .suspended || state == .notRunning
    case .notification: name == Self.didEnterBackground || name == Self.willTerminate
    case .report: isOverrun
    case .input, .delegate, .task, .ignored: false
    }
  }
  // Each look at a callback's notification puts its name together.
  private static let didEnterBackground = ApplicationCallback.didEnterBackground.notificationName
  private static let willTerminate = ApplicationCallback.willTerminate.notificationName
}
