import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import AppLifecycle

/// What the ledger says of the time in the background, and what a host does before it stops its process.
@MainActor @Suite(.timeLimit(.hang)) struct `The ledger of the background` {
  let system = SimulatedSystem()
  var application: Application { system.application }

  private var tasks: [String] {
    application.ledger.entries.filter { $0.kind == .task }.map {
      "\($0.name) from \($0.began / .seconds(1)) for \($0.duration / .seconds(1)) \($0.outcome)"
    }
  }

  @Test func `it names the tasks that spent the time, and which was never ended`() async throws {
    let clock = system.clock
    try await system.play("launch; task:begin:a")
    application.performBackgroundTask(named: "upload") { try? await clock.sleep(for: .seconds(3_600)) }
    application.performBackgroundTask(named: "save") { try? await clock.sleep(for: .seconds(2)) }
    try await system.play("wait:1s; home; wait:4s; task:begin:b; wait:1m")
    #expect(
      tasks == [
        "save from 0.0 for 2.0 completed", "upload from 0.0 for 26.0 cancelled", "a from 0.0 for 31.0 neverEnded",
        "b from 5.0 for 26.0 neverEnded",
      ])
    #expect(application.ledger.late.map(\.name) == ["a", "b"])
    // They ended after the transition into the background, and before the purge.
    let transitions = application.ledger.transitions.suffix(2)
    #expect(transitions.map { $0.entries.filter { $0.kind == .task }.count } == [4, 0])
    #expect(transitions.map(\.began) == [.seconds(1), .seconds(31)] && transitions.last?.to == .notRunning)
    let home = try #require(transitions.first?.description)
    #expect(home.contains("a never ended") && home.contains("b never ended"))
  }

  @Test func `what goes with its process through no fault of its own was cut short`() async throws {
    try await system.play("launch; task:begin:a; home; wait:2s; crash")
    #expect(tasks == ["a from 0.0 for 2.0 cutShort"])
    try await system.play("launch; task:begin:a; crash")
    #expect(tasks.last == "a from 2.0 for 0.0 cutShort")
    #expect(application.ledger.late.isEmpty)
  }

  // MARK: Before a host stops its process

  /// An application in the background whose host stops it; the clocks of the background have no consequences.
  private func stop(
    within budget: Duration, _ body: @escaping @MainActor (Application, ManualClock) -> Void
  ) async -> (log: [String], end: ApplicationState, length: Duration) {
    let clock = ManualClock()
    let application = Application(delegate: Bare(), clock: clock)
    var log: [String] = []
    let token = application.observe { event in
      guard let record = event.record, [.task, .report].contains(record.kind) else { return }
      log.append("\(record.instant / .seconds(1)) \(record.name) \(record.cause.rawValue)")
    }
    defer { token.cancel() }
    _ = await clock.running { await application.handle(.launch) }
    body(application, clock)
    _ = await clock.running { await application.handle(.home) }
    let began = clock.now
    let end = await clock.running { await application.handleSuspension(cause: "Ctrl-Z", within: budget) }
    return (log, end.to, began.duration(to: clock.now))
  }

  @Test func `without open tasks there is no wait`() async {
    let result = await stop(within: .seconds(5)) { application, _ in application.beginBackgroundTask(named: "a").end() }
    #expect(result.log == [] && result.end == .suspended && result.length == .zero)
  }

  @Test func `tasks have half of the budget before they expire, and all of it to end`() async {
    let result = await stop(within: .seconds(4)) { application, clock in
      application.performBackgroundTask(named: "save") { try? await clock.sleep(for: .seconds(1)) }
      application.performBackgroundTask(named: "upload") { try? await clock.sleep(for: .seconds(3_600)) }
      _ = application.beginBackgroundTask(named: "polite") { $0.end() }
    }
    #expect(result.log == ["2.0 expire:upload Ctrl-Z", "2.0 expire:polite Ctrl-Z"])
    #expect(result.end == .suspended && result.length == .seconds(2))
  }

  @Test func `tasks that end in time leave the application free to begin others`() async {
    let clock = ManualClock()
    let application = Application(delegate: Bare(), clock: clock)
    _ = await clock.running { await application.handle(.launch) }
    application.performBackgroundTask(named: "save") { try? await clock.sleep(for: .seconds(1)) }
    _ = await clock.running { await application.handle(.home) }
    _ = await clock.running { await application.finishBackgroundTasks(within: .seconds(4), cause: "Ctrl-Z") }
    var hasExpired = false
    let task = application.beginBackgroundTask(named: "later") { _ in hasExpired = true }
    await clock.running { await Task.yield() }
    #expect(!hasExpired && application.openBackgroundTasks == ["later"])
    task.end()
  }

  @Test func `one that does not end is reported and named when the budget is over`() async {
    let result = await stop(within: .seconds(4)) { application, _ in
      for name in ["a", "b"] { _ = application.beginBackgroundTask(named: name) }
    }
    #expect(
      result.log == [
        "2.0 expire:a Ctrl-Z", "2.0 expire:b Ctrl-Z", "4.0 backgroundTimeExpired:a Ctrl-Z",
        "4.0 backgroundTimeExpired:b Ctrl-Z",
      ])
    #expect(result.end == .suspended && result.length == .seconds(4))
  }

  @Test func `a budget that is used up expires them at once`() async {
    let result = await stop(within: .seconds(-1)) { application, _ in
      _ = application.beginBackgroundTask(named: "a") { $0.end() }
      _ = application.beginBackgroundTask(named: "b")
    }
    #expect(
      result.log == ["0.0 expire:a Ctrl-Z", "0.0 expire:b Ctrl-Z", "0.0 backgroundTimeExpired:b Ctrl-Z"])
    #expect(result.end == .suspended && result.length == .zero)
  }

  @Test func `a return to the foreground ends the wait, before and after the expiration`() async {
    for (delay, expected) in [(1, []), (3, ["2.0 expire:a Ctrl-Z"])] {
      let result = await stop(within: .seconds(4)) { application, clock in
        _ = application.beginBackgroundTask(named: "a")
        Task(executorPreference: clock.executor) {
          try? await clock.sleep(for: .seconds(delay))
          application.send(.open)
        }
      }
      #expect(result.log == expected, "after \(delay) s")
      #expect(result.end == .active, "after \(delay) s")
      #expect(result.length == .seconds(delay))
    }
  }

  @Test func `a stop that is taken back ends the wait in the background, before and after the expiration`() async {
    for (delay, expected) in [(1, []), (3, ["2.0 expire:a Ctrl-Z"])] {
      let result = await stop(within: .seconds(4)) { application, clock in
        _ = application.beginBackgroundTask(named: "a")
        Task(executorPreference: clock.executor) {
          try? await clock.sleep(for: .seconds(delay))
          await application.revokeSuspensions()
        }
      }
      #expect(result.log == expected, "after \(delay) s")
      #expect(result.end == .background, "after \(delay) s")
      #expect(result.length == .seconds(delay))
    }
  }

  /// As when a program is stopped while the machine goes to sleep.
  @Test func `two callers that let the tasks end are both answered, each in its time`() async {
    let result = await stop(within: .seconds(4)) { application, clock in
      _ = application.beginBackgroundTask(named: "a")
      Task(executorPreference: clock.executor) {
        try? await clock.sleep(for: .seconds(1))
        #expect(await application.finishBackgroundTasks(within: .seconds(1), cause: "sleep") == ["a"])
      }
    }
    #expect(
      result.log == ["1.5 expire:a sleep", "2.0 backgroundTimeExpired:a sleep", "4.0 backgroundTimeExpired:a Ctrl-Z"])
    #expect(result.end == .suspended && result.length == .seconds(4))
  }
}

@MainActor private final class Bare: ApplicationDelegate {}
