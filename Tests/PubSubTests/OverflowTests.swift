import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) struct `Overflow` {
  /// What a bounded handler receives that is busy with event 0 while others come.
  private func received(
    _ buffering: EventBus.Buffering, posting body: @escaping @Sendable (EventBus, ManualClock) async throws -> Void
  ) async throws -> [EventBus.Received<Tick>] {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let (log, gate) = (Log<EventBus.Received<Tick>>(), Gate())
      let subscription = bus.receive(Tick.self, buffering: buffering) { tick in
        log.add(.event(tick))
        await gate.wait()
      } missed: { count in
        log.add(.missed(count))
        await gate.wait()
      }
      bus.post(Tick(number: 0))
      await clock.settle()
      try await body(bus, clock)
      gate.open()
      await clock.settle()
      bus.post(Tick(number: 100))
      await clock.settle()
      withExtendedLifetime(subscription) {}
      return log.all
    }
  }

  @Test func `Rule 14: a handler that drops the oldest is told of the loss where it happened`() async throws {
    let received = try await received(.bounded(3, dropping: .oldest)) { bus, _ in
      for number in 1...7 { bus.post(Tick(number: number)) }
    }
    #expect(received == events(0) + [.missed(4)] + events(5, 6, 7, 100))
  }

  @Test func `Rule 14: a handler that drops the newest is told of the loss where it happened`() async throws {
    let received = try await received(.bounded(3, dropping: .newest)) { bus, _ in
      for number in 1...7 { bus.post(Tick(number: number)) }
    }
    #expect(received == events(0, 1, 2, 3) + [.missed(4)] + events(100))
  }

  @Test func `Rule 14: an unbounded handler may ask to be told, and never is`() async throws {
    let received = try await received(.unbounded) { bus, _ in for number in 1...500 { bus.post(Tick(number: number)) } }
    #expect(received == (0...500).map { .event(Tick(number: $0)) } + events(100))
  }

  @Test func `Rule 14: what is waited for is never dropped, and losses stand on either side of it`() async throws {
    let oldest = try await received(.bounded(1, dropping: .oldest)) { bus, clock in await Self.mix(bus, clock) }
    #expect(oldest == events(0) + [.missed(1)] + events(2) + [.missed(1)] + events(4, 100))
    let newest = try await received(.bounded(1, dropping: .newest)) { bus, clock in await Self.mix(bus, clock) }
    #expect(newest == events(0, 1, 2) + [.missed(2)] + events(100))
  }

  /// Posts 1 to 4; a task waits for 2.
  private static func mix(_ bus: EventBus, _ clock: ManualClock) async {
    bus.post(Tick(number: 1))
    Task(executorPreference: clock.executor) { @Sendable in _ = await bus.postAndWait(Tick(number: 2)) }
    await clock.settle()
    bus.post(Tick(number: 3))
    bus.post(Tick(number: 4))
  }

  @Test(arguments: [0, -1, Int.min], [EventBus.Buffering.Dropping.oldest, .newest])
  func `Rule 14: a bound of zero or less holds nothing, and tells that all was missed`(
    limit: Int, dropping: EventBus.Buffering.Dropping
  ) async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let log = Log<EventBus.Received<Tick>>()
      let sequence = bus.events(Tick.self, buffering: .bounded(limit, dropping: dropping))
      let subscription = bus.receive(Tick.self, buffering: .bounded(limit, dropping: dropping)) { tick in
        log.add(.event(tick))
      } missed: { count in
        log.add(.missed(count))
      }
      for number in 1...3 { bus.post(Tick(number: number)) }
      await clock.settle()
      let report = await bus.postAndWait(Tick(number: 4))
      withExtendedLifetime(subscription) {}
      #expect(log.all == [.missed(3), .event(Tick(number: 4))], "what is waited for needs no room")
      #expect(report.deliveries.map(\.outcome.description) == ["delivered", "delivered"])
      var iterator = sequence.makeAsyncIterator()
      #expect(await iterator.next() == .missed(3))
      #expect(await iterator.next() == .event(Tick(number: 4)))
    }
  }

  @Test func `Rule 14: a bounded sequence tells of its losses in band`() async throws {
    let bus = EventBus()
    let oldest = bus.events(Tick.self, buffering: .bounded(2, dropping: .oldest))
    let newest = bus.events(Tick.self, buffering: .bounded(2, dropping: .newest))
    for number in 1...5 { bus.post(Tick(number: number)) }
    var iterator = oldest.makeAsyncIterator()
    #expect(await iterator.next() == .missed(3))
    #expect(await iterator.next() == .event(Tick(number: 4)))
    bus.post(Tick(number: 6))
    bus.post(Tick(number: 7))
    #expect(await iterator.next() == .missed(1), "the bound counts what the consumer has not taken")
    #expect(await iterator.next() == .event(Tick(number: 6)))
    iterator = newest.makeAsyncIterator()
    #expect(await iterator.next() == .event(Tick(number: 1)))
    #expect(await iterator.next() == .event(Tick(number: 2)))
    #expect(await iterator.next() == .missed(5))
  }

  @Test(arguments: [EventBus.Buffering.Dropping.oldest, .newest])
  func `Rule 14: a bounded sequence holds what a report says that it holds`(dropping: EventBus.Buffering.Dropping) async
  {
    var bus: EventBus? = EventBus()
    let sequence = bus?.events(Tick.self, buffering: .bounded(1, dropping: dropping))
    bus?.post(Tick(number: 1))
    let report = await bus?.postAndWait(Tick(number: 2))
    #expect(report?.deliveries.map(\.outcome.description) == ["delivered"])
    bus?.post(Tick(number: 3))
    bus?.post(Tick(number: 4))
    bus = nil
    var received: [EventBus.Received<Tick>] = []
    if let sequence { for await one in sequence { received.append(one) } }
    switch dropping {
    case .oldest: #expect(received == [.missed(1)] + events(2) + [.missed(1)] + events(4))
    case .newest: #expect(received == events(1, 2) + [.missed(2)])
    }
  }

  @Test func `Rule 14: what was waited for makes room when it is taken`() async throws {
    var bus: EventBus? = EventBus()
    let sequence = bus?.events(Tick.self, buffering: .bounded(1, dropping: .newest))
    await bus?.postAndWait(Tick(number: 1))
    var iterator = sequence?.makeAsyncIterator()
    #expect(await iterator?.next() == .event(Tick(number: 1)))
    bus?.post(Tick(number: 2))
    bus?.post(Tick(number: 3))
    bus = nil
    #expect(await iterator?.next() == .event(Tick(number: 2)))
    #expect(await iterator?.next() == .missed(1))
    #expect(await iterator?.next() == nil)
  }

  @Test func `Rule 14: a dropped event is released without the lock, as its end may call the bus`() {
    final class Talkative: Sendable {
      let bus: EventBus
      init(_ bus: EventBus) { self.bus = bus }
      deinit { bus.post(Tick()) }
    }
    struct Carrier: BusEvent { let talkative: Talkative }
    let bus = EventBus()
    let heard = Log<Tick>()
    let subscription = bus.subscribe(to: Tick.self) { heard.add($0) }
    let sequences = [EventBus.Buffering.Dropping.oldest, .newest].map {
      bus.events(Carrier.self, buffering: .bounded(1, dropping: $0))
    }
    for _ in 0..<3 { bus.post(Carrier(talkative: Talkative(bus))) }
    #expect(heard.all.count == 1, "each sequence holds one, and only the second event is held by none")
    withExtendedLifetime((subscription, sequences)) {}
  }
}

private func events(_ numbers: Int...) -> [EventBus.Received<Tick>] { numbers.map { .event(Tick(number: $0)) } }
