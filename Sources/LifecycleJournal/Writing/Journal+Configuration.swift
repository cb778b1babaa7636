public import AppLifecycle

extension Journal {
  /// Habits of a journal.
  public struct Configuration: Sendable {
    /// What is flushed to the disk before the program goes on.
    public var flush = FlushPolicy.beforeSuspensionOrDeath
    /// Which entries of the application's ledger stand in the journal beside the records.
    public var entries = EntryPolicy.notable
    /// The length in bytes that the file does not grow beyond, unless a single record does; nil for any length.
    public var maximumSize: Int? = 4 * 1_024 * 1_024
    /// How many files are kept that have grown to that length: `PATH.1`, the newest, to `PATH.N`.
    public var keptFiles = 3
    /// What if another program writes the file.
    public var contention = Contention.refuse
    /// How long an application that runs records nothing before a short line says that it still runs; nil for never.
    ///
    /// A timer wakes the process once an interval at most; while the application is suspended or not running, none is set. Without
    /// the line nothing tells how long a program ran that vanished: only that it ran up to its last record. A second at least; the
    /// clock is the application's, and a journal without an application has none.
    public var heartbeat: Duration? = .seconds(60)
    /// What if the file holds something else than a journal.
    public var foreignFile = ForeignFile.refuse

    /// Flushed before suspension and death, four files of four megabytes, one program.
    public init() {}
  }

  /// Which records are flushed to the disk before `append` returns.
  ///
  /// What is not flushed still outlives the program, as soon as it is written; only a machine that goes down can lose it.
  public enum FlushPolicy: Sendable {
    /// What precedes suspension or death: the notifications of didEnterBackground and willTerminate, the states *suspended*
    /// and *not running*, and the report of whatever overran its time.
    case beforeSuspensionOrDeath
    /// Every record.
    case everyRecord
    /// None.
    case never
    /// Those that a condition names.
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

  /// Whose time is written down: that of delegates, handlers, resources, background tasks, and bodies of `run(while:)`.
  public enum EntryPolicy: String, Sendable, Hashable, CaseIterable {
    /// Nobody's.
    case none
    /// Resources and background tasks; of what else was called, who took a millisecond or more, or did not end in order.
    case notable
    /// Everybody's: with many handlers that is most of what is written.
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
    /// Nothing is written, which is reported as any failure; once the other has ended, writing begins.
    case refuse
    /// It is written to a file of its own beside the other's: `trips-2.jsonl` for `trips.jsonl`, then `trips-3.jsonl`.
    ///
    /// The first that nobody writes is taken, so there are never more than there were programs at the same time.
    case ownFile
  }

  /// What becomes of a journal whose file is there already, and begins with something that no journal begins with.
  ///
  /// In both cases the file stays as it is, byte for byte.
  public enum ForeignFile: String, Sendable, Hashable {
    /// Nothing is written, which is reported as any failure; once the file is moved, writing begins.
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
