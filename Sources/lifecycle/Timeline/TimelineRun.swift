import AppLifecycle
import LifecycleJournal

/// One run as bars and marks on lanes; times are those of the records.
struct TimelineRun: Equatable {
  /// Something that lasted.
  struct Bar: Equatable {
    var name: String
    /// What it is painted as: a state's name, `call` or `handlers`.
    var style: String
    var begin: Duration
    var end: Duration
    var details: String
  }

  /// Something that happened at one moment.
  struct Mark: Equatable {
    var name: String
    /// What it is painted as: `input`, `ignored`, `report`, `task` or `gap`.
    var style: String
    var instant: Duration
    var details: String
  }

  /// What one scene went through.
  struct SceneLane: Equatable {
    var scene: String
    var bars: [Bar] = []
  }

  let session: Int
  private(set) var header: RunHeader?
  private(set) var begin: Duration?
  private(set) var end = Duration.zero
  private(set) var states: [Bar] = []
  private(set) var scenes: [SceneLane] = []
  /// The calls of delegates, and the handlers of the notification after each.
  private(set) var calls: [Bar] = []
  private(set) var marks: [Mark] = []
  private var state = ApplicationState.notRunning
  /// Whether the last bar of `calls` lasts until the next record.
  private var isCalling = false

  init(session: Int) { self.session = session }

  /// The wall clock's time when the run began, since 1970 in UTC.
  var start: Duration { header?.start ?? .zero }

  /// Takes the next line; `run` is the run as it stands after it.
  mutating func take(_ line: JournalLine, of run: RunSummary) {
    switch line {
    case .run(let header):
      if self.header == nil { self.header = header }
      pass(to: header.instant)
      if header.state != state { commit(header.state, cause: "") }
    case .record(let record): take(record)
    case .gap(let gap):
      pass(to: gap.instant)
      isCalling = false
      marks.append(
        Mark(name: "\(gap.lost) records missing", style: "gap", instant: gap.since, details: gap.error))
    case .clock(let mark): pass(to: mark.instant)
    case .unknown: break
    }
  }

  /// Everything that lasts lasts until now.
  private mutating func pass(to instant: Duration) {
    if begin == nil { begin = instant }
    end = max(end, instant)
    if !states.isEmpty { states[states.count - 1].end = end }
    for lane in scenes.indices where scenes[lane].bars.last?.style != "unattached" {
      scenes[lane].bars[scenes[lane].bars.count - 1].end = end
    }
    if isCalling { calls[calls.count - 1].end = end }
  }

  private mutating func take(_ record: LifecycleRecord) {
    pass(to: record.instant)
    isCalling = false
    let cause = "cause \(record.cause.rawValue)"
    switch record.kind {
    case .input, .ignored, .report, .task:
      marks.append(
        Mark(
          name: record.name, style: record.kind.rawValue, instant: record.instant, details: record.reason ?? cause))
    case .state: commit(record.state, cause: cause)
    case .delegate, .notification:
      let style = record.kind == .delegate ? "call" : "handlers"
      let name = record.scene.map { "\(record.name) (\($0))" } ?? record.name
      calls.append(
        Bar(
          name: name, style: style, begin: record.instant, end: record.instant,
          details: "state \(record.state.rawValue), \(cause)"))
      isCalling = true
      if record.kind == .notification, let scene = record.scene { commitScene(scene, record) }
    }
    if record.state != state { commit(record.state, cause: cause) }
  }

  private mutating func commit(_ next: ApplicationState, cause: String) {
    guard next != state || states.isEmpty else { return }
    state = next
    states.append(Bar(name: next.rawValue, style: next.rawValue, begin: end, end: end, details: cause))
    guard next == .notRunning || next == .suspended else { return }
    // A process that is gone has no scenes.
    guard next == .notRunning else { return }
    for lane in scenes.indices { show(.unattached, in: lane, details: cause) }
  }

  private mutating func commitScene(_ scene: String, _ record: LifecycleRecord) {
    let states: [SceneCallback: SceneState] = [
      .willConnect: .background, .willEnterForeground: .foregroundInactive, .didBecomeActive: .foregroundActive,
      .willResignActive: .foregroundInactive, .didEnterBackground: .background, .didDisconnect: .unattached,
    ]
    guard let callback = SceneCallback.allCases.first(where: { $0.notificationName == record.name }),
      let next = states[callback]
    else { return }
    if !scenes.contains(where: { $0.scene == scene }) { scenes.append(SceneLane(scene: scene)) }
    guard let lane = scenes.firstIndex(where: { $0.scene == scene }) else { return }
    show(next, in: lane, details: "cause \(record.cause.rawValue)")
  }

  private mutating func show(_ next: SceneState, in lane: Int, details: String) {
    let name = "\(next)"
    guard scenes[lane].bars.last?.style != name else { return }
    scenes[lane].bars.append(Bar(name: name, style: name, begin: end, end: end, details: details))
  }
}
