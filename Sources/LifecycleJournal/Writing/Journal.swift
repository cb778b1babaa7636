public import AppLifecycle
public import PubSub

/// A record of a program's life cycles that survives the program: one JSON object a line, appended as things happen.
///
///     let journal = Journal(at: "/home/me/.local/state/trips/lifecycle.jsonl", of: application)
///     if journal.previousExit.kind == .crashedInForeground { offerToSendReport() }
///
/// From then on everything that happens to the application is a line in the file before the next delegate call is made. Each
/// line is written by one call and needs no flush to outlive the program; before it is suspended or ends, what was written is
/// flushed to the disk, too (``FlushPolicy``). A line that `append` has returned from is there whatever happens to the program;
/// one that has been flushed, as far as the disk keeps its word, whatever happens to the machine.
///
/// A journal never takes its program down and throws nothing: what it cannot write is lost, reported once as an event
/// (``DidFail``), and told in the file when it can be written again (``JournalGap``). One program writes a journal at a time.
/// Anybody may read it meanwhile, with ``JournalReader``.
///
/// While the application runs and nothing happens, a line once a minute says that it still runs, so that the length of a run
/// that vanished can be told (``Configuration/heartbeat``).
///
/// May be used from any thread.
public final class Journal: Sendable {
  /// Where the journal is.
  ///
  /// Another file than was asked for where that is a symbolic link, or where ``Contention/ownFile`` or
  /// ``ForeignFile/beginBeside`` has led to one.
  public var path: String { writer.withLock { $0.path } }
  /// How the run before this one ended.
  public let previousExit: PreviousExit

  private let writer: Guarded<JournalWriter>
  private let bus: EventBus?
  private let timer: JournalTimer?
  private let observation = Guarded<ObserverToken?>(nil)

  /// Opens a journal, and begins a run in it.
  ///
  /// Directories that are missing are made. A symbolic link is followed once, here: the journal is the file behind it. What
  /// keeps the journal from being opened is reported as an event; each record that is appended tries again.
  ///
  /// - Parameters:
  ///   - path: the file; it is made where there is none, readable for its owner alone.
  ///   - configuration: what is flushed, how long the file may grow, and what if another program writes it.
  ///   - bus: where failures are posted; nil for nowhere.
  public convenience init(at path: String, configuration: Configuration = Configuration(), bus: EventBus? = nil) {
    self.init(
      at: path, configuration: configuration, bus: bus, instant: .zero, files: SystemFiles(),
      facts: .ofThisProcess())
  }

  /// Opens a journal, begins a run in it, and records all that happens to an application from now on.
  ///
  /// The application keeps the journal. Opened before the launch, it holds the whole run, inputs of the system included: a
  /// simulated system can replay it.
  ///
  /// - Parameters:
  ///   - path: the file; it is made where there is none, readable for its owner alone.
  ///   - application: whose life cycle; on its bus failures are posted.
  ///   - configuration: what is flushed, how long the file may grow, and what if another program writes it.
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
      facts: facts, state: application.state, timer: JournalTimer(on: application.deadlines))
    // The application keeps the journal, and the journal what keeps it there.
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

  package convenience init(
    at path: String, configuration: Configuration, bus: EventBus?, instant: Duration, files: any FileCalls,
    facts: RunFacts
  ) {
    self.init(
      at: path, configuration: configuration, bus: bus, instant: instant, files: files, facts: facts,
      state: .notRunning, timer: nil)
  }

  private init(
    at path: String, configuration: Configuration, bus: EventBus?, instant: Duration, files: any FileCalls,
    facts: RunFacts, state: ApplicationState, timer: JournalTimer?
  ) {
    var writer = JournalWriter(
      path: path, configuration: configuration, files: files, facts: facts, instant: instant, state: state)
    let (previousExit, notices) = writer.begin()
    self.previousExit = previousExit
    self.bus = bus
    self.timer = timer
    let step = timer == nil ? nil : writer.heartbeat.note(state, at: instant)
    self.writer = Guarded(writer)
    perform(step)
    post(notices)
  }

  deinit { close() }

  /// Adds a record at the end; returns when it has been written, and flushed where the policy says so.
  ///
  /// - Parameter record: what happened.
  /// - Returns: whether the record is in the file: what was asked for has been done without an error.
  /// - Complexity: one write in the length of the record, and a flush where the policy says so; when the file has grown too
  ///   long, as many changes of names as there are files kept.
  @discardableResult
  public func append(_ record: LifecycleRecord) -> Bool {
    var notices: [JournalWriter.Notice] = []
    let (isKept, step) = writer.withLock { writer in
      let isKept = writer.append(record, &notices)
      return (isKept, timer == nil ? nil : writer.heartbeat.note(record.state, at: record.instant))
    }
    perform(step)
    if !notices.isEmpty { post(notices) }
    return isKept
  }

  /// Adds an entry of a ledger at the end, as ``append(_:)-(LifecycleRecord)`` does a record; it is flushed with what follows.
  ///
  /// - Parameter entry: who has spent how much time.
  /// - Returns: whether the entry is in the file.
  /// - Complexity: as that of a record.
  @discardableResult
  public func append(_ entry: LedgerEntry) -> Bool {
    var notices: [JournalWriter.Notice] = []
    let (isKept, step) = writer.withLock { writer in
      let isKept = writer.append(entry, &notices)
      return (isKept, timer == nil ? nil : writer.heartbeat.note(writer.state, at: entry.ended))
    }
    perform(step)
    if !notices.isEmpty { post(notices) }
    return isKept
  }

  /// Why nothing can be written at present; nil while all is well.
  public var failure: JournalFailure? { writer.withLock { $0.outage?.failure } }

  /// Ends the recording, and lets other programs have the file; what is appended afterwards is lost without a report.
  public func close() {
    writer.withLock { $0.close() }
    timer?.end()
  }

  // Also outside of the lock: the timers have one of their own.
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

  // Outside of the lock: a handler may append.
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
