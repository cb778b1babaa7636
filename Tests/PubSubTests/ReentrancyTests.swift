import Dispatch
import Foundation
import Scheduling
import TestTraits
import Testing

@testable import PubSub

@Suite struct `Inside a handler` {
  let bus = EventBus()
  let log = Log<String>()

  @Test func `Rule 4: a nested post is delivered at once, depth first`() {
    let subscriptions = [
      bus.subscribe(to: Tick.self) { [bus, log] tick in
        log.add("first \(tick.number)")
        if tick.number < 2 { bus.post(Tick(number: tick.number + 1)) }
      },
      bus.subscribe(to: Tick.self) { [log] tick in log.add("second \(tick.number)") },
    ]
    bus.post(Tick())
    withExtendedLifetime(subscriptions) {}
    #expect(log.all == ["first 0", "first 1", "first 2", "second 2", "second 1", "second 0"])
  }

  @Test func `Rule 5: a handler that subscribes during a post does not see that post, but the next`() {
    let added = Guarded<[EventBus.Subscription]>([])
    let subscription = bus.subscribe(to: Tick.self) { [bus, log] tick in
      log.add("old \(tick.number)")
      guard tick.number == 1 else { return }
      let new = bus.subscribe(to: Tick.self, priority: .low) { [log] tick in log.add("new \(tick.number)") }
      added.withLock { $0.append(new) }
    }
    bus.post(Tick(number: 1))
    bus.post(Tick(number: 2))
    withExtendedLifetime(subscription) {}
    #expect(log.all == ["old 1", "old 2", "new 2"])
  }

  @Test func `Rule 6: a cancelled subscriber gets neither the rest of the post nor a later one`() {
    let victim = Guarded<EventBus.Subscription?>(nil)
    let first = bus.subscribe(to: Tick.self, priority: .high) { [log] _ in
      log.add("first")
      victim.withLock { $0 }?.cancel()
    }
    victim.withLock { $0 = bus.subscribe(to: Tick.self) { [log] _ in log.add("victim") } }
    let last = bus.subscribe(to: Tick.self, priority: .low) { [log] _ in log.add("last") }
    bus.post(Tick())
    bus.post(Tick())
    withExtendedLifetime((first, last)) {}
    #expect(log.all == ["first", "last", "first", "last"])
  }

  @Test func `Rule 6: a handler may cancel itself`() {
    let own = Guarded<EventBus.Subscription?>(nil)
    own.withLock {
      $0 = bus.subscribe(to: Tick.self) { [log] _ in
        own.withLock { $0 }?.cancel()
        log.add("once")
      }
    }
    bus.post(Tick())
    bus.post(Tick())
    #expect(log.all == ["once"])
  }

  @Test func `Rule 6: cancelAndDrain returns only when no handler runs, and does not cancel the one that does`() async {
    let (begun, mayEnd) = (Gate(), Gate())
    let subscription = bus.receive(Tick.self) { [log] (_: Tick) async in
      begun.open()
      await mayEnd.wait()
      log.add(Task.isCancelled ? "cancelled" : "ended in peace")
    }
    bus.post(Tick())
    bus.post(Tick())
    await begun.wait()
    async let drained: Void = {
      await subscription.cancelAndDrain()
      log.add("drained")
    }()
    // Before that, the second event's turn may come.
    while !subscription.isCancelled { await Task.yield() }
    mayEnd.open()
    await drained
    #expect(log.all == ["ended in peace", "drained"], "the second event was dropped from the mailbox")
  }

  @MainActor @Test(.timeLimit(.hang))
  func `Rule 6: once cancelled on the main actor, no handler begins there, though its mailbox has let it go`() async {
    let owner = Thing()
    let subscriptions: [any Cancellable] = [
      bus.receive(Tick.self) { [log] _ in log.add("plain") },
      bus.receive(Tick.self, for: owner) { [log] _, _ in log.add("of an owner") }.registration,
      bus.receive(Shown.self) { [log] (_: Shown) async in log.add("main-actor event") },
      bus.receive(Shown.self, buffering: .bounded(1, dropping: .oldest)) { [log] _ in log.add("buffered") },
      bus.receive(Tick.self) { @MainActor [log] _ async in log.add("isolated") },
      bus.receive(Tick.self) { @MainActor [log] (_: Tick) async throws in log.add("isolated, throwing") },
      bus.receive(LevelDidChange.self, replay: .latest) { [log] _ in log.add("sticky, with replay") },
      bus.receive(Tick.self, buffering: .unbounded) { @MainActor [log] _ in log.add("isolated, buffered") },
      bus.receive(Tick.self, for: owner) { @MainActor [log] _, _ async in log.add("isolated, of an owner") }
        .registration,
      bus.receiveAll(named: Tick.name) { @MainActor [log] _ async in log.add("isolated, by name") },
      bus.receiveAll(priority: .low) { @MainActor [log] _ async in log.add("isolated, of everything") },
      bus.receive(Tick.self, onMainActor),
    ]
    let waiting = Task.detached { [bus] in
      await bus.postAndWait(Tick()).deliveries.map { "\($0.subscriber.line) \($0.outcome)" }
    }
    bus.post(Shown())
    bus.post(LevelDidChange(level: 1))
    // Nothing is called on the main actor as long as this keeps it.
    for registration in bus.core.withLock({ [core = bus.core] _ in core.registrations }) {
      while registration.mailbox?.runUnderWay == nil { sched_yield() }
    }
    for subscription in subscriptions { subscription.cancel() }
    for subscription in subscriptions { await subscription.drain() }
    #expect(log.all == [])
    // The one of the lowest priority has got the other event only.
    let awaited = [subscriptions[0...1], subscriptions[4...5], subscriptions[7...9], subscriptions[11...11]].joined()
    #expect(await waiting.value == awaited.map { "\($0.subscriber.line) cancelled" })
  }

  @MainActor private func onMainActor(_ tick: Tick) async { log.add("isolated, a method") }

  @MainActor @Test(.timeLimit(.hang))
  func `Rule 12: once its owner is released on the main actor, no handler begins there`() async {
    var owner: Thing? = Thing()
    weak let released = owner
    let subscriptions = owner.map { owner in
      [
        bus.receive(Tick.self, for: owner) { [log] _, _ in log.add("main actor") },
        bus.receive(Tick.self, for: owner) { @MainActor [log] _, _ async in log.add("isolated") },
        bus.receive(Shown.self, for: owner) { [log] (_, _: Shown) async in log.add("main-actor event") },
      ]
    }
    bus.post(Tick())
    bus.post(Shown())
    for subscription in subscriptions ?? [] {
      while subscription.registration.mailbox?.runUnderWay == nil { sched_yield() }
    }
    owner = nil
    #expect(released == nil, "a run that waits for the main actor does not hold it")
    for subscription in subscriptions ?? [] {
      while subscription.registration.mailbox?.runUnderWay != nil { await Task.yield() }
    }
    #expect(log.all == [])
    #expect(bus.subscriptions.isEmpty)
  }

  private actor Keeper {
    func keep(_ body: @Sendable () -> Void) { body() }
  }

  /// Waits on its thread, hence the trait.
  @Test(.longRunning, .timeLimit(.hang))
  func `Rule 6: once cancelled on an actor of its own, a handler does not begin there`() async {
    let keeper = Keeper()
    let subscription = bus.receive(Tick.self, for: keeper) { [log] _, _ in log.add("on the actor") }
    await keeper.keep { [bus] in
      bus.post(Tick())
      while subscription.registration.mailbox?.runUnderWay == nil { sched_yield() }
      subscription.cancel()
    }
    await subscription.cancelAndDrain()
    #expect(log.all == [])
  }

  @Test func `Rule 6: cancelAndDrain waits for a synchronous handler on another thread`() async {
    // The post blocks a thread of its own, not one of the few that run tasks.
    let begun = Gate()
    let mayEnd = DispatchSemaphore(value: 0)
    let subscription = bus.subscribe(to: Tick.self) { [log] _ in
      begun.open()
      mayEnd.wait()
      log.add("handler ended")
    }
    Thread.detachNewThread { [bus] in bus.post(Tick()) }
    await begun.wait()
    subscription.cancel()
    async let drained: Void = {
      await subscription.cancelAndDrain()
      log.add("drained")
    }()
    mayEnd.signal()
    await drained
    #expect(log.all == ["handler ended", "drained"])
  }

  @Test(.timeLimit(.hang))
  func `Rule 7: cancelAndDrain inside the own handler, or a task that it started, returns without waiting`() async {
    let own = Guarded<EventBus.Subscription?>(nil)
    let ended = Gate()
    own.withLock {
      $0 = bus.receive(Tick.self) { [log] (_: Tick) async in
        let subscription = own.withLock { $0 }
        await subscription?.cancelAndDrain()
        await Task { await subscription?.cancelAndDrain() }.value
        log.add("went on")
        ended.open()
      }
    }
    bus.post(Tick())
    await ended.wait()
    #expect(log.all == ["went on"])
  }

  @Test(.timeLimit(.hang))
  func `Rule 7: every synchronous call is allowed inside a handler`() {
    let kept = Guarded<[EventBus.Subscription]>([])
    let subscription = bus.subscribe(to: Tick.self) { [bus, log] tick in
      guard tick.number == 0 else { return }
      let one = bus.subscribe(to: Tock.self) { [log] _ in log.add("tock") }
      let all = bus.subscribeToAll { [log] event in log.add("all \(type(of: event).name)") }
      let sequence = bus.events(Tock.self)
      bus.post(Tock())
      one.cancel()
      bus.post(Tock())
      withExtendedLifetime(sequence) {}
      kept.withLock { $0 = [all] }
    }
    bus.post(Tick())
    withExtendedLifetime(subscription) {}
    #expect(log.all == ["tock", "all Tock", "all Tock"])
  }

  @Test(.timeLimit(.hang))
  func `Rule 7: a handler may release an object whose end cancels and posts`() {
    final class Talkative: Sendable {
      let bus: EventBus
      init(_ bus: EventBus) { self.bus = bus }
      deinit { bus.post(Tock(number: 7)) }
    }
    let heard = bus.subscribe(to: Tock.self) { [log] tock in log.add("tock \(tock.number)") }
    var doomed: EventBus.Subscription? = {
      let talkative = Talkative(bus)
      return bus.subscribe(to: Tick.self) { _ in withExtendedLifetime(talkative) {} }
    }()
    bus.post(Tick())
    #expect(log.all == [])
    doomed?.cancel()
    doomed = nil
    withExtendedLifetime(heard) {}
    #expect(log.all == ["tock 7"])
  }
}
