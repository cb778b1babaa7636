public import AppLifecycle
public import PubSub

/// A record of a program's life cycles that survives the program: one JSON object a line, appended as things happen.
///
///     let journal = Journal(at: "/home/me/.local/state/trips/lifecycle.jsonl", of: application)
///     if journal.previousExit.kind == .crashedInForeground { offerToSendReport() }
///
/// From then on every event of the application is a line in the file before the next delegate call is made. One call writes a
/// line, which needs no flush to outlive the program. Before the program is suspended or ends, the lines are flushed to the
/// disk, too (``FlushPolicy``). When `append` has returned, the line survives the program; when it has been flushed, it
/// survives a failure of the machine, as far as the disk keeps its word.
///
/// A journal never ends its program and throws nothing. A line that it cannot write is lost. It reports the failure once, as an
/// event (``DidFail``), and writes a ``JournalGap`` into the file when it can write again. One program writes a journal at a
/// time. Any program may read it meanwhile, with ``JournalReader``.
///
/// While the application runs without events, a line once a minute says that it still runs: if the program vanishes, the
/// journal shows how long it ran (``Configuration/heartbeat``).
///
/// May be used from any thread.
public final class Journal: Sendable {
  /// The path of the journal.
  ///
  /// It differs from the path that the journal was opened with if that is a symbolic link, or if ``Contention/ownFile`` or
  /// ``ForeignFile/beginBeside`` has chosen another file.
  public var path: String { writer.withLock { $0.path } }
  /// How the run before this one ended.
  public let previousExit: PreviousExit

  private let writer: Guarded<JournalWriter>
  private let bus: EventBus?
  private let timer: JournalTimer?
  private let observation = Guarded<ObserverToken?>(nil)

  /// Opens a journal, and begins a run in it.
  ///
  /// Creates missing directories. Follows a symbolic link once, here: the journal is the file behind it. If the journal cannot
  /// be opened, the failure is posted as an event, and each record that is appended tries again.
  ///
  /// - Parameters:
  ///   - path: the file; created if it does not exist, readable for its owner alone.
  ///   - configuration: what is flushed, how long the file may grow, and what to do if another program writes it.
  ///   - bus: the bus on which failures are posted; nil for none.
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
  ///   - path: the file; created if it does not exist, readable for its owner alone.
  ///   - application: the application to record; failures are posted on its bus.
  ///   - configuration: what is flushed, how long the file may grow, and what to do if another program writes it.
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

  /// Appends a record; returns when it has been written, and flushed if the policy says so.
  ///
  /// - Parameter record: what happened.
  /// - Returns: whether the record is in the file: the write, and the flush if there is one, had no error.
  /// - Complexity: one write in the length of the record, and a flush if the policy says so; when the file has grown too long,
  ///   as many renames as there are files kept.
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

  /// Appends an entry of a ledger; it is flushed with the records that follow.
  ///
  /// - Parameter entry: the call that has ended.
  /// - Returns: whether the entry is in the file.
  /// - Complexity: as for ``append(_:)-(LifecycleRecord)``.
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

  /// The failure that keeps the journal from being written at present; nil if there is none.
  public var failure: JournalFailure? { writer.withLock { $0.outage?.failure } }

  /// Ends the recording, and releases the lock of the file; later records are lost without a report.
  public func close() {
    writer.withLock { $0.close() }
    timer?.end()
    observation.withLock { $0?.cancel() }
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
