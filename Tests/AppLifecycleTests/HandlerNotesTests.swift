import PubSub
import Scheduling
import Testing

@testable import AppLifecycle

/// What the ledger has of the handlers of a notification, which it takes over in one piece.
@Suite @MainActor struct `The handlers of a notification in the ledger` {
  private final class Delegate: ApplicationDelegate {}
  private struct Failure: Error {}

  // Time stands still: no budget passes while other tests have the processors.
  private let application = Application(delegate: Delegate(), clock: StillClock())
  private var bus: EventBus { application.bus }

  /// The names of those that the latest transition has called.
  private var subscribers: [String] {
    let transition = application.ledger.transitions.last
    return transition?.entries.filter { $0.kind == .subscriber }.map(\.name) ?? []
  }

  @Test func `are there for a handler that reads it, up to the one before`() async {
    var seen: [[String]] = []
    let subscriptions = ["first", "second", "third"].map { name in
      bus.subscribe(to: Application.DidBecomeActive.self, label: name) { _ in seen.append(subscribers) }
    }
    await application.handle(.launch)
    #expect(seen == [[], ["first"], ["first", "second"]])
    #expect(subscribers == ["first", "second", "third"])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `stand in the order in which they ended, whatever else is noted between them`() async throws {
    // A clock that goes on, so that the times have an order.
    let application = Application(delegate: Delegate())
    let bus = application.bus
    var subscriptions = ["first", "second"].map { name in
      bus.subscribe(to: Application.DidBecomeActive.self, label: name) { _ in }
    }
    subscriptions.append(
      bus.subscribe(to: Application.DidBecomeActive.self, label: "fails") { _ in throw Failure() })
    subscriptions.append(
      bus.subscribe(to: Application.DidBecomeActive.self, label: "notes") { [application] _ in
        application.note(LedgerEntry(.task, "between", step: "task", began: .zero, duration: .zero))
      })
    subscriptions.append(bus.subscribe(to: Application.DidBecomeActive.self, label: "last") { _ in })
    let report = await application.handle(.launch)
    let names = report.entries.map(\.name).drop { $0 != "applicationDidBecomeActive" }
    #expect(names == ["applicationDidBecomeActive", "first", "second", "fails", "between", "notes", "last"])
    #expect(report.entries == application.ledger.transitions.last?.entries)
    let times = report.entries.filter { $0.kind == .subscriber }.map(\.began)
    #expect(times == times.sorted())
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `are told to an observer from the moment on at which a handler adds it`() async {
    var told: [String] = []
    var token: ObserverToken?
    let first = bus.subscribe(to: Application.DidBecomeActive.self, label: "first") { [application] _ in
      token = application.observe { event in
        if case .callEnded(let entry, _) = event, entry.kind == .subscriber { told.append(entry.name) }
      }
    }
    let second = bus.subscribe(to: Application.DidBecomeActive.self, label: "second") { _ in }
    await application.handle(.launch)
    #expect(told == ["first", "second"])
    #expect(subscribers == ["first", "second"])
    token?.cancel()
    withExtendedLifetime((first, second)) {}
  }

  /// Tear-down is posted in reverse: the lowest priority comes first.
  @Test func `of a priority that comes after a wait are there, too`() async {
    let first = bus.receive(Application.DidEnterBackground.self, priority: .low, label: "first") { _ async in
      await Task.yield()
    }
    let second = bus.subscribe(to: Application.DidEnterBackground.self, label: "second") { _ in }
    await application.handle(.launch)
    await application.handle(.home)
    #expect(subscribers.sorted() == ["first", "second"])
    withExtendedLifetime((first, second)) {}
  }

  @Test func `are the same as entries that were made at once`() {
    let site = bus.subscribe(to: Application.DidBecomeActive.self, label: "site") { _ in }
    let other = bus.subscribe(to: Application.DidBecomeActive.self, label: "other") { _ in }
    var entries = LedgerEntries()
    let sites = [site, site, other, site].map { Site($0.subscriber) }
    var times = HandlerTimes()
    // The first two are one site, as those of two subscriptions on one line.
    for (time, site) in [sites[0], sites[0], sites[2], sites[3]].enumerated() {
      times.append(.passUnretained(site), began: .seconds(time), ended: .seconds(time + 1))
    }
    let whole = sites.enumerated().map {
      LedgerEntry(
        .subscriber, $1.subscriber, step: "step", began: .seconds($0), duration: .seconds(1), outcome: .completed)
    }
    let task = LedgerEntry(.task, "task", step: "task", began: .zero, duration: .zero)
    entries.append(task)
    entries.append(times, step: "step")
    entries.append(task)
    #expect(entries.count == 6)
    #expect(entries.all == [task] + whole + [task])
    #expect(entries == LedgerEntries([task] + whole + [task]))
    #expect(entries.hashValue == LedgerEntries([task] + whole + [task]).hashValue)
    #expect(entries != LedgerEntries([task] + whole))
  }

  /// The clocks of the system are read past the standard library; what is read must be the same clock.
  @Test func `are measured by the clock that was given`() {
    func check<C: Clock>(_ clock: C) where C.Duration == Duration {
      let before = clock.now
      let handle = ClockHandle(clock)
      let after = clock.now
      for _ in 0..<100 {
        let from = clock.now
        let time = handle.now()
        let to = clock.now
        #expect(time >= after.duration(to: from))
        #expect(time <= before.duration(to: to))
      }
    }
    check(SuspendingClock())
    check(ContinuousClock())
  }
}
