public import AppLifecycle

extension Journal {
  /// The settings of a journal: what it records, and how it treats its files.
  public struct Configuration: Sendable {
    /// The records that are flushed to the disk before the program continues.
    public var flush = FlushPolicy.beforeSuspensionOrDeath
    /// The entries of the application's ledger that the journal contains in addition to the records.
    public var entries = EntryPolicy.notable
    /// The maximum length of the file in bytes; nil for no maximum.
    ///
    /// A single longer record exceeds it, and so does a file that cannot be put aside
    /// (``JournalFailure/Operation/rotate``).
    public var maximumSize: Int? = 4 * 1_024 * 1_024
    /// The number of full files that are kept: `PATH.1`, the newest, to `PATH.N`.
    ///
    /// If more were kept before, the surplus is removed when the next file is full.
    public var keptFiles = 3
    /// What to do if another program writes the file.
    public var contention = Contention.refuse
    /// The time without a record after which the journal writes a short line that the application still runs; nil for
    /// no such lines.
    ///
    /// A timer wakes the process once an interval at most. While the application is suspended or not running, no timer
    /// is set. If a program dies, its last line shows how long it ran at least. The interval is at least one second, by
    /// the application's clock. A journal without an application writes no such lines.
    public var heartbeat: Duration? = .seconds(60)
    /// What to do if the file is not a journal.
    public var foreignFile = ForeignFile.refuse

    /// Makes a configuration that flushes before suspension and death, uses up to four files of 4 MiB, and expects one
    /// program.
    public init() {}
  }

  /// The records that are flushed to the disk before `append` returns.
  ///
  /// A record that is written but not flushed survives the program; only a failure of the machine can lose it.
  public enum FlushPolicy: Sendable {
    /// The records that precede suspension or death: the notifications of didEnterBackground and willTerminate, the states
    /// *suspended* and *not running*, and the reports of overruns.
    case beforeSuspensionOrDeath
    /// Every record.
    case everyRecord
    /// No record.
    case never
    /// The records for which a condition is true.
    ///
    /// The condition is called before the record is written, on the thread that appends it, without a lock of the journal.
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

  /// The calls whose times the journal records: of delegates, handlers, resources, observers, bodies of `run(while:)`,
  /// background tasks, and tasks of the application.
  public enum EntryPolicy: String, Sendable, Hashable, CaseIterable {
    /// No calls.
    case none
    /// Resources, background tasks and tasks of the application, and other calls that took a millisecond or more or did
    /// not end in order.
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

  /// What a journal does if another program already writes its file.
  public enum Contention: String, Sendable, Hashable {
    /// The journal writes nothing, and reports that like any failure. It begins to write when the other program has
    /// ended.
    case refuse
    /// The journal writes a file of its own beside the other one: `trips-2.jsonl` for `trips.jsonl`, then
    /// `trips-3.jsonl`.
    ///
    /// It takes the first file that no program writes, so there are never more files than programs at the same time.
    case ownFile
  }

  /// What a journal does if its file exists and does not begin like a journal.
  ///
  /// In both cases the file is not changed.
  public enum ForeignFile: String, Sendable, Hashable {
    /// The journal writes nothing, and reports that like any failure. It begins to write when the file has been moved.
    case refuse
    /// The journal writes another file beside it: `notes.txt.journal` for `notes.txt`, then `notes.txt.journal-2`.
    ///
    /// It takes the first name with a journal or without a file, so the next run continues in the same file.
    case beginBeside
  }
}

extension LifecycleRecord {
  /// Whether the program may be suspended or dead right after this record.
  var precedesSuspensionOrDeath: Bool {
    switch kind {
    case .state: state == .suspended || state == .notRunning
    case .notification: name == Self.didEnterBackground || name == Self.willTerminate
    case .report: isOverrun
    case .input, .delegate, .task, .ignored: false
    }
  }
  // Stored, because `notificationName` builds the name at each call.
  private static let didEnterBackground = ApplicationCallback.didEnterBackground.notificationName
  static let willTerminate = ApplicationCallback.willTerminate.notificationName
}
