public import AppLifecycle

/// One run of a program, as its journal tells it: a pure fold over the lines.
public struct RunSummary: Sendable, Hashable {
  /// The run's first line in what was read; nil where what was read begins in the middle of a run.
  public private(set) var header: RunHeader?
  /// The application's state after the last line.
  public private(set) var state = ApplicationState.notRunning
  /// The state before the last commit.
  public private(set) var stateBefore = ApplicationState.notRunning
  /// The time of the last line, by the clock of the records.
  public private(set) var lastInstant = Duration.zero
  /// How long the application was in each state, by the clock of the records, up to the last line.
  public private(set) var times: [ApplicationState: Duration] = [:]
  /// The last record.
  public private(set) var lastRecord: LifecycleRecord?
  /// How many records there are.
  public private(set) var records = 0
  /// How many times the application was launched.
  public private(set) var launches = 0
  /// How many records are missing, as the journal itself reports.
  public private(set) var lost = 0
  /// How many lines are damaged.
  public private(set) var damagedLines = 0
  /// Whether the last line has no end.
  public private(set) var endsUnfinished = false
  /// What overran its time since the last commit of a state other than *not running*; the first hundred, if there are more.
  public private(set) var overruns: [String] = []
  /// Whether `applicationWillTerminate` was called since the last launch.
  public private(set) var wasToldToEnd = false
  /// The last input of the system.
  public private(set) var lastInput: String?
  /// How many commits of a state there are.
  private(set) var commits = 0
  private var clock = JournalClockMark(instant: .zero, wallTime: .zero)
  private static let mostOverruns = 100

  /// A run of which nothing has been read.
  public init() {}

  /// A run of which nothing can be read.
  static var unreadable: RunSummary {
    var run = RunSummary()
    run.take(.notInFormat)
    return run
  }

  /// Takes the next line of the run.
  ///
  /// The line with which the run begins comes first. One with which it goes on in another file changes nothing but the clock.
  ///
  /// - Parameter line: the line.
  public mutating func take(_ line: JournalLine) {
    endsUnfinished = false
    switch line {
    case .run(let header):
      if self.header == nil {
        self.header = header
        lastInstant = header.instant
      }
      advance(to: header.instant)
      if header.state != state { commit(header.state) }
      clock = JournalClockMark(instant: header.instant, wallTime: header.wallTime)
    case .record(let record): take(record)
    case .entry(let entry): advance(to: entry.ended)
    case .gap(let gap):
      lost += gap.lost
      advance(to: gap.instant)
    case .clock(let mark):
      advance(to: mark.instant)
      clock = mark
    case .alive(let instant): advance(to: instant)
    case .unknown: break
    }
  }

  /// Takes a line that is damaged.
  public mutating func take(_ damage: JournalDamage) {
    damagedLines += 1
    endsUnfinished = damage == .unfinished
  }

  /// The wall clock's time at a time of the records, since 1970 in UTC.
  ///
  /// - Parameter instant: not before the last change of the clock that was taken.
  /// - Returns: the time, as far as that clock has not been changed since.
  public func wallTime(at instant: Duration) -> Duration { clock.wallTime + (instant - clock.instant) }

  /// Whether the last commit is *not running*.
  ///
  /// If not, the time that the run lasted after its last line is unknown.
  public var hasEnded: Bool { commits > 0 && state == .notRunning }

  /// How long the run lasted by the wall clock, up to the last line.
  public var length: Duration { header.map { wallTime(at: lastInstant) - $0.start } ?? .zero }

  private mutating func take(_ record: LifecycleRecord) {
    advance(to: record.instant)
    records += 1
    lastRecord = record
    switch record.kind {
    case .input: lastInput = record.name
    case .state:
      commits += 1
      commit(record.state)
    case .delegate:
      switch ApplicationCallback(rawValue: record.name) {
      case .willFinishLaunching:
        launches += 1
        wasToldToEnd = false
      case .willTerminate: wasToldToEnd = true
      default: break
      }
    // A journal may hold anything, and is read in memory that does not grow with it.
    case .report: if record.isOverrun, overruns.count < Self.mostOverruns { overruns.append(record.name) }
    case .notification, .task, .ignored: break
    }
    // Where a commit is missing, for a gap or damage, the next record says what it was.
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
  /// Whether this is the report that something overran its time.
  var isOverrun: Bool {
    kind == .report && (name.hasPrefix("watchdog:") || name.hasPrefix("backgroundTimeExpired:"))
  }
}
