import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) struct `Waiting inside handlers` {
  @Test func `Rule 7: a post never waits for the handler that makes it, which gets the event later`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let log = Log<String>()
      let subscription = bus.receiveAll(label: "own") { (event: any EventBus.Event) async in
        log.add("\(type(of: event).name)")
        guard event is Tick else { return }
        let report = await bus.postAndWait(Tock())
        log.add(report.lines.joined())
      }
      bus.post(Tick())
      await clock.settle()
      withExtendedLifetime(subscription) {}
      #expect(log.all == ["Tick", "own skipped after 0.0 seconds", "Tock"])
      #expect(clock.sleepers == 0)
    }
  }

  @Test func `Rule 7: nor for one along the chain of waits that led to it`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let log = Log<String>()
      let subscriptions = [
        bus.receiveAll(label: "first") { (event: any EventBus.Event) async in
          log.add("first gets \(type(of: event).name)")
          if event is Tick { log.add("Tock: \(await bus.postAndWait(Tock()).lines)") }
        },
        bus.receive(Tock.self, label: "second") { (_: Tock) async in
          log.add("TearDown: \(await bus.postAndWait(TearDown()).lines)")
        },
        bus.receive(TearDown.self, label: "third") { (_: TearDown) async in
          log.add("LevelDidChange: \(await bus.postAndWait(LevelDidChange(level: 1)).lines)")
        },
      ]
      let report = await bus.postAndWait(Tick())
      await clock.settle()
      withExtendedLifetime(subscriptions) {}
      #expect(report.lines == ["first delivered after 0.0 seconds"])
      #expect(
        log.all == [
          "first gets Tick",
          #"LevelDidChange: ["first skipped after 0.0 seconds"]"#,
          #"TearDown: ["third delivered after 0.0 seconds", "first skipped after 0.0 seconds"]"#,
          #"Tock: ["first skipped after 0.0 seconds", "second delivered after 0.0 seconds"]"#,
          "first gets Tock", "first gets TearDown", "first gets LevelDidChange",
        ])
    }
  }

  @Test func `Rule 7: two handlers that would wait for each other do not: the second is told so at once`() async throws
  {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let log = Log<String>()
      let gate = Gate()
      // Two that each handle one event by posting what the other gets.
      let subscriptions = [
        bus.receiveAll(named: "Tick", label: "one") { (event: any EventBus.Event) async in
          guard let tick = event as? Tick, tick.number == 0 else { return log.add("one gets the other's") }
          await gate.wait()
          log.add("one: \(await bus.postAndWait(Tock(number: 1)).lines)")
        },
        bus.receiveAll(named: "Tock", label: "two") { (event: any EventBus.Event) async in
          guard let tock = event as? Tock, tock.number == 0 else { return log.add("two gets the other's") }
          await gate.wait()
          log.add("two: \(await bus.postAndWait(Tick(number: 1)).lines)")
        },
      ]
      bus.post(Tick())
      bus.post(Tock())
      await clock.settle()
      gate.open()
      await clock.settle()
      withExtendedLifetime(subscriptions) {}
      #expect(
        log.all == [
          #"two: ["one skipped after 0.0 seconds"]"#, "two gets the other's",
          #"one: ["two delivered after 0.0 seconds"]"#, "one gets the other's",
        ])
      #expect(clock.now.offset == .zero)
      #expect(clock.sleepers == 0)
    }
  }

  @Test func `Rule 7: two that drain each other end at once, and are named`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let log = Log<String>()
      let others = Guarded<[String: EventBus.Subscription]>([:])
      let gate = Gate()
      @Sendable func handle(_ name: String, draining other: String) async {
        await gate.wait()
        let subscription = others.withLock { $0[other] }
        await subscription?.cancelAndDrain()
        log.add("\(name) ends")
      }
      let one = bus.receive(Tick.self, label: "one") { (_: Tick) async in await handle("one", draining: "two") }
      let two = bus.receive(Tick.self, label: "two") { (_: Tick) async in await handle("two", draining: "one") }
      let failures = bus.subscribe(to: EventBus.HandlerFailure.self) {
        log.add("\($0.subscriber) \($0.eventName): \($0.error)")
      }
      others.withLock { $0 = ["one": one, "two": two] }
      bus.post(Tick())
      await clock.settle()
      gate.open()
      await clock.settle()
      withExtendedLifetime(failures) {}
      #expect(log.all == ["two Tick: gave up waiting for the handler of one", "two ends", "one ends"])
      #expect(clock.now.offset == .zero)
      #expect(clock.sleepers == 0)
    }
  }

  @Test(arguments: [false, true])
  func `Rule 7: draining a handler that waits, along the chain, for the own end or a later event is no failure`(
    isLater: Bool
  ) async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let (log, gate) = (Log<String>(), Gate())
      let first = Guarded<EventBus.Subscription?>(nil)
      let subscriptions = [
        bus.receive(Tick.self) { (_: Tick) async in
          await bus.postAndWait(Tock())
          log.add("first ends")
        },
        bus.receive(Tock.self) { (_: Tock) async in
          await gate.wait()
          let subscription = first.withLock { $0 }
          await subscription?.cancelAndDrain()
          log.add("second ends")
        },
        bus.subscribe(to: EventBus.HandlerFailure.self) { log.add("\($0.error)") },
      ]
      first.withLock { $0 = subscriptions[0] }
      if isLater { bus.post(Tock()) }
      bus.post(Tick())
      await clock.settle()
      gate.open()
      await clock.settle()
      withExtendedLifetime(subscriptions) {}
      #expect(log.all == (isLater ? ["second ends"] : []) + ["second ends", "first ends"])
      #expect(clock.now.offset == .zero)
    }
  }

  @Test
  func `Rule 7: every other wait inside a handler ends after 30 seconds, and names the handlers that it waited for`()
    async throws
  {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let (log, never) = (Log<String>(), Gate())
      let deaf = bus.receive(Tock.self, label: "deaf") { (_: Tock) async in await never.wait() }
      let subscriptions = [
        bus.receive(Tick.self, label: "waiting") { (_: Tick) async in
          log.add("\(await bus.postAndWait(Tock()).lines) at \(clock.now.offset)")
          await deaf.cancelAndDrain()
          log.add("drained at \(clock.now.offset)")
        },
        bus.subscribe(to: EventBus.HandlerFailure.self) { log.add("\($0.subscriber) \($0.eventName): \($0.error)") },
      ]
      bus.post(Tick())
      try await clock.run()
      withExtendedLifetime(subscriptions) {}
      #expect(
        log.all == [
          #"["deaf timed out after 30.0 seconds"] at 30.0 seconds"#,
          "waiting Tick: gave up waiting for the handler of deaf", "drained at 60.0 seconds",
        ])
      never.open()
      await clock.settle()
    }
  }

  @Test func `Rule 7: a drain inside a handler ends after 30 seconds, also when the bus is gone`() async throws {
    try await withSimulation { clock in
      var bus: EventBus? = EventBus(clock: clock)
      let (log, never, go) = (Log<String>(), Gate(), Gate())
      let deaf = bus?.receive(Tock.self) { (_: Tock) async in await never.wait() }
      let draining = bus?.receive(Tick.self) { (_: Tick) async in
        await go.wait()
        await deaf?.cancelAndDrain()
        log.add("drained at \(clock.now.offset)")
      }
      bus?.post(Tock())
      bus?.post(Tick())
      await clock.settle()
      weak let gone = bus
      bus = nil
      #expect(gone == nil)
      go.open()
      try await clock.run()
      #expect(log.all == ["drained at 30.0 seconds"])
      never.open()
      await clock.settle()
      withExtendedLifetime(draining) {}
    }
  }

  @Test func `Rule 7: a budget that is given holds inside a handler, too`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let (log, never) = (Log<String>(), Gate())
      let subscriptions = [
        bus.receive(Tock.self, label: "deaf") { (_: Tock) async in await never.wait() },
        bus.receive(Tick.self) { (_: Tick) async in
          log.add("\(await bus.postAndWait(Tock(), within: .seconds(90)).lines)")
        },
      ]
      bus.post(Tick())
      try await clock.run()
      withExtendedLifetime(subscriptions) {}
      #expect(log.all == [#"["deaf timed out after 90.0 seconds"]"#])
      never.open()
      await clock.settle()
    }
  }

  @Test func `Rule 7: a task that outlived its handler waits like any other`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let (log, gate, go) = (Log<String>(), Gate(), Gate())
      let own = Guarded<EventBus.Subscription?>(nil)
      let outlived = Guarded<Task<Void, Never>?>(nil)
      let subscription = bus.receive(Tick.self) { (tick: Tick) async in
        guard tick.number == 1 else {
          await gate.wait()
          return log.add("second run ends")
        }
        let task = Task(executorPreference: clock.executor) { @Sendable in
          await go.wait()
          let subscription = own.withLock { $0 }
          await subscription?.cancelAndDrain()
          log.add("drained")
        }
        outlived.withLock { $0 = task }
      }
      own.withLock { $0 = subscription }
      bus.post(Tick(number: 1))
      bus.post(Tick(number: 2))
      await clock.settle()
      go.open()
      await clock.settle()
      #expect(log.all.isEmpty)
      gate.open()
      await outlived.withLock { $0 }?.value
      #expect(log.all == ["second run ends", "drained"])
    }
  }
}
