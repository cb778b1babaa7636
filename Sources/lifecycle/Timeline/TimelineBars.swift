import AppLifecycle
import LifecycleJournal

/// A pure fold over the lines of a run, which gives bars and marks on lanes, each once it has ended.
///
/// It holds only bars that have not ended, so its memory does not grow with the run. Times are those of the records.
struct TimelineBars {
  /// The largest number of scenes and resources that have a lane at one time.
  static let mostLanes = 1_000

  /// When the run began.
  private(set) var begin = Duration.zero
  /// The number of bars of scenes and resources that had no lane, as there were too many at one time.
  private(set) var undrawn = 0
  /// The last line.
  private var here = TimelinePlace(instant: .zero, line: -1)
  /// The place at which the picture begins.
  private var first = TimelinePlace(instant: .zero, line: 0)
  private var isCutHere = false
  private var state = ApplicationState.notRunning
  private var stateBar: TimelineItem?
  /// The bar of the last call, if it has not ended.
  private var call: TimelineItem?
  private var lanes = OpenLanes()
  /// The bars and marks that ended with the present line.
  private var ended: [TimelineItem] = []

  /// Lets the picture begin with the next line: bars that last until then begin there.
  mutating func cut() { isCutHere = true }

  /// Takes the next line.
  ///
  /// - Parameters:
  ///   - line: the line.
  ///   - items: gets the bars that ended with the line, and the marks of the line. On each lane except those of handlers and
  ///     tasks they come in the order of time.
  /// - Returns: the line as a picture shows it; nil if the picture does not show it.
  mutating func take(_ line: JournalLine, into items: inout [TimelineItem]) -> TimelineLine? {
    let shown = line.instant.map { pass(to: $0, isShown: line.hasSlot) }
    switch line {
    case .run(let header):
      // The journal keeps only a later part of the run. The run's `start` is the time at which its first part began.
      if header.part > 0, here.line == 0 { begin = .zero }
      if header.state != state { commit(header.state, cause: "") }
    case .record(let record): take(record)
    case .entry(let entry): take(entry)
    case .gap(let gap):
      closeCall()
      mark("\(gap.lost) lines missing", "gap", at: place(of: gap.since), gap.error)
    case .crash(let crash): mark(crash.signal, "report", at: here, "the process crashed")
    case .stopped(let stop): mark("the journal stopped", "gap", at: here, stop.error)
    case .clock, .alive, .unknown: break
    }
    items += ended
    ended.removeAll(keepingCapacity: true)
    return shown
  }

  /// Ends the run: bars that have not ended last until its last line.
  mutating func finish(into items: inout [TimelineItem]) {
    closeCall()
    closeState()
    ended += lanes.closeAll(at: here)
    items += ended
    ended = []
  }

  /// The place of a time that a line names, and that may be long past.
  private func place(of instant: Duration) -> TimelinePlace {
    instant < first.instant ? first : TimelinePlace(instant: instant, line: nil)
  }

  private mutating func pass(to instant: Duration, isShown: Bool) -> TimelineLine {
    let isFirst = here.line == -1
    here = TimelinePlace(instant: isFirst ? instant : max(here.instant, instant), line: (here.line ?? 0) + 1)
    if isFirst { (begin, first) = (here.instant, here) }
    if isCutHere {
      isCutHere = false
      first = here
      stateBar?.begin = here
      call?.begin = here
      lanes.cut(at: here)
    }
    return TimelineLine(instant: here.instant, isShown: isShown)
  }

  private mutating func closeState() {
    guard var bar = stateBar else { return }
    bar.end = here
    ended.append(bar)
    stateBar = nil
  }

  /// A call whose end no line records; its bar has no length.
  private mutating func closeCall() {
    if let call { ended.append(call) }
    call = nil
  }

  private mutating func mark(_ name: String, _ style: String, at place: TimelinePlace, _ details: String) {
    ended.append(
      TimelineItem(
        lane: .system, name: name.cutForPicture, style: style, begin: place, end: place,
        details: details.cutForPicture))
  }

  private func bar(_ lane: TimelineLane, _ name: String, _ style: String, _ details: String) -> TimelineItem {
    TimelineItem(lane: lane, name: name, style: style, begin: here, end: here, details: details)
  }

  // MARK: Records

  private mutating func take(_ record: LifecycleRecord) {
    // A call has ended when its notification is posted, or the next call is made. The journal does not record when the handlers
    // ended; they had ended before the next call.
    if call?.style == "call" || call != nil && record.kind == .delegate { call?.end = here }
    closeCall()
    let cause = "cause \(record.cause.rawValue.cutForPicture)"
    switch record.kind {
    case .input, .ignored, .report, .task:
      let details = record.kind == .input ? "" : record.reason ?? cause
      mark(record.name, record.kind.rawValue, at: here, details)
    case .state: commit(record.state, cause: cause)
    case .delegate, .notification:
      let style = record.kind == .delegate ? "call" : "handlers"
      let name = (record.scene.map { "\(record.name) (\($0))" } ?? record.name).cutForPicture
      call = bar(.calls, name, style, "state \(record.state.rawValue), \(cause)")
      if record.kind == .notification, let scene = record.scene { commitScene(scene, record, cause) }
    }
    if record.state != state { commit(record.state, cause: cause) }
  }

  private mutating func commit(_ next: ApplicationState, cause: String) {
    guard next != state || stateBar == nil else { return }
    state = next
    closeState()
    stateBar = bar(.state, next.rawValue, next.rawValue, cause)
    // A process that has ended has no scenes and holds no resources.
    if next == .notRunning { ended += lanes.closeAll(at: here) }
  }

  /// The state of a scene after one of its notifications, by the notification's raw name.
  private static let sceneStates: [String: SceneState] = [
    SceneCallback.willConnect.notificationName: .background,
    SceneCallback.willEnterForeground.notificationName: .foregroundInactive,
    SceneCallback.didBecomeActive.notificationName: .foregroundActive,
    SceneCallback.willResignActive.notificationName: .foregroundInactive,
    SceneCallback.didEnterBackground.notificationName: .background,
    SceneCallback.didDisconnect.notificationName: .unattached,
  ]

  private mutating func commitScene(_ scene: String, _ record: LifecycleRecord, _ cause: String) {
    guard let next = Self.sceneStates[record.name] else { return }
    let lane = TimelineLane.scene(scene.cutForPicture)
    let name = "\(next)"
    guard lanes[lane]?.style != name else { return }
    close(lane, at: here)
    if next != .unattached { open(bar(lane, name, name, cause)) }
  }

  private mutating func close(_ lane: TimelineLane, at place: TimelinePlace) {
    if let bar = lanes.close(lane, at: place) { ended.append(bar) }
  }

  private mutating func open(_ bar: TimelineItem) {
    if !lanes.open(bar) { undrawn += 1 }
  }

  // MARK: Entries

  private mutating func take(_ entry: LedgerEntry) {
    var details = "\(entry.kind.words), \(entry.step), \(entry.outcome.words)"
    if let source = entry.source, source != entry.name { details += "\n\(source)" }
    let name = entry.name.cutForPicture
    let lane: TimelineLane =
      switch entry.kind {
      case .delegate, .subscriber, .runBody, .observer: .handlers
      case .task: .tasks
      case .resource: .resource(name)
      }
    var bar = TimelineItem(
      lane: lane, name: name, style: "handler", begin: place(of: entry.began), end: place(of: entry.ended),
      details: details.cutForPicture, isAlarming: entry.isLate || entry.outcome.isFailure)
    switch entry.kind {
    case .delegate, .subscriber, .runBody, .observer: break
    case .task: bar.style = "task"
    case .resource:
      // The resource is held from the end of an acquire to the beginning of a release.
      close(lane, at: entry.callStep == .release ? bar.begin : here)
      bar.style = entry.step.cutForPicture
      bar.name = "\(name): \(bar.style)"
    }
    ended.append(bar)
    if entry.kind == .resource, entry.callStep == .acquire, entry.outcome == .completed {
      open(self.bar(lane, name, "held", "resource, held"))
    }
  }
}

/// The bars of scenes and resources that have not ended: one for each lane, up to a limit.
private struct OpenLanes {
  private var bars: [TimelineLane: TimelineItem] = [:]

  subscript(_ lane: TimelineLane) -> TimelineItem? { bars[lane] }

  /// Begins a bar on a lane that has none; returns false if the limit is reached.
  mutating func open(_ bar: TimelineItem) -> Bool {
    guard bars.count < TimelineBars.mostLanes else { return false }
    bars[bar.lane] = bar
    return true
  }

  /// Ends the bar of a lane, but not before it began.
  mutating func close(_ lane: TimelineLane, at place: TimelinePlace) -> TimelineItem? {
    guard var bar = bars.removeValue(forKey: lane) else { return nil }
    bar.end = place.instant < bar.begin.instant ? bar.begin : place
    return bar
  }

  /// Ends all bars, in the order in which they began.
  mutating func closeAll(at place: TimelinePlace) -> [TimelineItem] {
    defer { bars.removeAll() }
    return bars.values.sorted { ($0.begin.line ?? 0, $0.name) < ($1.begin.line ?? 0, $1.name) }.map { bar in
      var bar = bar
      bar.end = place
      return bar
    }
  }

  mutating func cut(at place: TimelinePlace) {
    for lane in bars.keys { bars[lane]?.begin = place }
  }
}

extension JournalLine {
  /// Whether the line has a slot of its own on a page.
  fileprivate var hasSlot: Bool {
    switch self {
    case .run, .clock, .alive: false
    default: true
    }
  }
}

extension LedgerEntry.Outcome {
  /// Whether the call failed, other than by an overrun.
  var isFailure: Bool {
    switch self {
    case .failed, .usedAfterRelease: true
    case .completed, .cancelled, .overran, .neverEnded, .cutShort: false
    }
  }
}
