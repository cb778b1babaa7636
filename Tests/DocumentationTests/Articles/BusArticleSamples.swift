import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import Synchronization
import Testing

// The listings of the articles of PubSub, word for word.

struct Reading: BusEvent {
  let value: Int
}

struct WillFlush: BusEvent {}

@Suite struct `The articles of PubSub` {
  private struct PriceDidChange: BusEvent, StickyEvent {
    let price: Int
  }

  @MainActor final class PriceLabel {
    private(set) var text = ""

    init(bus: EventBus) {
      bus.subscribe(to: Application.WillResignActive.self, for: self) { label, _ in
        label.text = "hidden"
      }
      bus.receive(PriceDidChange.self, for: self, replay: .latest) { label, event in
        label.text = "\(event.price)"
      }
    }
  }

  @MainActor @Test func `a label subscribes with both words`() async throws {
    let system = SimulatedSystem()
    system.bus.post(PriceDidChange(price: 7))
    let label = PriceLabel(bus: system.bus)
    try await system.play("launch")
    #expect(label.text == "7")
    system.bus.post(PriceDidChange(price: 8))
    await system.clock.settle()
    #expect(label.text == "8")
    try await system.play("interrupt:call")
    #expect(label.text == "hidden")
  }

  @Test func `the bus keeps the latest event of a sticky type`() {
    let bus = EventBus()
    struct PriceDidChange: BusEvent, StickyEvent {
      let price: Int
    }

    bus.post(PriceDidChange(price: 7))
    #expect(bus.latest(of: PriceDidChange.self)?.price == 7)
  }

  @MainActor @Test func `code on the main actor awaits the next event`() async {
    let bus = EventBus()
    let post = Task { bus.post(PriceDidChange(price: 7)) }
    var prices = bus.events(PriceDidChange.self).makeAsyncIterator()
    let next = await prices.next()
    #expect(next?.price == 7)
    await post.value
  }

  @MainActor @Test func `a body that runs again and again iterates a sequence from outside`() async throws {
    let shown = Guarded<[Int]>([])
    func show(_ price: PriceDidChange) { shown.withLock { $0.append(price.price) } }
    final class AppDelegate: ApplicationDelegate {}
    let system = SimulatedSystem { AppDelegate() }
    let (bus, application) = (system.bus, system.application)
    try await system.play("launch")
    bus.post(PriceDidChange(price: 1))
    application.task {
      let prices = bus.events(PriceDidChange.self)
      await application.run(while: .active) {
        for await price in prices { show(price) }
      }
    }
    await system.clock.settle()
    bus.post(PriceDidChange(price: 2))
    try await system.play("home")
    #expect(shown.withLock { $0 } == [2])
  }

  private func log(_ readings: EventSequence<EventBus.Received<Reading>>) async -> [String] {
    var log: [String] = []
    for await received in readings {
      switch received {
      case .event(let reading): log.append("\(reading.value)")
      case .missed(let count): log.append("\(count) missed")
      }
    }
    return log
  }

  /// A sequence of a bus that posted five readings, and is gone.
  private func oldestDropped() -> EventSequence<EventBus.Received<Reading>> {
    let bus = EventBus()
    let readings = bus.events(Reading.self, buffering: .bounded(2, dropping: .oldest))
    for value in 1...5 { bus.post(Reading(value: value)) }
    return readings
  }

  private func newestDropped() -> EventSequence<EventBus.Received<Reading>> {
    let bus = EventBus()
    let readings = bus.events(Reading.self, buffering: .bounded(2, dropping: .newest))
    for value in 1...5 { bus.post(Reading(value: value)) }
    return readings
  }

  @Test func `a bounded sequence says what it lost`() async {
    #expect(await log(oldestDropped()) == ["3 missed", "4", "5"])
    #expect(await log(newestDropped()) == ["1", "2", "3 missed"])
  }

  @Test func `a bounded handler says what it lost`() async {
    let bus = EventBus()
    let counted = Mutex(0)
    @Sendable func store(_ reading: Reading) async { counted.withLock { $0 += 1 } }
    @Sendable func note(lost count: Int) async { counted.withLock { $0 += count } }
    let subscription = bus.receive(
      Reading.self, buffering: .bounded(1, dropping: .oldest)
    ) { reading in
      await store(reading)
    } missed: { count in
      await note(lost: count)
    }
    for value in 1...100 { bus.post(Reading(value: value)) }
    // The mailbox handles this event last.
    _ = await bus.postAndWait(Reading(value: 101))
    #expect(counted.withLock { $0 } == 101)
    subscription.cancel()
  }

  @Test @MainActor func `a report names what was slow and what failed`() async {
    let clock = ManualClock()
    let bus = EventBus()
    struct Full: Error, CustomStringConvertible { let description = "the disk is full" }
    let slow = bus.receive(WillFlush.self, label: "uploader") { _ in try await clock.sleep(for: .seconds(60)) }
    let failing = bus.subscribe(to: WillFlush.self, label: "cache") { _ in throw Full() }
    let log = await clock.running {
      var log: [String] = []
      let report = await bus.postAndWait(WillFlush(), within: .seconds(2), clock: clock)
      for straggler in report.stragglers {
        log.append("\(straggler.subscriber) \(straggler.outcome)")
      }
      for failure in report.failures {
        log.append("\(failure.subscriber) \(failure.outcome)")
      }
      return log
    }
    #expect(log == ["uploader timed out", "cache threw the disk is full"])
    withExtendedLifetime((slow, failing)) {}
  }

  @Test func `a drained handler no longer runs`() async {
    final class File: Sendable {
      let isClosed = Mutex(false)
      func close() { isClosed.withLock { $0 = true } }
    }
    let bus = EventBus()
    let file = File()
    let wasClosed = Mutex(false)
    let subscription = bus.receive(WillFlush.self) { _ in
      await Task.yield()
      if file.isClosed.withLock({ $0 }) { wasClosed.withLock { $0 = true } }
    }
    bus.post(WillFlush())
    await subscription.cancelAndDrain()
    file.close()
    #expect(!wasClosed.withLock { $0 })
  }

  private func high(on bus: EventBus) -> some AsyncSequence<Int, Never> {
    let high = bus.events(PriceDidChange.self).map(\.price).filter { $0 > 100 }
    return high
  }

  @Test func `a sequence goes through operators`() async {
    var bus: EventBus? = EventBus()
    let prices = high(on: bus!)
    for price in [99, 101, 50, 120] { bus!.post(PriceDidChange(price: price)) }
    bus = nil
    var seen: [Int] = []
    for await price in prices { seen.append(price) }
    #expect(seen == [101, 120])
  }
}
