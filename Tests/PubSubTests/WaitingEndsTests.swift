import AppLifecycleTesting
@testable import PubSub
import TestTraits
import Testing

/// A clock that stands still, and cannot sleep.
private struct SleeplessClock: Clock {
  let now = ContinuousClock.now
  var minimumResolution: Duration { .zero }
  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws { throw Failure() }
}

/// What a wait leaves behind, and how it ends where it cannot go on.
@Suite(.timeLimit(.hang)) struct `The end of a wait` {
  @Test func `Rule 17: on a clock that cannot sleep the deadline passes at once`() async {
    let bus = EventBus()
    let end = Gate()
    let subscriptions = [
      bus.receive(Tick.self, label: "deaf") { (_: Tick) async in await end.wait() },
      bus.subscribe(to: Tick.self, priority: .low, label: "next") { _ in },
    ]
    let report = await bus.postAndWait(Tick(), within: .seconds(5), clock: SleeplessClock())
    #expect(report.lines == ["deaf timed out after 0.0 seconds", "next timed out after 0.0 seconds"])
    end.open()
    for subscription in subscriptions { await subscription.cancelAndDrain() }
  }

  @Test
  func
    `Rule 18: a handler that was cancelled before it could begin is not reported as one that has received the event`()
    async
  {
    for _ in 0..<3_000 {
      let (bus, hasRun) = (EventBus(), Log<Int>())
      let subscription = bus.receive(Tick.self) { hasRun.add($0.number) }
      async let cancelled: Void = Task.detached { subscription.cancel() }.value
      let outcomes = await bus.postAndWait(Tick(number: 1)).deliveries.map(\.outcome)
      await cancelled
      #expect(outcomes.contains { if case .delivered = $0 { true } else { false } } == !hasRun.all.isEmpty)
    }
    // Few of the rounds come between the task's choice of a step and its look at the handler. It then finds this one.
    await #expect(throws: HandlerRun.NotCalled.self) { try await Mailbox<Tick>.Handler.cancelled.call(Tick()) }
  }

  @Test func `Rule 6: a post that waits for one handler keeps nothing of another, which has ended`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let gate = Gate()
      let slow = bus.receive(Tick.self) { (_: Tick) async in await gate.wait() }
      var thing: Thing? = Thing()
      weak let captured = thing
      let quick = bus.receive(Tick.self) { [thing] (_: Tick) async in withExtendedLifetime(thing) {} }
      thing = nil
      async let report = bus.postAndWait(Tick())
      await clock.settle()
      #expect(captured != nil)
      quick.cancel()
      #expect(captured == nil)
      gate.open()
      #expect(await report.deliveries.count == 2)
      withExtendedLifetime(slow) {}
    }
  }

  @Test func `Rule 6: nor does a task that a handler has started, and that outlives it`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let gate = Gate()
      var thing: Thing? = Thing()
      weak let captured = thing
      let subscription = bus.receive(Tick.self) { [thing] (_: Tick) async in
        withExtendedLifetime(thing) {}
        Task(executorPreference: clock.executor) { @Sendable in await gate.wait() }
      }
      thing = nil
      await bus.postAndWait(Tick())
      #expect(captured != nil)
      subscription.cancel()
      await clock.settle()
      #expect(captured == nil)
      gate.open()
      await clock.settle()
    }
  }

  @Test func `Rule 21: the report of a post that is refused says so`() async {
    let bus = EventBus(nestingLimit: 1)
    let reports = Log<DeliveryReport>()
    let subscriptions = [
      bus.subscribe(to: Tock.self) { _ in },
      bus.subscribe(to: Tick.self) { _ in
        Task.immediate { reports.add(await bus.postAndWait(Tock())) }
      },
    ]
    bus.post(Tick())
    reports.add(await bus.postAndWait(Tock()))
    withExtendedLifetime(subscriptions) {}
    #expect(reports.all.map(\.isRefused) == [true, false])
    #expect(reports.all.map(\.deliveries.count) == [0, 1])
  }
}
