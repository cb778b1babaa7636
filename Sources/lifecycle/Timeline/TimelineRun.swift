import AppLifecycle
import LifecycleJournal

/// One run as bars and marks on lanes; times are those of the records.
struct TimelineRun: Equatable {
  /// A moment on a lane.
  ///
  /// Much happens at one time: what came after what, the lines say.
  struct Place: Equatable {
    var instant: Duration
    /// The line at that time, or the last one before it: an index into ``lines``.
    var line: Int
  }

  /// Something that lasted.
  struct Bar: Equatable {
    var name: String
    /// What it is painted as: a state's name, `call`, `handlers`, `handler`, `task`, `acquire`, `held` or `release`.
    var style: String
    var begin: Place
    var end: Place
    var details: String
    /// Whether it is one of those to blame, or has failed.
    var isAlarming = false
  }

  /// Something that happened at one moment.
  struct Mark: Equatable {
    var name: String
    /// What it is painted as: `input`, `ignored`, `report`, `task` or `gap`.
    var style: String
    var place: Place
    var details: String
  }

  /// What one scene went through, or one resource.
  struct Lane: Equatable {
    var name: String
    var bars: [Bar] = []
  }

  /// A line of the journal, as far as a picture needs it.
  struct Line: Equatable {
    var instant: Duration
    /// Whether it is one that is to be told apart from others of the same time.
    var isShown: Bool
  }

  let session: Int
  private(set) var lines: [Line] = []
  private(set) var states: [Bar] = []
  private(set) var scenes: [Lane] = []
  /// The calls of delegates, and the handlers of the notification after each.
  private(set) var calls: [Bar] = []
  /// Handlers whose own time is known, and bodies of `run(while:)`.
  private(set) var handlers: [Bar] = []
  private(set) var resources: [Lane] = []
  private(set) var tasks: [Bar] = []
  private(set) var marks: [Mark] = []
  /// What the wall clock said, since 1970 in UTC, at times of the records.
  private(set) var clocks: [JournalClockMark] = []
  /// The run as it stands at its end.
  private(set) var summary = RunSummary()
  private var state = ApplicationState.notRunning
  /// What the last bar of `calls` lasts until, if it has not ended.
  private var call = OpenCall.none

  private enum OpenCall { case none, delegate, handlers }

  init(session: Int) { self.session = session }

  var header: RunHeader? { summary.header }
  var begin: Duration { lines.first?.instant ?? .zero }
  var end: Duration { lines.last?.instant ?? .zero }
  /// The wall clock's time when the run began, since 1970 in UTC.
  var start: Duration { header?.start ?? .zero }

  /// Takes the next line; `run` is the run as it stands after it.
  mutating func take(_ line: JournalLine, of run: RunSummary) {
    summary = run
    switch line {
    case .run(let header):
      pass(to: header.instant)
      clocks.append(JournalClockMark(instant: header.instant, wallTime: header.wallTime))
      if header.state != state { commit(header.state, cause: "") }
    case .record(let record): take(record)
    case .entry(let entry):
      pass(to: entry.ended, isShown: true)
      take(entry)
    case .gap(let gap):
      let since = place(of: gap.since)
      pass(to: gap.instant, isShown: true)
      call = .none
      marks.append(Mark(name: "\(gap.lost) lines missing", style: "gap", place: since, details: gap.error))
    case .clock(let mark):
      pass(to: mark.instant)
      clocks.append(mark)
    case .unknown: break
    }
  }

  /// The last line.
  private var here: Place { Place(instant: end, line: lines.count - 1) }

  /// The last line that is not after a time.
  private func place(of instant: Duration) -> Place {
    var (low, high) = (0, lines.count)
    while low < high {
      let middle = (low + high) / 2
      if lines[middle].instant <= instant { low = middle + 1 } else { high = middle }
    }
    return Place(instant: max(instant, begin), line: max(low - 1, 0))
  }

  /// Everything that lasts lasts until now.
  private mutating func pass(to instant: Duration, isShown: Bool = false) {
    lines.append(Line(instant: lines.isEmpty ? instant : max(end, instant), isShown: isShown))
    if !states.isEmpty { states[states.count - 1].end = here }
    for lane in scenes.indices where scenes[lane].bars.last?.style != "unattached" {
      scenes[lane].bars[scenes[lane].bars.count - 1].end = here
    }
    for lane in resources.indices where resources[lane].bars.last?.style == "held" {
      resources[lane].bars[resources[lane].bars.count - 1].end = here
    }
  }

  // MARK: Records

  private mutating func take(_ record: LifecycleRecord) {
    pass(to: record.instant, isShown: true)
    // A call has ended when its notification is posted, or the next call made. When the handlers have ended is not
    // written, only that they had when something else was called.
    if call == .delegate || call == .handlers && record.kind == .delegate { calls[calls.count - 1].end = here }
    call = .none
    let cause = "cause \(record.cause.rawValue)"
    switch record.kind {
    case .input, .ignored, .report, .task:
      let details = record.kind == .input ? "" : record.reason ?? cause
      marks.append(Mark(name: record.name, style: record.kind.rawValue, place: here, details: details))
    case .state: commit(record.state, cause: cause)
    case .delegate, .notification:
      let style = record.kind == .delegate ? "call" : "handlers"
      let name = record.scene.map { "\(record.name) (\($0))" } ?? record.name
      calls.append(
        Bar(name: name, style: style, begin: here, end: here, details: "state \(record.state.rawValue), \(cause)"))
      call = record.kind == .delegate ? .delegate : .handlers
      if record.kind == .notification, let scene = record.scene { commitScene(scene, record) }
    }
    if record.state != state { commit(record.state, cause: cause) }
  }

  private mutating func commit(_ next: ApplicationState, cause: String) {
    guard next != state || states.isEmpty else { return }
    state = next
    states.append(Bar(name: next.rawValue, style: next.rawValue, begin: here, end: here, details: cause))
    guard next == .notRunning else { return }
    // A process that is gone has no scenes, and holds nothing.
    for lane in scenes.indices { show(.unattached, in: lane, details: cause) }
    for lane in resources.indices where resources[lane].bars.last?.style == "held" {
      resources[lane].bars.append(Bar(name: "gone", style: "gone", begin: here, end: here, details: cause))
    }
  }

  private mutating func commitScene(_ scene: String, _ record: LifecycleRecord) {
    let states: [SceneCallback: SceneState] = [
      .willConnect: .background, .willEnterForeground: .foregroundInactive, .didBecomeActive: .foregroundActive,
      .willResignActive: .foregroundInactive, .didEnterBackground: .background, .didDisconnect: .unattached,
    ]
    guard let callback = SceneCallback.allCases.first(where: { $0.notificationName == record.name }),
      let next = states[callback]
    else { return }
    show(next, in: scenes.lane(named: scene), details: "cause \(record.cause.rawValue)")
  }

  private mutating func show(_ next: SceneState, in lane: Int, details: String) {
    let name = "\(next)"
    guard scenes[lane].bars.last?.style != name else { return }
    scenes[lane].bars.append(Bar(name: name, style: name, begin: here, end: here, details: details))
  }

  // MARK: Entries

  private mutating func take(_ entry: LedgerEntry) {
    let place = place(of: entry.began)
    var details = "\(entry.kind), \(entry.step), \(entry.outcome.words)"
    if let source = entry.source, source != entry.name { details += "\n\(source)" }
    let bar = Bar(
      name: entry.name, style: "handler", begin: place, end: self.place(of: entry.ended), details: details,
      isAlarming: entry.isLate || entry.outcome.isFailure)
    switch entry.kind {
    case .delegate, .subscriber, .runBody: handlers.append(bar)
    case .task: tasks.append(bar.styled("task"))
    case .resource: take(bar, of: entry)
    }
  }

  /// An acquire begins a time in which the resource is held, a release ends it.
  private mutating func take(_ bar: Bar, of entry: LedgerEntry) {
    let lane = resources.lane(named: entry.name)
    if entry.step == "release", let last = resources[lane].bars.last, last.style == "held" {
      resources[lane].bars[resources[lane].bars.count - 1].end = bar.begin
    }
    var bar = bar.styled(entry.step)
    bar.name = "\(entry.name): \(entry.step)"
    resources[lane].bars.append(bar)
    if entry.step == "acquire", entry.outcome == .completed {
      resources[lane].bars.append(
        Bar(name: entry.name, style: "held", begin: here, end: here, details: "resource, held"))
    }
  }
}

extension TimelineRun.Bar {
  fileprivate func styled(_ style: String) -> Self {
    var bar = self
    bar.style = style
    return bar
  }
}

extension [TimelineRun.Lane] {
  /// The lane of a name, made where there is none.
  fileprivate mutating func lane(named name: String) -> Int {
    if let index = firstIndex(where: { $0.name == name }) { return index }
    append(TimelineRun.Lane(name: name))
    return count - 1
  }
}

extension LedgerEntry.Outcome {
  /// For people.
  var words: String {
    switch self {
    case .completed: "completed"
    case .failed(let error): "failed: \(error)"
    case .cancelled: "cancelled"
    case .overran: "overran its time"
    case .neverEnded: "never ended"
    case .cutShort: "cut short"
    case .usedAfterRelease: "used after its release"
    }
  }

  /// Whether somebody did something wrong, other than being late.
  var isFailure: Bool {
    switch self {
    case .failed, .usedAfterRelease: true
    case .completed, .cancelled, .overran, .neverEnded, .cutShort: false
    }
  }
}
