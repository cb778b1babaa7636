public import AppLifecycle

/// A summary of one run of a program, computed from the lines of its journal.
public struct RunSummary: Sendable, Hashable {
  /// The first header among the lines; nil if they contain none.
  ///
  /// Its ``RunHeader/part`` is not 0 if the lines begin in a later part of the run.
  public private(set) var header: RunHeader?
  /// The application's state after the last line.
  public private(set) var state = ApplicationState.notRunning
  /// The state before the last commit.
  private(set) var stateBefore = ApplicationState.notRunning
  /// The time of the last line, by the records' clock.
  public private(set) var lastInstant = Duration.zero
  /// The time that the application spent in each state, by the records' clock, up to the last line.
  public private(set) var times: [ApplicationState: Duration] = [:]
  /// The last record.
  public private(set) var lastRecord: LifecycleRecord?
  /// The number of records.
  public private(set) var records = 0
  /// The number of launches of the application.
  public private(set) var launches = 0
  /// The number of missing lines, records and entries, as the journal itself reports it.
  public private(set) var lost = 0
  /// The fatal signal that the process received; nil if none was recorded, or the process survived it.
  ///
  /// A process has survived the signal if a line is two seconds later, or if the application was told to end afterwards, and
  /// did.
  public private(set) var crash: JournalCrash?
  /// The place from which on the journal could not be written, if it was not written again.
  ///
  /// The records after it are not all that happened.
  public private(set) var stop: JournalStop?
  /// The number of damaged lines.
  public private(set) var damagedLines = 0
  /// Whether the lines are of a version of the format that this program does not know, so that they tell nothing for
  /// certain.
  package private(set) var isOfNewerVersion = false
  /// The reports of overruns from which the application has not gone on: since the last input, and the last change to a
  /// state other than *not running*; the first hundred, if there are more.
  public private(set) var overruns: [String] = []
  /// Whether a later line shows that the process was not ended for the last overrun.
  private(set) var hasOutlivedOverruns = false
  /// Whether `applicationWillTerminate` was called since the last launch.
  private(set) var wasToldToEnd = false
  /// The last input of the system.
  private(set) var lastInput: String?
  /// The number of changes of state.
  private(set) var commits = 0
  private var clock = JournalClockMark(instant: .zero, wallTime: .zero)
  private static let mostOverruns = 100
  /// The time for which the other threads of a process may go on after a fatal signal, until its handlers have ended it.
  private static let longestDeath = Duration.seconds(2)
  /// Whether `applicationWillTerminate` was called after the fatal signal, so that an orderly end shows its survival.
  private var isToldToEndAfterCrash = false

  /// Makes a summary without lines.
  public init() {}

  /// The summary of a run that cannot be read.
  static var unreadable: RunSummary {
    var run = RunSummary()
    run.take(.notInFormat)
    return run
  }

  /// Takes the next line of the run.
  ///
  /// The header with which the run begins comes first. A header with which it continues sets the time, the state and
  /// the clock.
  ///
  /// - Parameter line: the line.
  public mutating func take(_ line: JournalLine) {
    if case .run(let header) = line, self.header == nil {
      self.header = header
      lastInstant = header.instant
    }
    if let instant = line.instant { advance(to: instant) }
    if let crash, lastInstant >= crash.instant + Self.longestDeath { self.crash = nil }
    switch line {
    case .run(let header):
      if header.state != state { commit(header.state) }
      clock = JournalClockMark(of: header)
    case .record(let record): take(record)
    case .gap(let gap):
      lost.add(clamped: gap.lost)
      stop = nil
    case .clock(let mark): clock = mark
    case .crash(let crash):
      self.crash = JournalCrash(instant: lastInstant, signal: crash.signal)
      isToldToEndAfterCrash = false
    case .stopped(let stop): self.stop = stop
    // It comes a minute after the last line by default; a watchdog would have ended the process by then.
    case .alive: hasOutlivedOverruns = true
    case .entry, .unknown: break
    }
  }

  /// Takes a damaged line.
  ///
  /// - Parameter damage: the reason why the line cannot be read.
  public mutating func take(_ damage: JournalDamage) {
    damagedLines += 1
    if case .newerVersion = damage { isOfNewerVersion = true }
  }

  /// Returns the wall-clock time, since 1970 in UTC, for a time of the records, such as ``lastInstant``.
  ///
  /// The header and each ``JournalClockMark`` relate the two clocks. The latest of them is used, so the result is right
  /// for times from it on, until the wall clock is changed.
  ///
  /// - Parameter instant: the time of the records.
  /// - Returns: the wall-clock time.
  public func wallTime(at instant: Duration) -> Duration { clock.wallTime + (instant - clock.instant) }

  /// Whether the lines show the end of the run: a fatal signal, or a change of state to *not running*.
  ///
  /// If not, the time that the run lasted after its last line is unknown.
  public var hasEnded: Bool { crash != nil || commits > 0 && state == .notRunning }

  /// The state in which the process ended: the last state but *not running*, unless the process crashed in that.
  public var endState: ApplicationState { crash == nil && state == .notRunning ? stateBefore : state }

  /// The length of the run up to the last line, sleep included.
  ///
  /// The time since the device's start measures it, which is never set. In a journal of an earlier version, which lacks
  /// that time, the wall clock measures it; if that clock was set back, the length is at least that by the records'
  /// clock.
  public var length: Duration {
    guard let header else { return .zero }
    if let start = header.startUptime, let end = uptime(at: lastInstant) { return max(end - start, .zero) }
    return max(wallTime(at: lastInstant) - header.start, lastInstant - header.instant)
  }

  /// The time since the device's start, for a time of the records; nil in a journal of an earlier version.
  package func uptime(at instant: Duration) -> Duration? { clock.uptime.map { $0 + (instant - clock.instant) } }

  private mutating func take(_ record: LifecycleRecord) {
    records += 1
    lastRecord = record
    switch record.kind {
    case .input:
      lastInput = record.name
      // A process that a watchdog ends takes no further input.
      overruns = []
    case .state:
      commits += 1
      if record.state == .notRunning, isToldToEndAfterCrash { crash = nil }
      commit(record.state)
    case .delegate:
      switch ApplicationCallback(rawValue: record.name) {
      case .willFinishLaunching:
        launches += 1
        wasToldToEnd = false
      case .willTerminate: (wasToldToEnd, isToldToEndAfterCrash) = (true, true)
      default: break
      }
    case .report where record.isOverrun && !record.isOfOperation:
      hasOutlivedOverruns = false
      // Limited, because a journal may contain anything, and the use of memory must not grow with it.
      if overruns.count < Self.mostOverruns { overruns.append(record.name.cut(toScalars: 500)) }
    case .report, .notification, .task, .ignored: break
    }
    // If a change of state is missing because of a gap or damage, the next record shows the state.
    if record.state != state { commit(record.state) }
  }

  private mutating func commit(_ next: ApplicationState) {
    stateBefore = state
    state = next
    if next.isInMemory { overruns = [] }
  }

  private mutating func advance(to instant: Duration) {
    guard instant > lastInstant else { return }
    times[state, default: .zero] += instant - lastInstant
    lastInstant = instant
  }
}

extension LifecycleRecord {
  /// Whether this is the report of an overrun.
  var isOverrun: Bool { report?.kind == .watchdog || report?.kind == .backgroundTimeExpired }

  /// Whether an operation of a resource or a body was late outside a tear-down, for which no system ends a process.
  fileprivate var isOfOperation: Bool {
    guard let report, report.kind == .watchdog else { return false }
    return BudgetOverrun.Operation.allCases.contains { cause == LifecycleCause($0, of: report.name) }
  }
}
