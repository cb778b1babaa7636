import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// The question whether the application may end.
@MainActor @Suite(.timeLimit(.hang)) struct `The question whether it may end` {
  /// Answers as the test says.
  @MainActor final class Asked {
    var causes: [String] = []
    /// What the answer is; a test may wait in it.
    var answer: @MainActor (LifecycleCause) async -> TerminateReply = { _ in .now }
  }

  let delegate = Asked()
  let system: SimulatedSystem
  let clock: ManualClock
  let application: Application

  init() {
    system = SimulatedSystem { [delegate] in delegate }
    (clock, application) = (system.clock, system.application)
  }

  private func sleep(_ seconds: Int64, then reply: TerminateReply) {
    delegate.answer = { [clock] _ in
      try? await clock.sleep(for: .seconds(seconds))
      return reply
    }
  }

  /// Hands an input in from outside, and notes what became of it.
  private func start(_ input: SystemInput, _ outcomes: Outcomes) {
    TaskStarter(clock: clock).startOnMainActor { [application] in
      let report = await application.handle(input)
      outcomes.lines.append("\(input.scriptToken): \(report.outcome)")
    }
  }

  @MainActor final class Outcomes { var lines: [String] = [] }

  /// The lines of the record but the calls and notifications of the launch, and of the way out.
  private func told(_ records: [LifecycleRecord]) -> [String] {
    records.compactMap { record in
      switch record.kind {
      case .input: record.name
      case .delegate where record.name == "applicationShouldTerminate": "asked because of \(record.cause.rawValue)"
      case .state, .report: "\(record.name)"
      case .ignored: "\(record.name) ignored: \(record.reason ?? "")"
      case .delegate, .notification, .task: nil
      }
    }
  }

  private var end: [String] { ["inactive", "background", "notRunning"] }

  // MARK: Answered at once

  @Test func `is asked before the end, with the cause, and the end follows in the same turn`() async throws {
    try await system.play("launch")
    application.send(.terminate, cause: "menu")
    application.send(.home)
    let before = system.record.count
    await clock.settle()
    #expect(told(Array(system.record[before...])) == ["asked because of menu"] + end)
    #expect(delegate.causes == ["menu"])
    #expect(system.record.callbacks.dropFirst(3).first == "shouldTerminate (active)")
    #expect(system.record.violations == [])
  }

  @Test func `is refused: the input is ignored, with the reason, and nothing else happens`() async throws {
    delegate.answer = { _ in .cancel }
    try await system.play("launch")
    #expect(
      told(try await system.play("quit")) == [
        "quit", "asked because of quit", "quit ignored: the delegate refused to end",
      ])
    #expect(application.state == .active)
    delegate.answer = { _ in .now }
    #expect(told(try await system.play("quit")) == ["quit", "asked because of quit"] + end)
    #expect(system.record.violations == [])
  }

  @Test func `is not asked where the system ends the application, nor while that is suspended or not running`()
    async throws
  {
    delegate.answer = { _ in .cancel }
    for script in ["launch; kill", "launch; switcher; switcher:kill", "launch; home; suspend; quit", "quit"] {
      try await system.play(script)
      #expect(application.state == .notRunning)
    }
    #expect(delegate.causes == [])
    #expect(system.record.violations == [])
  }

  @Test func `is asked in the background and with scenes, too`() async throws {
    let scenes = SimulatedSystem(profile: .scenes) { delegate }
    try await scenes.play("launch; scene:open:b; quit")
    #expect(scenes.application.state == .notRunning && scenes.record.violations == [])
    try await system.play("launch:background; quit")
    #expect(delegate.causes == ["quit", "quit"])
  }

  @Test func `stands in the ledger of the end`() async throws {
    try await system.play("launch; slow:shouldTerminate:2s; quit")
    let page = try #require(application.ledger.transitions.last)
    #expect(page.entries.first?.description == "applicationShouldTerminate (delegate, applicationShouldTerminate) 2 s")
    #expect(page.overruns == [])
  }

  // MARK: Answered later

  @Test func `that is open holds up no other input`() async throws {
    sleep(10, then: .now)
    try await system.play("launch")
    let outcomes = Outcomes()
    start(.terminate, outcomes)
    await clock.settle()
    let before = system.record.count
    try await system.play("memory; home; open; interrupt:call")
    #expect(application.state == .inactive && outcomes.lines == [])
    #expect(system.record[before...].contains { $0.name == "applicationDidReceiveMemoryWarning" })
    try await clock.advance(by: .seconds(10))
    #expect(outcomes.lines == ["quit: completed"])
    #expect(application.state == .notRunning)
    let last = try #require(system.record.last)
    #expect(last.cause == "quit" && last.instant == .seconds(10))
    #expect(system.record.violations == [])
  }

  @Test func `that is open lets a script go on, and its answer comes in its time`() async throws {
    sleep(3, then: .cancel)
    #expect(
      told(try await system.play("launch; quit; home; open; wait:3s")).dropFirst(3) == [
        "quit", "asked because of quit", "home", "inactive", "background", "open", "inactive", "active", "wait:3s",
        "quit ignored: the delegate refused to end",
      ])
    #expect(system.record.violations == [])
  }

  /// The record has the answer where the delegate gave it, though the sender of `quit` learns of it later.
  @Test(arguments: [0, 1]) func `is refused right before a crash`(seconds: Int64) async throws {
    delegate.answer = { [clock, application] _ in
      if seconds > 0 { try? await clock.sleep(for: .seconds(seconds)) }
      application.send(.device(.crash))
      return .cancel
    }
    #expect(
      told(try await system.play("launch; quit; wait:2s")).dropFirst(3) == [
        "quit", "asked because of quit",
      ] + (seconds > 0 ? ["wait:2s"] : []) + ["quit ignored: the delegate refused to end", "notRunning"]
        + (seconds > 0 ? [] : ["wait:2s"]))
    #expect(system.record.violations == [])
  }

  @Test func `is one: a second wish joins it`() async throws {
    sleep(3, then: .cancel)
    try await system.play("launch")
    let outcomes = Outcomes()
    start(.terminate, outcomes)
    try await clock.advance(by: .seconds(1))
    start(.terminate, outcomes)
    try await clock.advance(by: .seconds(2))
    #expect(delegate.causes == ["quit"])
    #expect(outcomes.lines == Array(repeating: "quit: ignored(reason: AppLifecycle.IgnoredReason.refused)", count: 2))
    // It is over: the next one asks again.
    start(.terminate, outcomes)
    await clock.settle()
    #expect(delegate.causes == ["quit", "quit"])
  }

  // MARK: Overtaken

  @Test(arguments: [LifecycleInput.system(.shutDown), .device(.crash), .device(.killFromSwitcher)])
  func `ends without an answer when the process does`(input: LifecycleInput) async throws {
    var wasCancelled = false
    delegate.answer = { [clock] _ in
      do { try await clock.sleep(for: .seconds(5)) } catch { wasCancelled = true }
      return .cancel
    }
    try await system.play("launch; switcher")
    let outcomes = Outcomes()
    start(.terminate, outcomes)
    await clock.settle()
    _ = await clock.running { [application] in await application.handle(input) }
    #expect(application.state == .notRunning && wasCancelled && clock.now.offset == .zero)
    await clock.settle()
    #expect(outcomes.lines == ["quit: ignored(reason: AppLifecycle.IgnoredReason.notRunning)"])
    // Its answer is none for the next process.
    try await system.play("launch; wait:1m")
    #expect(application.state == .active)
    #expect(system.record.violations == [])
  }

  @Test func `goes with a process that the system purges in the middle of another transition`() async throws {
    sleep(20, then: .now)
    let outcomes = Outcomes()
    try await system.play("launch; slow:didEnterBackground:6s")
    start(.terminate, outcomes)
    await clock.settle()
    try await system.play("home")
    #expect(application.state == .notRunning)
    #expect(outcomes.lines == ["quit: ignored(reason: AppLifecycle.IgnoredReason.notRunning)"])
    try await system.play("launch; wait:1m")
    #expect(application.state == .active && system.record.violations == [])
  }

  @Test func `that was answered while the application is suspended ends it when that runs again`() async throws {
    sleep(10, then: .now)
    try await system.play("launch; quit; home; suspend; wait:1h")
    #expect(application.state == .suspended)
    try await system.play("wake")
    #expect(application.state == .notRunning)
    #expect(system.record.callbacks.last == "willTerminate (background)")
    #expect(!system.record.contains { $0.kind == .report })
  }

  // MARK: From inside

  @Test func `from inside a handler is queued, from inside the question joins it`() async throws {
    var outcomes: [String] = []
    delegate.answer = { [application] _ in
      outcomes.append("\(await application.handle(.terminate).outcome)")
      outcomes.append("\(await application.handle(.memoryWarning).outcome)")
      return .cancel
    }
    let subscription = application.bus.receive(Application.WillResignActive.self) {
      [application] _ in
      outcomes.append("handler \(await application.handle(.terminate).outcome)")
    }
    try await system.play("launch; home")
    await clock.settle()
    withExtendedLifetime(subscription) {}
    #expect(outcomes == ["handler queued", "queued", "completed"])
    #expect(application.state == .background && delegate.causes == ["quit"])
    #expect(system.record.violations == [])
  }

  @Test func `may order the end that the system would`() async throws {
    delegate.answer = { [application] _ in
      await application.handle(.shutDown)
      return .cancel
    }
    try await system.play("launch; quit")
    #expect(application.state == .notRunning && system.record.violations == [])
  }

  // MARK: Never answered

  @Test func `has its budget: a delegate that never answers is named, and the application ends in order`() async throws
  {
    delegate.answer = { _ in
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      return .cancel
    }
    try await system.play("launch")
    let before = system.record.count
    let report = await clock.running { [application] in await application.handle(.terminate, cause: "Ctrl-C") }
    #expect(clock.now.offset == .seconds(30))
    #expect(
      told(Array(system.record[before...])) == [
        "asked because of Ctrl-C", "watchdog:applicationShouldTerminate",
      ] + end)
    #expect(
      report.overruns == [
        BudgetOverrun(
          callback: .shouldTerminate, budget: .seconds(30), culprits: ["applicationShouldTerminate"])
      ])
    #expect(report.entries.first?.outcome == .overran && report.to == .notRunning)
    #expect(system.record.callbacks.last == "willTerminate (background)")
    #expect(system.record.violations == [])
  }

  @Test func `has its budget: one that is late is named, also if another end comes before its own`() async throws {
    sleep(60, then: .now)
    let subscription = application.bus.receive(Application.DidEnterBackground.self) { [clock] _ in
      try await clock.sleep(for: .seconds(4))
    }
    try await system.play("launch; quit; wait:28s")
    application.send(.home)
    application.send(.shutDown)
    try await system.play("wait:10s")
    subscription.cancel()
    #expect(application.state == .notRunning && system.record.violations == [])
    #expect(system.record.filter { $0.kind == .report }.map(\.name) == ["watchdog:applicationShouldTerminate"])
    #expect(application.ledger.overruns.map(\.culprits) == [["applicationShouldTerminate"]])
    #expect(application.ledger.late.map(\.name) == ["applicationShouldTerminate"])
  }

  @Test func `has its budget: an answer that blocks beyond it does not count`() async throws {
    delegate.answer = { _ in .cancel }
    try await system.play("launch; slow:shouldTerminate:31s; quit")
    #expect(application.state == .notRunning)
    #expect(system.record.filter { $0.kind == .report }.map(\.name) == ["watchdog:applicationShouldTerminate"])
  }

  @Test func `spends no time while the application is suspended`() async throws {
    sleep(100, then: .now)
    try await system.play("launch; quit; wait:20s; home; suspend; wait:1h; open; wait:9s")
    // Answered in that hour: the end came with the return.
    #expect(application.state == .notRunning && !system.record.contains { $0.kind == .report })

    sleep(10_000, then: .now)
    try await system.play("launch; quit; wait:20s; home; suspend; wait:1h; open; wait:9s")
    #expect(application.state == .active)
    try await system.play("wait:1s")
    #expect(application.state == .notRunning)
    #expect(system.record.filter { $0.kind == .report }.map(\.name) == ["watchdog:applicationShouldTerminate"])
  }

  @Test func `has the budget of the configuration`() async throws {
    var configuration = Application.Configuration()
    configuration.shouldTerminateBudget = .zero
    let system = SimulatedSystem(configuration: configuration) { delegate }
    delegate.answer = { _ in .cancel }
    try await system.play("launch; quit")
    #expect(system.application.state == .active)
    delegate.answer = { [clock = system.clock] _ in
      try? await clock.sleep(for: .seconds(1))
      return .cancel
    }
    try await system.play("quit; wait:0s")
    #expect(system.application.state == .notRunning)
  }
}

extension `The question whether it may end`.Asked: ApplicationDelegate {
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    causes.append(cause.rawValue)
    return await answer(cause)
  }
}
