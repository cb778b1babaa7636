import AppLifecycleTesting
import PubSub
import Testing

@testable import AppLifecycle

@MainActor @Suite struct `The ledger of an application` {
  private let most = ApplicationLedger.mostEntries

  private func entry(_ name: String, _ outcome: LedgerEntry.Outcome = .completed) -> LedgerEntry {
    LedgerEntry(.task, name, step: "task", began: .zero, duration: .milliseconds(1_500), outcome: outcome)
  }

  private func transition(_ cause: LifecycleCause) -> TransitionReport {
    TransitionReport(outcome: .completed, cause: cause, from: .active, to: .active)
  }

  /// Begins a transition, notes calls in it, and ends it.
  @discardableResult private func add(
    _ cause: LifecycleCause, calls: Int, to ledger: ApplicationLedger
  ) -> TransitionReport {
    var report = transition(cause)
    ledger.begin(report)
    for _ in 0..<calls { ledger.note(entry("a"), on: ledger.page) }
    ledger.end(&report)
    return report
  }

  @Test func `remembers so many transitions, each with what ended before the next`() {
    let ledger = ApplicationLedger(limit: 3)
    for number in 0..<10 {
      add(LifecycleCause(rawValue: "memory \(number)"), calls: 1, to: ledger)
      ledger.note(entry("save \(number)"), on: ledger.page)
    }
    let transitions = ledger.snapshot.transitions
    #expect(transitions.map(\.cause.rawValue) == ["memory 7", "memory 8", "memory 9"])
    #expect(transitions.map { $0.entries.map(\.name) } == [["a", "save 7"], ["a", "save 8"], ["a", "save 9"]])
    #expect(ledger.snapshot.dropped == 14)
  }

  @Test func `remembers so many entries, but those of the transition under way in full`() {
    let ledger = ApplicationLedger(limit: 64)
    for number in 0..<4 { add(LifecycleCause(rawValue: "\(number)"), calls: 3_000, to: ledger) }
    #expect(ledger.snapshot.transitions.map(\.cause.rawValue) == ["2", "3"])
    #expect(ledger.snapshot.dropped == 6_000)
    var last = transition("last")
    ledger.begin(last)
    for _ in 0..<10_000 { ledger.note(entry("a"), on: ledger.page) }
    #expect(ledger.snapshot.transitions.map(\.entries.count) == [10_000])
    #expect(ledger.snapshot.transitions.map(\.outcome) == [.underWay])
    let overrun = BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["a"])
    ledger.note(overrun, on: ledger.page)
    ledger.end(&last)
    #expect(last.outcome == .completed && last.entries.count == 10_000 && last.overruns == [overrun])
    // Then its oldest entries may go.
    #expect(ledger.snapshot.transitions.map(\.entries.count) == [most / 2])
    #expect(ledger.snapshot.dropped == 12_000 + 10_000 - most / 2)
  }

  @Test func `a handler that returns late is noted with its own transition, while the ledger has that`() {
    let ledger = ApplicationLedger(limit: 2)
    add("home", calls: 0, to: ledger)
    let home = ledger.page
    add("open", calls: 0, to: ledger)
    ledger.note(entry("slow"), on: home)
    #expect(ledger.snapshot.transitions.map { $0.entries.map(\.name) } == [["slow"], []])
    add("home", calls: 0, to: ledger)
    ledger.note(entry("slower"), on: home)
    #expect(ledger.snapshot.entries.isEmpty)
  }

  /// A service may have one transition for as long as it runs.
  @Test func `after a transition its oldest entries are dropped, and those of late code last`() {
    let ledger = ApplicationLedger(limit: 64)
    add("launch", calls: 0, to: ledger)
    ledger.note(entry("late", .overran), on: ledger.page)
    for number in 0..<10 * most { ledger.note(entry("\(number)"), on: ledger.page) }
    let launch = ledger.snapshot.transitions[0]
    #expect(launch.entries.count <= most && launch.entries.count >= most / 2)
    #expect(ledger.snapshot.dropped == 10 * most + 1 - launch.entries.count)
    #expect(launch.entries.first?.name == "late" && launch.entries.last?.name == "\(10 * most - 1)")
    for number in 0..<2 * most { ledger.note(entry("late \(number)", .overran), on: ledger.page) }
    #expect(ledger.snapshot.late.count <= most)
    #expect(ledger.snapshot.entries.last?.name == "late \(2 * most - 1)")
  }

  @Test func `says in a line what took how long, and which code is to blame`() {
    var report = TransitionReport(outcome: .underWay, cause: "home", from: .active, to: .background, began: .seconds(1))
    #expect(report.description == "home: active → background, under way; 0 calls")
    (report.outcome, report.duration) = (.completed, .seconds(5))
    report.entries = [
      entry("quick"),
      LedgerEntry(
        .subscriber, EventBus.Subscriber(label: nil, fileID: "App/Store.swift", line: 12),
        step: "applicationDidEnterBackground",
        began: .zero, duration: .seconds(5), outcome: .overran),
    ]
    report.overruns = [
      BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["App/Store.swift:12"])
    ]
    #expect(
      report.description
        == "home: active → background, 5 s; 2 calls; applicationDidEnterBackground overran its 5 s: App/Store.swift:12; "
        + "longest: App/Store.swift:12 (subscriber, applicationDidEnterBackground) 5 s, overran its time")
    #expect(BudgetLedger(transitions: [report]).late.map(\.source) == ["App/Store.swift:12"])
    #expect(entry("quick").description == "quick (task, task) 1.500 s")
    report = TransitionReport(
      outcome: .completed, cause: "purge", from: .background, to: .notRunning, duration: .microseconds(12),
      entries: [entry("save", .neverEnded)])
    #expect(
      report.description
        == "purge: background → notRunning, < 1 ms; 1 call; save never ended; "
        + "longest: save (task, task) 1.500 s, never ended")
  }

  @Test func `has the reports of the application, and none of an ignored input`() async throws {
    final class Bare: ApplicationDelegate {}
    let clock = ManualClock()
    let application = Application(delegate: Bare(), clock: clock)
    let first = await clock.running { await application.handle(.launch) }
    _ = await clock.running { await application.handle(.launch) }
    try await clock.advance(by: .seconds(3))
    let report = await clock.running { await application.handle(.home) }
    #expect(application.ledger.transitions == [first, report])
    #expect(application.ledger.transitions.map(\.began) == [.zero, .seconds(3)])
    #expect(report.entries.map(\.name) == ["applicationWillResignActive", "applicationDidEnterBackground"])
  }

  @Test func `keeps the latest overruns of a transition that lasts`() async {
    final class Bare: ApplicationDelegate {}
    let application = Application(delegate: Bare())
    await application.handle(.launch)
    let ledger = application.ownLedger
    for number in 0...ApplicationLedger.mostOverruns {
      ledger.note(
        BudgetOverrun(callback: .didEnterBackground, budget: .seconds(number), culprits: ["loop"]), on: ledger.page)
    }
    let kept = application.ledger.overruns.map(\.budget)
    #expect(kept.count == ApplicationLedger.mostOverruns / 2 + 1)
    #expect(kept.last == .seconds(ApplicationLedger.mostOverruns))
  }

  @Test func `and a report says in the same line what a transition was`() async {
    final class Bare: ApplicationDelegate {}
    let clock = ManualClock()
    let application = Application(delegate: Bare(), clock: clock)
    let subscription = application.bus.receive(Application.DidEnterBackground.self, label: "store") { _ in
      try? await clock.sleep(for: .seconds(60))
    }
    let first = await clock.running { await application.handle(.home) }
    #expect("\(first)" == "home: ignored, the application is not in the foreground")
    _ = await clock.running { await application.handle(.launch) }
    let report = await clock.running { await application.handle(.home) }
    withExtendedLifetime(subscription) {}
    #expect(
      "\(report)"
        == "home: active → background, 5 s; 3 calls; applicationDidEnterBackground overran its 5 s: store; "
        + "longest: store (subscriber, applicationDidEnterBackground) 5 s, overran its time")
    #expect(application.ledger.transitions.last?.description == "\(report)")
    let queued = TransitionReport(outcome: .queued, cause: "open", from: .background, to: .background)
    #expect("\(queued)" == "open: queued")
  }

  /// The ledger keeps thousands of entries, and an error may print the whole answer of a server.
  @Test func `keeps the beginning of a long error`() async throws {
    struct Long: Error, CustomStringConvertible { let description = String(repeating: "a", count: 100_000) }
    let system = SimulatedSystem()
    let application = system.application
    let owner = Owner()
    try application.manage("feed", while: .running, onError: .rest) {
    } run: {
      throw Long()
    } release: {
      throw Long()
    }
    try application.manage("broken", while: .running) { throw Long() }
    let subscriptions = [
      system.bus.subscribe(to: Application.DidFinishLaunching.self) { _ in throw Long() },
      system.bus.receive(Application.DidEnterBackground.self) { _ in throw Long() },
    ]
    try await system.play("launch")
    application.task { throw Long() }
    application.task(owner, every: .seconds(60)) { _ in throw Long() }
    let token = application.observe { _ in throw Long() }
    try await system.play("home; kill")
    withExtendedLifetime((subscriptions, token, owner)) {}
    let lengths = application.ledger.entries.compactMap { entry -> Int? in
      if case .failed(let text) = entry.outcome { text.count } else { nil }
    }
    #expect(lengths.count >= 8 && lengths.allSatisfy { $0 <= 1_001 }, "\(lengths)")
  }

  private final class Owner {}
}
