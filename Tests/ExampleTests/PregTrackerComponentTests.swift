import AppLifecycle
import AppLifecycleTesting
import ExampleSupport
import Glibc
import PseudoTerminal
import PubSub
import SavedState
import TestTraits
import Testing

@testable import PregTracker

/// The program on a simulated device, where a day passes at once.
@Suite @MainActor struct PregTrackerComponentTests {
  private let start = Today { try CivilDate("2026-02-07") }

  private func surroundings(stale: Bool = false) throws -> TrackerDelegate.Surroundings {
    TrackerDelegate.Surroundings(today: start, dueDate: try CivilDate("2026-06-25"), isStale: stale)
  }

  private func label(_ day: Int) -> String { PregnancyDay(number: day).label }

  @Test func `A day in the background makes the label new on return`() async throws {
    let run = ScriptedRun(try surroundings())
    try await run.play("launch; home; wait:1d; open")
    #expect(run.sights.map(\.label) == [label(142), label(142), label(142), label(143)])
    #expect(run.sights.allSatisfy { !$0.isStale })
    #expect(run.sights.map(\.today) == ["2026-02-07", "2026-02-07", "2026-02-08", "2026-02-08"])
    #expect(
      run.record.callbacks == [
        "willFinishLaunching (inactive)", "didFinishLaunching (inactive)", "didBecomeActive (active)",
        "willResignActive (active)", "didEnterBackground (background)", "willEnterForeground (background)",
        "didBecomeActive (active)",
      ])
  }

  @Test func `Without the subscription the label is stale on return`() async throws {
    let run = ScriptedRun(try surroundings(stale: true))
    try await run.play("launch; home; wait:1d; open; time")
    #expect(run.sights.map(\.label) == Array(repeating: label(142), count: 5))
    #expect(run.sights.map(\.isStale) == [false, false, false, true, true])
  }

  @Test func `Midnight in the foreground makes the label new`() async throws {
    let run = ScriptedRun(try surroundings())
    try await run.play("launch; wait:1d; time")
    #expect(run.sights.map(\.label) == [label(142), label(142), label(143)])
  }

  @Test func `A launch in the background shows the right day when it is opened`() async throws {
    let run = ScriptedRun(try surroundings())
    try await run.play("launch:background; wait:3d; open")
    #expect(run.sights.last?.label == label(145))
  }

  @Test func `The connection stands in the foreground only`() async throws {
    let run = ScriptedRun(try surroundings())
    try await run.play("launch; interrupt:call; end:call; home; open; lock; unlock; kill; launch:background; open")
    let (open, closed) = ("connected to memory", "not connected")
    #expect(
      run.sights.map(\.connection) == [open, open, open, closed, open, closed, open, "–", closed, open])
  }

  @Test func `The same script gives the same text`() async throws {
    var texts: Set<String> = []
    for _ in 1...repetitions(default: 5) {
      let run = ScriptedRun(try surroundings())
      try await run.play("launch; wait:1h; interrupt:call; home; wait:1d; open; memory; kill; launch; crash; open")
      texts.insert(run.text)
    }
    #expect(texts.count == 1)
  }

  @Test func `A bad script plays nothing`() async throws {
    let run = ScriptedRun(try surroundings())
    await #expect(throws: ScriptError.self) { try await run.play("launch; flyy") }
    #expect(run.record.isEmpty && run.sights.isEmpty)
  }

  @Test func `Without a due date the label says so`() async throws {
    let run = ScriptedRun(TrackerDelegate.Surroundings(today: start))
    try await run.play("launch")
    #expect(run.sights.map(\.label) == ["No due date yet"])
  }

  @Test func `A calendar without a today is named in the label`() async throws {
    let run = ScriptedRun(
      TrackerDelegate.Surroundings(today: .file("/nonexistent/today"), dueDate: try CivilDate("2026-06-25")))
    try await run.play("launch")
    #expect(run.sights.map(\.label) == ["No day: /nonexistent/today: No such file or directory"])
  }

  @Test func `The connection is opened after the server and closed before it, each as often as the other`() async throws
  {
    let service = RecordedTips()
    let system = try system {
      $0.tips = {
        service.log.append("start"); return service
      }
    }
    try await system.play("launch; home; open; home; open; kill")
    #expect(
      service.log == ["start", "open", "close", "open", "close", "open", "close", "stop"])
  }

  @Test func `A server that cannot start is named and tried again`() async throws {
    var attempts = 0
    let system = try system {
      $0.tips = {
        attempts += 1
        if attempts < 3 { throw SystemError("127.0.0.1", "no room") }
        return MemoryTips()
      }
    }
    var statuses: [String] = []
    let subscription = system.bus.subscribe(to: ConnectionManager.DidChange.self) { statuses.append($0.status) }
    try await system.play("launch; wait:10s")
    subscription.cancel()
    #expect(attempts == 3)
    #expect(statuses.first == "no tips server: 127.0.0.1: no room")
    #expect(statuses.last == "connected to memory")
  }

  @Test func `The session timer pauses while the program is not active`() async throws {
    let system = try system { $0.ticks = false }
    var elapsed: [Duration] = []
    let subscription = system.bus.subscribe(to: SessionTimer.DidTick.self) { elapsed.append($0.elapsed) }
    try await system.play(
      "launch; wait:5s; interrupt:call; wait:10s; end:call; wait:2s; home; wait:1h; open; wait:1s; home")
    subscription.cancel()
    #expect(elapsed == [.seconds(5), .seconds(7), .seconds(8)])
  }

  @Test func `The table's rows have name, state inside the callback, and time`() async throws {
    let system = try system { $0.timeOfDay = { "12:34:56" } }
    var events: [ScreenContents.Event] = []
    let subscription = system.bus.subscribe(to: EventLog.DidChange.self) { events = $0.events }
    try await system.play("launch; home; open")
    subscription.cancel()
    #expect(
      events.map { "\($0.name) \($0.state) \($0.time)" } == [
        "didFinishLaunching inactive 12:34:56", "didBecomeActive active 12:34:56", "willResignActive active 12:34:56",
        "didEnterBackground background 12:34:56", "willEnterForeground background 12:34:56",
        "didBecomeActive active 12:34:56",
      ])
  }

  @Test(arguments: ["home; wait:1d; reclaim", "interrupt:call; crash", "kill"])
  func `The due date is found at the next launch`(end: String) async throws {
    let system = try system { $0.dueDate = nil }
    try await system.play("launch")
    let date = try CivilDate("2026-06-25")
    tracker(of: system)?.dueDate?.set(date)
    try await system.play(end)
    #expect(system.application.state == .notRunning)
    try await system.play("launch")
    #expect(tracker(of: system)?.dueDate?.date == date && tracker(of: system)?.viewModel?.label == label(142))
  }

  @Test func `A crash right after it was set loses it`() async throws {
    let system = try system { $0.dueDate = nil }
    try await system.play("launch")
    tracker(of: system)?.dueDate?.set(try CivilDate("2026-06-25"))
    try await system.play("crash; launch")
    #expect(try #require(tracker(of: system)?.dueDate).date == nil)
  }

  @Test func `A save that fails is shown, and no longer once one succeeds`() async throws {
    let system = try system { $0.dueDate = try? CivilDate("2026-06-25") }
    var problems: [SavedStateError?] = []
    let subscription = system.bus.subscribe(to: SavedState.ProblemDidChange.self) { problems.append($0.problem) }
    system.stateStorage.failNextSave()
    try await system.play("launch; home; open")
    subscription.cancel()
    #expect(problems == [.notWritten(path: "saved-state", reason: "No space left on device"), nil])
  }

  private func tracker(of system: SimulatedSystem) -> TrackerDelegate? {
    system.application.delegate as? TrackerDelegate
  }

  private func system(_ change: (inout TrackerDelegate.Surroundings) -> Void) throws -> SimulatedSystem {
    var surroundings = try surroundings()
    let system = SimulatedSystem { TrackerDelegate(surroundings) }
    surroundings.clock = system.clock
    surroundings.ticks = false
    surroundings.tips = { MemoryTips() }
    change(&surroundings)
    // The delegate of the first process was made before its clock.
    (system.application.delegate as? TrackerDelegate)?.surroundings = surroundings
    return system
  }
}

/// Writes down what is done with it.
@MainActor private final class RecordedTips: TipsService, TipsConnection {
  var log: [String] = []

  func connect(_ report: @escaping @MainActor (TipsReport) -> Void) -> any TipsConnection {
    log.append("open")
    return self
  }

  func requestTip() {}
  func close() { log.append("close") }
  func stop() { log.append("stop") }
}
