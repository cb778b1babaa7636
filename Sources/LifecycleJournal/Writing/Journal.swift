public import AppLifecycle
public import PubSub
import Scheduling

/// A record of a program's life cycles that survives the program: a file with one JSON object a line, appended as
/// events happen.
///
///     let journal = Journal(at: "/home/me/.local/state/trips/runs.jsonl", of: application)
///     if journal.previousExit.kind == .crashed { offerToSendReport() }
///
/// From then on every record of the application (`LifecycleRecord`) is a line in the file before the next delegate call
/// is made. Each line is written by one system call. When `append` has returned, the line survives the program, without
/// a flush. Before the program is suspended or ends, the journal also flushes the lines to the disk (``FlushPolicy``).
/// A flushed line survives a failure of the machine, if the disk really has stored it.
///
/// A journal never ends its program, and throws no error. A line that it cannot write is lost. It reports the failure
/// once, as an event (``DidFail``), and writes a ``JournalGap`` into the file when it can write again. Only one program
/// at a time writes a journal. Any program may read it at the same time, with ``JournalReader``.
///
/// While the application runs without events, the journal adds a line a minute that it still runs. So if the program
/// dies, the journal shows how long it ran (``Configuration/heartbeat``).
///
/// Any thread may use it.
public final class Journal: Sendable {
  /// The path of the journal.
  ///
  /// It differs from the path that was passed to the initializer if that path is a symbolic link, or if
  /// ``Contention/ownFile`` or ``ForeignFile/beginBeside`` has chosen another file.
  public var path: String { writer.withLock { $0.path } }
  /// How the run before this one ended.
  public let previousExit: PreviousExit

  private let writer: Guarded<JournalWriter>
  private let flush: FlushPolicy
  private let bus: EventBus?
  private let timer: JournalTimer?
  private let observation = Guarded<ObserverToken?>(nil)

  /// Opens a journal, and begins a run in it.
  ///
  /// The initializer creates missing directories. It follows a symbolic link; the journal is the link's target, even if
  /// the link changes later. If the journal cannot be opened, the failure is posted as an event, and each appended
  /// record tries again.
  ///
  /// - Parameters:
  ///   - path: the file; if it does not exist, it is created, readable only for its owner.
  ///   - configuration: the settings of the journal.
  ///   - bus: the bus on which failures are posted; nil for none.
  public convenience init(at path: String, configuration: Configuration = Configuration(), bus: EventBus? = nil) {
    self.init(
      at: path, configuration: configuration, bus: bus, instant: .zero, files: SystemFiles(),
      facts: .ofThisProcess())
  }

  /// Opens a journal, begins a run in it, and records all events of an application from now on.
  ///
  /// The application keeps the journal alive. If you open it before the launch, it contains the whole run, including
  /// the system's inputs, and a simulated system can replay it.
  ///
  /// - Parameters:
  ///   - path: the file; if it does not exist, it is created, readable only for its owner.
  ///   - application: the application to record; failures are posted on its bus.
  ///   - configuration: the settings of the journal.
  @MainActor public convenience init(
    at path: String, of application: Application, configuration: Configuration = Configuration()
  ) {
    self.init(
      at: path, of: application, configuration: configuration, files: SystemFiles(), facts: .ofThisProcess())
  }

  @MainActor package convenience init(
    at path: String, of application: Application, configuration: Configuration, files: any FileCalls, facts: RunFacts
  ) {
    self.init(
      at: path, configuration: configuration, bus: application.bus, instant: application.instant, files: files,
      facts: facts, state: application.present.state, timer: JournalTimer(on: application.timing, application.deadlines)
    )
    // The application keeps the journal alive through this observer, and the journal keeps the observer's token.
    observation.withLock {
      $0 = application.observe(label: "journal") { [self] event in
        switch event {
        case .recorded(let record): append(record)
        case .callEnded(let entry, _): if configuration.entries.includes(entry) { append(entry) }
        default: break
        }
      }
    }
  }

  package init(
    at path: String, configuration: Configuration, bus: EventBus?, instant: Duration, files: any FileCalls,
    facts: RunFacts, state: ApplicationState = .notRunning, timer: JournalTimer? = nil
  ) {
    var writer = JournalWriter(
      path: path, configuration: configuration, files: files, facts: facts, instant: instant, state: state)
    let (previousExit, notices) = writer.begin()
    self.previousExit = previousExit
    self.bus = bus
    self.timer = timer
    flush = configuration.flush
    let step = timer == nil ? nil : writer.heartbeat.note(state, at: instant)
    self.writer = Guarded(writer)
    perform(step)
    post(notices)
  }

  deinit { close() }

  /// Appends a record; returns when it has been written and, if the policy says so, flushed.
  ///
  /// - Parameter record: the record.
  /// - Returns: whether the record is in the file: the write and, if there is one, the flush succeeded.
  /// - Complexity: one write, linear in the length of the record, and a flush if the policy says so; when the file is
  ///   full, also a read and a rename for each kept file.
  @discardableResult
  public func append(_ record: LifecycleRecord) -> Bool {
    // The condition of a policy is the program's code, so it runs without the lock: it may log, post or append.
    let flushes = flush.flushes(record)
    return append(at: record.instant) { $0.append(record, flushes: flushes, &$1) }
  }

  /// Appends an entry of a ledger; it is flushed together with later records.
  ///
  /// - Parameter entry: the call that has ended.
  /// - Returns: whether the entry is in the file.
  /// - Complexity: one write, linear in the length of the entry; when the file is full, also a read and a rename for
  ///   each kept file.
  @discardableResult
  public func append(_ entry: LedgerEntry) -> Bool { append(at: entry.ended) { $0.append(entry, &$1) } }

  private func append(
    at instant: Duration, _ body: (inout JournalWriter, inout [JournalWriter.Notice]) -> Bool
  ) -> Bool {
    var notices: [JournalWriter.Notice] = []
    let (isKept, step) = writer.withLock { writer in
      let isKept = body(&writer, &notices)
      return (isKept, timer == nil ? nil : writer.heartbeat.note(writer.state, at: instant))
    }
    perform(step)
    if !notices.isEmpty { post(notices) }
    return isKept
  }

  /// The failure that prevents the journal from being written at present; nil if there is none.
  public var failure: JournalFailure? { writer.withLock { $0.outage?.failure } }

  /// Ends the recording, and releases the lock of the file; records that are appended later are lost, without a report.
  public func close() {
    writer.withLock { $0.close() }
    timer?.end()
    observation.withLock { $0?.cancel() }
  }

  // Called without the writer's lock: the timers have a lock of their own.
  private func perform(_ step: Heartbeat.Step?) {
    guard let step, let timer else { return }
    timer.perform(step) { [weak self] number in self?.beat(number) }
  }

  private func beat(_ number: Int) {
    guard let timer else { return }
    var notices: [JournalWriter.Notice] = []
    let step = writer.withLock { $0.beat(number, at: timer.now, &notices) }
    perform(step)
    post(notices)
  }

  // Called without the writer's lock: a handler of these events may append.
  private func post(_ notices: [JournalWriter.Notice]) {
    guard let bus else { return }
    let path = path
    for notice in notices {
      switch notice {
      case .failed(let failure): bus.post(DidFail(path: path, failure: failure))
      case .recovered(let gap): bus.post(DidRecover(path: path, gap: gap))
      }
    }
  }
}
