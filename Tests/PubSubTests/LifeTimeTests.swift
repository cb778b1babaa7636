import AppLifecycleTesting
@testable import PubSub
import Scheduling
import TestTraits
import Testing

/// What ends a subscription: its token, its owner, or its first event; with a handler that is called at once or later.
@Suite(.timeLimit(.hang)) struct `Life times` {
  let log = Log<String>()

  @Test func `Rule 12: once, called at once: a type, a name, everything; a token or an owner`() {
    let (bus, owner) = (EventBus(), Thing())
    let tokens = [
      bus.subscribe(to: Tick.self, once: true) { [log] in log.add("typed \($0.number)") },
      bus.subscribeToAll(named: Tick.name, once: true) { [log] in log.add("named \(($0 as? Tick)?.number ?? -1)") },
      bus.subscribeToAll(once: true) { [log] in log.add("all \(($0 as? Tick)?.number ?? -1)") },
    ]
    bus.subscribe(to: Tick.self, for: owner, once: true) { [log] _, tick in log.add("owner \(tick.number)") }
    bus.subscribeToAll(named: Tick.name, for: owner, once: true) { [log] _, _ in log.add("owner, named") }
    bus.subscribeToAll(for: owner, once: true) { [log] _, _ in
      log.add("owner, all")
      bus.post(Tick(number: 2))
    }
    bus.post(Tick(number: 1))
    bus.post(Tick(number: 3))
    #expect(log.all == ["typed 1", "named 1", "all 1", "owner 1", "owner, named", "owner, all"])
    #expect(bus.subscriptions.isEmpty && tokens.allSatisfy(\.isCancelled))
  }

  @Test func `Rule 12: once, called later: a type, a name, everything; a token or an owner`() async throws {
    try await withSimulation { [log] clock in
      let (bus, owner) = (EventBus(clock: clock), Thing())
      let tokens = [
        bus.receive(Tick.self, once: true) { log.add("typed \($0.number)") },
        bus.receiveAll(named: Tick.name, once: true) { log.add("named \(($0 as? Tick)?.number ?? -1)") },
        bus.receiveAll(once: true) { log.add("all \(($0 as? Tick)?.number ?? -1)") },
      ]
      bus.receive(Tick.self, for: owner, once: true) { _, tick in log.add("owner \(tick.number)") }
      bus.receiveAll(named: Tick.name, for: owner, once: true) { _, _ in log.add("owner, named") }
      bus.receiveAll(for: owner, once: true) { _, _ in log.add("owner, all") }
      bus.post(Tick(number: 1))
      bus.post(Tick(number: 2))
      await clock.settle()
      bus.post(Tick(number: 3))
      await clock.settle()
      #expect(log.all.sorted() == ["all 1", "named 1", "owner 1", "owner, all", "owner, named", "typed 1"])
      #expect(bus.subscriptions.isEmpty && tokens.allSatisfy(\.isCancelled))
    }
  }

  @Test func `Rule 12: a token that is released before its one event comes cancels`() async throws {
    try await withSimulation { [log] clock in
      let bus = EventBus(clock: clock)
      _ = bus.receive(Tick.self, once: true) { _ in log.add("released before the post") }
      let held = bus.receive(Tick.self, once: true) { _ in log.add("cancelled before the run") }
      bus.post(Tick())
      held.cancel()
      await clock.settle()
      #expect(log.all.isEmpty)
    }
  }

  @Test func `Rule 12: an event that its post takes back is not the one`() async {
    let executor = HeldExecutor()
    let bus = EventBus(taskExecutor: executor)
    let once = bus.receive(Tick.self, once: true) { [log] in log.add("\($0.number)") }
    // The mailbox holds it, and its run does not begin.
    let report = await bus.postAndWait(Tick(number: 1), within: .milliseconds(50))
    #expect(report.stragglers.count == 1)
    bus.post(Tick(number: 2))
    bus.post(Tick(number: 3))
    executor.runAll()
    await once.cancelAndDrain()
    #expect(log.all == ["2"])
  }

  @Test func `Rules 12 and 16: a post that comes while the one event is handled is not received`() async throws {
    try await withSimulation { [log] clock in
      let bus = EventBus(clock: clock)
      let gate = Gate()
      let undelivered = bus.subscribe(to: EventBus.Undelivered.self) {
        log.add("undelivered \(($0.event as? Tick)?.number ?? 0)")
      }
      let once = bus.receive(Tick.self, once: true) { _ in
        let inside = await bus.postAndWait(Tick(number: 2))
        log.add("inside \(inside.deliveries.count)")
        await gate.wait()
      }
      bus.post(Tick(number: 1))
      await clock.settle()
      let report = await bus.postAndWait(Tick(number: 3))
      #expect(report.deliveries.isEmpty)
      bus.post(Tick(number: 4))
      gate.open()
      await clock.settle()
      withExtendedLifetime((once, undelivered)) {}
      #expect(log.all == ["undelivered 2", "inside 0", "undelivered 3", "undelivered 4"])
    }
  }

  @Test func `Rule 12: when the wait for the one event is over, so is the subscription`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let once = [
        bus.receive(Tick.self, once: true) { _ in }, bus.receive(Tick.self, once: true) { _ in throw Failure() },
      ]
      let report = await bus.postAndWait(Tick())
      #expect(report.deliveries.map(\.outcome.description) == ["delivered", "threw Failure(number: 0)"])
      #expect(once.allSatisfy(\.isCancelled) && bus.subscriptions.isEmpty)
    }
  }

  @Test func `Rule 14: once, with a bound that holds nothing, waits for an event that is waited for`() async throws {
    try await withSimulation { [log] clock in
      let bus = EventBus(clock: clock)
      let once = bus.receive(Tick.self, buffering: .bounded(0, dropping: .newest), once: true) { tick in
        log.add("\(tick.number)")
      } missed: { count in
        log.add("missed \(count)")
      }
      bus.post(Tick(number: 1))
      bus.post(Tick(number: 2))
      await clock.settle()
      await bus.postAndWait(Tick(number: 3))
      await bus.postAndWait(Tick(number: 4))
      withExtendedLifetime(once) {}
      #expect(log.all == ["missed 2", "3"])
    }
  }

  @Test func `Rule 15: once, with replay: the replayed event is the one`() async throws {
    try await withSimulation { [log] clock in
      let bus = EventBus(clock: clock)
      bus.post(LevelDidChange(level: 1))
      let once = bus.receive(LevelDidChange.self, replay: .latest, once: true) { log.add("\($0.level)") }
      bus.post(LevelDidChange(level: 2))
      await clock.settle()
      bus.post(LevelDidChange(level: 3))
      await clock.settle()
      withExtendedLifetime(once) {}
      #expect(log.all == ["1"])
      #expect(bus.subscriptions.isEmpty)
    }
  }

  @MainActor @Test func `Rule 15: a main-actor handler is called with the latest event before subscribe returns`() {
    let (bus, owner) = (EventBus(), Thing())
    bus.post(ModeDidChange(mode: "a"))
    let failures = bus.subscribe(to: EventBus.HandlerFailure.self) { [log] in
      log.add("\($0.subscriber) failed with \(($0.event as? ModeDidChange)?.mode ?? "nothing")")
    }
    let token = bus.subscribe(to: ModeDidChange.self, replay: .latest) { [log] event in
      log.add("token \(event.mode)")
    }
    bus.subscribe(to: ModeDidChange.self, for: owner, replay: .latest, once: true) { [log] _, event in
      log.add("owner \(event.mode)")
    }
    let throwing = bus.subscribe(to: ModeDidChange.self, replay: .latest, label: "bad") { _ in throw Failure() }
    #expect(log.all == ["token a", "owner a", "bad failed with a"])
    bus.post(ModeDidChange(mode: "b"))
    #expect(log.all.dropFirst(3) == ["token b", "bad failed with b"])
    withExtendedLifetime((failures, token, throwing, owner)) {}
  }

  @MainActor @Test func `Rule 20: a replayed event has no subject, also inside a handler of another post`() {
    let (bus, owner, subject) = (EventBus(), Thing(), Thing())
    bus.post(ModeDidChange(mode: "a"))
    let outer = bus.subscribe(to: Shown.self) { [log] _ in
      bus.subscribe(to: ModeDidChange.self, for: owner, replay: .latest) { [log] _, _ in
        log.add("replayed \(EventBus.subjectOfPost == nil)")
      }
      log.add("outer \(EventBus.subjectOfPost === subject)")
    }
    bus.post(Shown(), from: subject)
    withExtendedLifetime((outer, owner)) {}
    #expect(log.all == ["replayed true", "outer true"])
  }

  @Test func `Rule 12: an owner of a subscription to everything that is gone is not called, and it ends`() async throws
  {
    try await withSimulation { [log] clock in
      let bus = EventBus(clock: clock)
      var owner: Thing? = Thing()
      weak var captured: Thing?
      if let owner {
        let thing = Thing()
        captured = thing
        bus.subscribeToAll(for: owner) { _, _ in withExtendedLifetime(thing) { log.add("at once") } }
        bus.receiveAll(for: owner) { _, _ in withExtendedLifetime(thing) { log.add("later") } }
      }
      bus.post(Tick())
      await clock.settle()
      #expect(log.all == ["at once", "later"])
      owner = nil
      bus.post(Tick())
      bus.post(Tock())
      await clock.settle()
      #expect(log.all == ["at once", "later"])
      #expect(captured == nil)
    }
  }

  @Test func `a bus tells whether a post would reach a subscriber`() {
    let bus = EventBus()
    #expect(!bus.hasSubscribers(Tick.self))
    let subscription = bus.subscribe(to: Tick.self, from: Thing()) { _ in }
    #expect(!bus.hasSubscribers(Tock.self))
    let everything = bus.subscribeToAll { _ in }
    #expect(bus.hasSubscribers(Tick.self) && bus.hasSubscribers(Tock.self))
    withExtendedLifetime((subscription, everything)) {}
  }

  @Test func `Rule 13: an iterator tells its end from a time without events`() {
    var bus: EventBus? = EventBus()
    var ticks = bus!.events(Tick.self).makeAsyncIterator()
    #expect(ticks.nextIfHeld() == nil && !ticks.isAtEnd)
    bus?.post(Tick(number: 1))
    bus = nil
    #expect(!ticks.isAtEnd)
    #expect(ticks.nextIfHeld() == Tick(number: 1))
    #expect(ticks.nextIfHeld() == nil && ticks.isAtEnd)
  }

  /// The owner of what it receives.
  private actor Counter {
    private(set) var (handled, lost) = (0, 0)

    init(_ bus: EventBus) {
      bus.receive(Tick.self, for: self, buffering: .bounded(1, dropping: .oldest)) { counter, _ in
        counter.handled += 1
      } missed: { counter, count in
        counter.lost += count
      }
      bus.receive(Tock.self, for: self, once: true) { counter, _ in counter.handled += 100 }
    }
  }

  @Test func `Rules 10 and 14: an actor is told of its losses where its events are handled`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let counter = Counter(bus)
      for number in 1...3 { bus.post(Tick(number: number)) }
      for _ in 1...2 { bus.post(Tock()) }
      await clock.settle()
      bus.post(Tock())
      await clock.settle()
      #expect(await (counter.handled, counter.lost) == (101, 2))
    }
  }

  @MainActor private final class View {
    private(set) var lines: [String] = []

    init(_ bus: EventBus) {
      bus.receive(Tick.self, for: self, buffering: .bounded(1, dropping: .newest)) { view, tick in
        view.lines.append("\(tick.number)")
      } missed: { view, count in
        view.lines.append("missed \(count)")
      }
    }
  }

  @Test func `Rules 10 and 14: what is written in main-actor code runs there, its losses, too`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let view = await View(bus)
      for number in 1...3 { bus.post(Tick(number: number)) }
      await clock.settle()
      #expect(await view.lines == ["1", "missed 2"])
    }
  }

  @Test func `Rule 18: a handler that is cancelled with its poster has not failed`() async {
    let bus = EventBus()
    let failures = bus.subscribe(to: EventBus.HandlerFailure.self) { [log] in log.add("\($0.error)") }
    let checking = bus.subscribe(to: Tick.self) { _ in try Task.checkCancellation() }
    let subscribed = bus.subscribe(to: Tock.self) { _ in throw CancellationError() }
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      bus.post(Tick())
    }.value
    #expect(log.all.isEmpty)
    bus.post(Tock())
    #expect(log.all == ["CancellationError()"])
    withExtendedLifetime((failures, checking, subscribed)) {}
  }

  @Test func `Rules 14 and 18: an owner is told of its losses, and an error there is a failure`() async throws {
    try await withSimulation { [log] clock in
      let (bus, owner) = (EventBus(clock: clock), Thing())
      let failures = bus.subscribe(to: EventBus.HandlerFailure.self) { log.add("\($0.eventName) \($0.event == nil)") }
      bus.receive(Tick.self, for: owner, buffering: .bounded(1, dropping: .oldest)) { _, tick in
        log.add("\(tick.number)")
      } missed: { _, count in
        log.add("missed \(count)")
        throw Failure()
      }
      bus.receiveAll(for: owner, buffering: .bounded(1, dropping: .oldest)) { _, _ in
      } missed: { _, _ in
        throw Failure()
      }
      for number in 1...3 { bus.post(Tick(number: number)) }
      await clock.settle()
      withExtendedLifetime((failures, owner)) {}
      #expect(log.all.filter { !$0.contains("true") } == ["missed 2", "3"])
      // A lost failure is not reported again, so the reports end.
      #expect(Set(log.all.filter { $0.contains("true") }) == ["Tick true", "missed true"])
    }
  }
}
