import AppLifecycleTesting
import PubSub
import Testing

@testable import AppLifecycle

@Suite struct `The keeper of the ledger` {
  private func entry(_ name: String, _ outcome: LedgerEntry.Outcome = .completed) -> LedgerEntry {
    LedgerEntry(.task, name, step: "task", began: .zero, duration: .milliseconds(1_500), outcome: outcome)
  }

  @Test func `remembers so many pages, and never forgets the stay that lasts`() {
    var keeper = LedgerKeeper(limit: 3)
    keeper.beginStay("home", at: .seconds(1))
    for number in 0..<10 {
      keeper.beginTransition(LifecycleCause(rawValue: "memory \(number)"), from: .background, at: .seconds(number))
      _ = keeper.endTransition(in: .background, at: .seconds(number))
    }
    keeper.note(entry("save"), on: keeper.present)
    keeper.endStay(in: .suspended, at: .seconds(11))
    #expect(keeper.ledger.pages.map(\.cause.rawValue) == ["home", "memory 8", "memory 9"])
    #expect(keeper.ledger.pages[0].entries.map(\.name) == ["save"])
    #expect(keeper.ledger.pages[0].duration == .seconds(10))
    #expect(keeper.ledger.pages[0].to == .suspended)
  }

  @Test func `remembers so many entries, but the latest page whole`() {
    var keeper = LedgerKeeper(limit: 64)
    for page in 0..<4 {
      keeper.beginTransition(LifecycleCause(rawValue: "\(page)"), from: .active, at: .zero)
      for _ in 0..<3_000 { keeper.note(entry("a"), on: keeper.transition) }
      _ = keeper.endTransition(in: .active, at: .zero)
    }
    #expect(keeper.ledger.pages.map(\.cause.rawValue) == ["2", "3"])
    keeper.beginTransition("last", from: .active, at: .zero)
    for _ in 0..<10_000 { keeper.note(entry("a"), on: keeper.transition) }
    #expect(keeper.ledger.pages.map(\.entries.count) == [10_000])
    let forgotten = keeper.transition
    keeper.beginTransition("next", from: .active, at: .zero)
    keeper.note(entry("late"), on: forgotten)
    #expect(keeper.ledger.pages.map(\.entries.count) == [0])
  }

  @Test func `keeps the page of the transition under way, whatever is forgotten`() {
    var keeper = LedgerKeeper(limit: 1)
    keeper.beginTransition("home", from: .active, at: .zero)
    keeper.beginStay("home", at: .zero)
    for _ in 0..<10_000 { keeper.note(entry("a"), on: keeper.ownPage) }
    let overrun = BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["a"])
    keeper.note(overrun, on: keeper.transition)
    let page = keeper.endTransition(in: .background, at: .seconds(5))
    #expect(page?.entries.count == 10_000 && page?.overruns == [overrun])
    // Then it may go.
    #expect(keeper.ledger.pages.map(\.kind) == [.stay])
  }

  @Test func `says in a line what took how long, and which code is to blame`() {
    var page = LedgerPage(kind: .transition, cause: "home", from: .active, to: .background, began: .seconds(1))
    #expect(page.description == "home: active → background, under way; 0 calls")
    page.duration = .seconds(5)
    page.entries = [
      entry("quick"),
      LedgerEntry(
        .subscriber, EventBus.Subscriber(label: nil, fileID: "App/Store.swift", line: 12),
        step: "applicationDidEnterBackground",
        began: .zero, duration: .seconds(5), outcome: .overran),
    ]
    page.overruns = [
      BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["App/Store.swift:12"])
    ]
    #expect(
      page.description
        == "home: active → background, 5 s; 2 calls; applicationDidEnterBackground overran its 5 s: App/Store.swift:12; "
        + "longest: App/Store.swift:12 (subscriber, applicationDidEnterBackground) 5 s, overran")
    #expect(page.late.map(\.source) == ["App/Store.swift:12"])
    #expect(entry("quick").description == "quick (task, task) 1.500 s")
    let stay = LedgerPage(
      kind: .stay, cause: "home", from: .background, to: .notRunning, began: .zero, duration: .microseconds(12),
      entries: [entry("save", .neverEnded)])
    #expect(
      stay.description
        == "stay in the background, home, < 1 ms; 1 call; save never ended; "
        + "longest: save (task, task) 1.500 s, never ended")
  }

  @Test @MainActor func `is written by the application: a page for each transition that was one, and for each stay`()
    async
  {
    final class Bare: ApplicationDelegate {}
    let application = Application(delegate: Bare())
    _ = await application.handle(.launch)
    _ = await application.handle(.launch)
    let report = await application.handle(.home)
    #expect(application.ledger.pages.map(\.kind) == [.transition, .transition, .stay])
    #expect(application.ledger.pages.last?.duration == nil)
    #expect(report.entries.map(\.name) == ["applicationWillResignActive", "applicationDidEnterBackground"])
    _ = await application.handle(.open)
    let stay = application.ledger.pages.last { $0.kind == .stay }
    #expect(stay?.to == .inactive && stay?.duration != nil)
  }

  @Test @MainActor func `and a report says in the same line what a transition was`() async {
    final class Bare: ApplicationDelegate {}
    let clock = ManualClock()
    let application = Application(delegate: Bare(), bus: EventBus(clock: clock), clock: clock)
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
        + "longest: store (subscriber, applicationDidEnterBackground) 5 s, overran")
    #expect(application.ledger.pages.first { $0.cause == "home" }?.description == "\(report)")
    let queued = TransitionReport(outcome: .queued, cause: "open", from: .background, to: .background)
    #expect("\(queued)" == "open: queued")
  }
}
