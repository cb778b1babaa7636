import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Observers that do what they should not, at unlucky moments.
@MainActor @Suite(.timeLimit(.hang)) struct `An observer in a corner` {
  let system = SimulatedSystem()
  private var application: Application { system.application }

  @MainActor private final class Owner {}

  @Test func `looks at the resources, and changes them, when one of them begins`() async throws {
    var seen: [[ResourceStatus]] = []
    let token = application.observe { [application] event in
      guard case .callBegan(let call) = event, call.kind == .resource, call.name == "first" else { return }
      seen.append(application.resources.map(\.status))
      if call.step == "acquire" {
        try application.manage("second", while: .active) {
        } release: {
        }
      }
    }
    let first = try application.manage("first", while: .active) {
    } release: {
    }
    try await system.play("launch; interrupt:call")
    token.cancel()
    #expect(seen.map(\.first) == [.acquiring, .releasing] && first.status == .idle)
    #expect(application.resources.map(\.status) == [.idle, .idle])
  }

  @Test func `cancels the subscription whose handler is about to be called`() async throws {
    let owner = Owner()
    var calls = 0
    let subscription = system.bus.subscribe(to: Application.WillResignActive.self, for: owner, label: "timer") { _, _ in
      calls += 1
    }
    var balance = CallBalance()
    var ends: [LedgerEntry.Outcome] = []
    let token = application.observe { event in
      balance.take(event)
      switch event {
      case .callBegan(let call) where call.name == "timer": subscription.cancel()
      case .callEnded(let entry, _) where entry.name == "timer": ends.append(entry.outcome)
      default: break
      }
    }
    try await system.play("launch; interrupt:call")
    token.cancel()
    #expect(calls == 0 && ends == [.cutShort] && balance.open == [] && balance.faults == [])
    #expect(!application.ledger.entries.contains { $0.name == "timer" })
  }

  @Test func `is told that a handler whose event still waited took no time`() async throws {
    let subscription = system.bus.receive(Application.WillResignActive.self, label: "timer") {
      [application] _ in
      try await application.clock.sleep(for: .seconds(60))
    }
    var ends: [LedgerEntry] = []
    let token = application.observe { event in
      if case .callEnded(let entry, _) = event, entry.name == "timer" { ends.append(entry) }
    }
    try await system.play("launch; interrupt:call; end:call; interrupt:call; wait:3s")
    subscription.cancel()
    try await system.play("wait:1s")
    token.cancel()
    #expect(ends.map(\.outcome) == [.cutShort] && ends.map(\.duration) == [.zero], "\(ends)")
  }

  @Test func `lets go of the owner whose handler is about to be called`() async throws {
    var owner: Owner? = Owner()
    var calls = 0
    system.bus.subscribe(to: Application.WillResignActive.self, for: try #require(owner), label: "timer") { _, _ in
      calls += 1
    }
    var balance = CallBalance()
    let token = application.observe { event in
      balance.take(event)
      if case .callBegan(let call) = event, call.name == "timer" { owner = nil }
    }
    try await system.play("launch; interrupt:call")
    token.cancel()
    #expect(owner == nil && calls == 0 && balance.open == [] && balance.faults == [])
  }

  @Test func `hears the end of a sequence that takes no more`() async throws {
    let sequence = system.bus.events(Application.WillResignActive.self, label: "sequence")
    try await system.play("launch")
    var balance = CallBalance()
    let token = application.observe { balance.take($0) }
    // Ended with its task, and not yet released, as long as the iterator is kept.
    let iterator = sequence.makeAsyncIterator()
    let hasEnded = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var copy = iterator
      return copy.nextIfHeld() == nil
    }.value
    #expect(hasEnded)
    try await system.play("interrupt:call")
    token.cancel()
    #expect(balance.begun > 0 && balance.open == [] && balance.faults == [])
    withExtendedLifetime(iterator) {}
  }

  @Test func `hears the end of a handler whose subscription was cancelled before its turn`() async throws {
    let clock = system.clock
    let owner = Owner()
    var calls: [String] = []
    // Closing notifications are delivered in reverse: the higher priority comes last.
    let second = system.bus.receive(Application.DidEnterBackground.self, for: owner, priority: .high, label: "second") {
      _, _ async throws in calls.append("second")
    }
    let first = system.bus.receive(Application.DidEnterBackground.self, for: owner, label: "first") {
      _, _ async throws in
      calls.append("first")
      try await clock.sleep(for: .seconds(1))
      second.cancel()
    }
    var balance = CallBalance()
    let token = application.observe { balance.take($0) }
    try await system.play("launch; home")
    token.cancel()
    #expect(calls == ["first"] && balance.open == [] && balance.faults == [], "\(calls) \(balance)")
    withExtendedLifetime(first) {}
  }

  @Test func `that uses up a budget is blamed alone, also for what runs meanwhile`() async throws {
    application.enforcesBudgets = false
    try application.manage("feed", while: .foreground) {
    } release: {
    }
    let token = application.observe(label: "exporter") { [system] event in
      if case .callBegan(let call) = event, call.step == "release" { system.clock.passWithoutWaking(.seconds(6)) }
    }
    let record = try await system.play("launch; home")
    token.cancel()
    #expect(record.filter { $0.kind == .report }.map(\.name) == ["watchdog:exporter"])
    let release = try #require(application.ledger.entries.last { $0.step == "release" })
    #expect(release.duration == .zero && release.outcome == .completed)
  }

  @Test func `ends and begins background tasks while the process is lost`() async throws {
    var second: Application.BackgroundTask?
    var balance = CallBalance()
    let token = application.observe { [application] event in
      balance.take(event)
      guard case .callEnded(let entry, _) = event, entry.name == "first" else { return }
      second?.end()
      _ = application.beginBackgroundTask(named: "too late") { _ in }
    }
    try await system.play("launch; home")
    _ = application.beginBackgroundTask(named: "first") { _ in }
    second = application.beginBackgroundTask(named: "second") { _ in }
    try await system.play("crash")
    token.cancel()
    let ends = application.ledger.entries.filter { $0.step == "backgroundTask" }
    #expect(ends.map { "\($0.name) \($0.outcome)" } == ["first cutShort", "second cutShort"])
    #expect(balance.faults == [])
  }

  @Test func `is not called with what happened before it was added`() async throws {
    var late: [TraceEvent] = []
    var tokens: [ObserverToken] = []
    let token = application.observe { [application] event in
      guard tokens.isEmpty, event.record?.name == "inactive" else { return }
      application.beginBackgroundTask(named: "before") { _ in }.end()
      tokens.append(application.observe { late.append($0) })
      application.beginBackgroundTask(named: "after") { _ in }.end()
    }
    try await system.play("launch")
    token.cancel()
    guard case .callBegan(let call) = try #require(late.first) else { return #expect(Bool(false), "\(late)") }
    #expect(call.name == "after")
  }

  @Test func `releases what it captured when its token is cancelled`() {
    weak var captured: Owner?
    var token: ObserverToken?
    do {
      let owner = Owner()
      captured = owner
      token = application.observe { _ in withExtendedLifetime(owner) {} }
    }
    #expect(captured != nil)
    token?.cancel()
    #expect(captured == nil)
  }

  @Test func `starts tasks whose inputs wait for nothing that it interrupted`() async throws {
    let application = application
    let clock = system.clock
    var outcomes: [TransitionReport.Outcome] = []
    let owner = Owner()
    system.bus.receive(Application.DidEnterBackground.self, for: owner) { _, _ async throws in
      application.beginBackgroundTask(named: "inside") { _ in }.end()
    }
    let token = application.observe { event in
      guard case .callBegan(let call) = event, call.name == "inside" else { return }
      TaskStarter(clock: clock).startOnMainActor { outcomes.append(await application.handle(.memoryWarning).outcome) }
    }
    try await system.play("launch; home; wait:1s")
    token.cancel()
    #expect(outcomes == [.completed])
  }

  @Test func `starts a task for each event, and no observer is called with those tasks`() async throws {
    let application = application
    var (started, exported, others): (Int, [TraceEvent], [TraceEvent]) = (0, [], [])
    let tokens = [
      application.observe { event in
        started += 1
        // Without the guard, a fault of the application would keep the test from ending.
        if started < 1_000 { application.task(label: "export") { exported.append(event) } }
      },
      application.observe { others.append($0) },
    ]
    try await system.play("launch; home; wait:1s")
    #expect(started < 1_000 && exported == others && application.openCalls == [])
    let entries = application.ledger.entries.filter { $0.name == "export" }
    #expect(entries.count == started && entries.allSatisfy { $0.outcome == .completed })
    for token in tokens { token.cancel() }
  }

  /// The first event is one of a transition, or of a background task.
  @Test(arguments: ["launch", "first"])
  func `causes events without end, and is called no more`(name: String) async throws {
    let application = application
    var (isOn, calls) = (false, 0)
    var balance = CallBalance()
    let tokens = [
      application.observe(label: "chain") { event in
        if case .callBegan(let call) = event, call.name == name { isOn = true }
        if event.record?.name == name { isOn = true }
        guard isOn, calls < 20_000 else { return }
        calls += 1
        application.beginBackgroundTask(named: "export") { _ in }.end()
      },
      application.observe { balance.take($0) },
    ]
    try await system.play("launch")
    application.beginBackgroundTask(named: "first") { _ in }.end()
    #expect(isOn && calls < 20_000 && balance.open == [] && balance.faults == [])
    #expect(system.record.filter { $0.kind == .report }.map(\.name) == ["observerFailed:chain"])
    let entries = application.ledger.entries.filter { $0.kind == .observer }
    #expect(entries.map(\.name) == ["chain"], "\(entries)")
    for token in tokens { token.cancel() }
  }
}
