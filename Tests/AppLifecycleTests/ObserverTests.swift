import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import AppLifecycle

/// Observers of an application: what they are called with, and that they change nothing.
@MainActor @Suite(.timeLimit(.hang)) struct `An observer` {
  private struct Failure: Error {}

  let system = SimulatedSystem()
  private var application: Application { system.application }

  /// What the life cycle does without the observer of a test.
  private func bareRecord(_ script: String) async throws -> [LifecycleRecord] {
    let bare = SimulatedSystem()
    _ = bare.bus.subscribe(to: Application.DidEnterBackground.self, for: Subscribing.shared) { _, _ in }
    return try await bare.play(script)
  }

  @MainActor private final class Subscribing { static let shared = Subscribing() }

  @Test func `is called with all that happens, in order`() async throws {
    var lines: [String] = []
    let token = application.observe { event in lines.append(event.line) }
    system.bus.subscribe(to: Application.WillResignActive.self, for: Subscribing.shared, label: "timer") { _, _ in }
    try application.manage("feed", while: .active) {
    } release: {
    }
    try await system.play("launch")
    lines = []
    try await system.play("interrupt:call; home; home")
    token.cancel()
    try await system.play("open")
    #expect(
      lines == [
        "> interrupt:call", "input interrupt:call", "delegate applicationWillResignActive",
        "( applicationWillResignActive", ") applicationWillResignActive",
        "notification UIApplicationWillResignActiveNotification", "( timer", ") timer", "state inactive",
        "< interrupt:call completed", "( feed", ") feed",
      ] + [
        "> home", "input home", "state background", "budget applicationDidEnterBackground 5.0 seconds",
        "delegate applicationDidEnterBackground", "( applicationDidEnterBackground",
        ") applicationDidEnterBackground", "notification UIApplicationDidEnterBackgroundNotification",
        "< home completed",
      ] + ["> home", "input home", "ignored home", "< home ignored"], "\(lines)")
  }

  @Test func `sees what it causes after what it was called for, as every other does`() async throws {
    var (first, second): ([TraceEvent], [TraceEvent]) = ([], [])
    let tokens = [
      application.observe { [application] event in
        first.append(event)
        if event.record?.name == "inactive" { application.beginBackgroundTask(named: "upload").end() }
      },
      application.observe { second.append($0) },
    ]
    try await system.play("launch; home")
    #expect(first == second)
    let place = try #require(second.firstIndex { $0.record?.name == "inactive" })
    guard case .callBegan(let call) = second[place + 1], case .callEnded(let entry, of: call.id) = second[place + 2]
    else { return #expect(Bool(false), "\(second[place...].prefix(4))") }
    #expect(call.name == "upload" && entry.step == "backgroundTask" && call.kind == .task)
    withExtendedLifetime(tokens) {}
  }

  @Test func `that throws is named once, and changes nothing`() async throws {
    let script = "launch; home; open; kill"
    let token = application.observe(label: "exporter") { if $0.record?.kind == .delegate { throw Failure() } }
    let record = try await system.play(script)
    token.cancel()
    #expect(record.filter { $0.kind != .report } == (try await bareRecord(script)))
    #expect(record.filter { $0.kind == .report }.map(\.name) == ["observerFailed:exporter"])
    let entries = application.ledger.entries.filter { $0.kind == .observer }
    #expect(entries.map(\.name) == ["exporter"] && entries.first?.outcome == .failed("Failure()"))
  }

  @Test func `without a label is named by its line`() async throws {
    let line = #line + 1
    let token = application.observe { _ in throw Failure() }
    let record = try await system.play("launch")
    token.cancel()
    #expect(record.first { $0.kind == .report }?.name == "observerFailed:AppLifecycleTests/ObserverTests.swift:\(line)")
  }

  @Test func `that uses up a budget is named, and what it was called for is not`() async throws {
    system.application.enforcesBudgets = false
    var calls: [String] = []
    system.bus.subscribe(to: Application.DidEnterBackground.self, for: Subscribing.shared, label: "saver") { _, _ in
      calls.append("saver")
    }
    let token = application.observe(label: "exporter") { [system] event in
      if event.record?.name == "UIApplicationDidEnterBackgroundNotification" {
        system.clock.passWithoutWaking(.seconds(6))
      }
    }
    let record = try await system.play("launch; home")
    token.cancel()
    #expect(calls == ["saver"])
    #expect(record.filter { $0.kind == .report }.map(\.name) == ["watchdog:exporter"])
    #expect(application.ledger.overruns.map(\.culprits) == [["exporter"]])
    #expect(application.ledger.late.map(\.name) == ["exporter"])
    // Its stay was over by then.
    #expect(application.state == .suspended)
  }

  @Test func `takes none of the time of those that it watches`() async throws {
    system.bus.subscribe(to: Application.WillResignActive.self, for: Subscribing.shared, label: "timer") { _, _ in }
    let token = application.observe { [system] _ in system.clock.passWithoutWaking(.milliseconds(10)) }
    try await system.play("launch; interrupt:call")
    token.cancel()
    let entries = application.ledger.entries
    #expect(!entries.isEmpty && entries.allSatisfy { $0.duration == .zero })
  }

  @Test func `may end itself, and others, while it is called`() async throws {
    let tokens = Tokens()
    var (own, others) = (0, 0)
    tokens.list.append(
      application.observe { _ in
        own += 1
        for token in tokens.list { token.cancel() }
      })
    tokens.list.append(application.observe { _ in others += 1 })
    try await system.play("launch; home")
    #expect(own == 1 && others == 0)
  }

  @MainActor private final class Tokens { var list: [ObserverToken] = [] }

  @Test func `ends with its token, which any thread may release`() async throws {
    var count = 0
    var token: ObserverToken? = application.observe { _ in count += 1 }
    try await system.play("launch")
    let before = count
    let boxed = token
    token = nil
    await Task.detached { [boxed] in boxed?.cancel() }.value
    try await system.play("home")
    #expect(before > 0 && count == before)
  }

  @Test func `that is added meanwhile is called from the next event on`() async throws {
    var tokens: [ObserverToken] = []
    var events: [TraceEvent] = []
    let token = application.observe { [application] event in
      guard tokens.isEmpty, event.record?.name == "inactive" else { return }
      tokens.append(application.observe { events.append($0) })
    }
    try await system.play("launch")
    token.cancel()
    #expect(events.first?.record?.name != "inactive" && events.contains { $0.record?.name == "active" })
  }

  @Test func `that drives the application from inside changes nothing of what is under way`() async throws {
    let token = application.observe { [application] event in
      guard case .recorded(let record) = event, record.kind == .delegate else { return }
      if record.name == "applicationDidBecomeActive" { application.send(.home, cause: "observer") }
    }
    let record = try await system.play("launch; wait:1ms")
    token.cancel()
    let asIfPlayed = try await bareRecord("launch; home")
    #expect(
      record.filter { $0.kind != .input }.map { "\($0.kind) \($0.name) \($0.state)" }
        == asIfPlayed.filter { $0.kind != .input }.map { "\($0.kind) \($0.name) \($0.state)" })
  }

  @Test func `may manage and give up resources while it is called`() async throws {
    var lines: [String] = []
    let token = application.observe { [application] event in
      guard case .callEnded(let entry, _) = event, entry.name == "first", entry.step == "acquire" else { return }
      try application.manage("second", while: .active, after: ["first"]) {
        lines.append("+second")
      } release: {
        lines.append("-second")
      }
    }
    let first = try application.manage("first", while: .active) {
      lines.append("+first")
    } release: {
      lines.append("-first")
    }
    try await system.play("launch; interrupt:call; kill")
    token.cancel()
    #expect(lines == ["+first", "+second", "-second", "-first"] && first.status == .idle)
  }

  @Test func `leaves no call open when it ends`() async throws {
    let token = application.observe { _ in }
    let gate = AsyncStream.makeStream(of: Void.self)
    let task = application.task(label: "poll") { for await _ in gate.stream {} }
    try await system.play("launch")
    #expect(application.openCalls.map(\.name) == ["poll"])
    #expect(application.openCalls.first?.isSynchronous == false)
    token.cancel()
    gate.continuation.finish()
    _ = await task.result
    // Something has to happen before an end is noticed.
    try await system.play("home")
    // The simulated system observes as well.
    #expect(application.openCalls.isEmpty)
  }

  @Test func `is open itself while it is called`() async throws {
    var names: [[String]] = []
    let token = application.observe(label: "exporter") { [application] event in
      if event.record?.name == "UIApplicationWillResignActiveNotification" {
        names.append(application.openCalls.map { "\($0.kind) \($0.name)" })
      }
    }
    var inside: [String] = []
    system.bus.subscribe(to: Application.WillResignActive.self, for: Subscribing.shared, label: "timer") { _, event in
      inside = event.application.openCalls.map { "\($0.kind) \($0.name) \($0.isSynchronous)" }
    }
    try await system.play("launch; interrupt:call")
    token.cancel()
    #expect(names == [["observer exporter"]])
    #expect(inside == ["subscriber timer true"])
  }

  @Test func `is freed with the application, though it keeps its own token`() async throws {
    @MainActor final class Keeper {
      var token: ObserverToken?
      var events = 0
    }
    weak var kept: Keeper?
    do {
      let application = Application(delegate: Nothing())
      let keeper = Keeper()
      kept = keeper
      keeper.token = application.observe { _ in keeper.events += 1 }
      await application.handle(.launch)
      #expect(keeper.events > 0)
    }
    #expect(kept == nil)
  }

  @Test func `that ends itself in its call is called to the end, and then frees what it captured`() async throws {
    @MainActor final class Captured {
      var token: ObserverToken?
      var events = 0
    }
    weak var kept: Captured?
    var isKeptInside = false
    do {
      let captured = Captured()
      kept = captured
      captured.token = application.observe { _ in
        captured.events += 1
        captured.token = nil
        isKeptInside = captured.events == 1
      }
    }
    #expect(kept != nil)
    try await system.play("launch; home")
    #expect(isKeptInside && kept == nil)
  }

  @MainActor private final class Nothing: ApplicationDelegate {}
}

extension TraceEvent {
  fileprivate var line: String {
    switch self {
    case .transitionBegan(let input, _): "> \(input?.scriptToken ?? "device")"
    case .transitionEnded(let report):
      "< \(report.cause.rawValue) \(report.outcome == .completed ? "completed" : "ignored")"
    case .budgetBegan(let callback, let length): "budget \(callback.rawValue) \(length)"
    case .recorded(let record): "\(record.kind.rawValue) \(record.name)"
    case .callBegan(let call): "( \(call.name)"
    case .callEnded(let entry, _): ") \(entry.name)"
    case .overran(let overrun): "overran \(overrun.culprits)"
    case .terminationAsked: "asked"
    case .terminationRefused: "refused"
    }
  }
}
