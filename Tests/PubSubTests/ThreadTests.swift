import PubSub
import Testing

@Suite struct `Threads and actors` {
  let bus = EventBus()

  @Test func `Rule 8: an Event's synchronous handlers have run when the post returns, on the poster's thread`() async {
    let log = Log<Int>()
    let subscription = bus.subscribe(to: Tick.self) { tick in log.add(tick.number) }
    await withTaskGroup { group in
      for number in 0..<8 {
        group.addTask { [bus] in
          bus.post(Tick(number: number))
          #expect(log.all.contains(number))
        }
      }
    }
    withExtendedLifetime(subscription) {}
    #expect(log.all.sorted() == Array(0..<8))
  }

  @MainActor @Test func `Rule 9: a MainActorEvent's handlers run on the main actor, before the post returns`() {
    var numbers: [Int] = []
    let subscription = bus.subscribe(to: Shown.self) { numbers.append($0.number) }
    let wildcard = bus.subscribeToAll { _ in MainActor.assertIsolated() }
    bus.post(Shown(number: 3))
    #expect(numbers == [3])
    withExtendedLifetime((subscription, wildcard)) {}
  }

  @MainActor @Test func `Rule 10: asynchronous handlers run serially and never block the poster`() async {
    let (mayEnd, ended) = (Gate(), Gate())
    let log = Log<String>()
    let subscription = bus.receive(Shown.self) { (shown: Shown) async in
      log.add("begin \(shown.number)")
      await mayEnd.wait()
      log.add("end \(shown.number)")
      if shown.number == 2 { ended.open() }
    }
    bus.post(Shown(number: 1))
    bus.post(Shown(number: 2))
    mayEnd.open()
    await ended.wait()
    withExtendedLifetime(subscription) {}
    #expect(log.all == ["begin 1", "end 1", "begin 2", "end 2"])
  }

  @Test func `Rule 10: an actor's own handler runs on the actor`() async {
    actor Store {
      private(set) var numbers: [Int] = []
      private let complete: Gate
      init(_ bus: EventBus, _ complete: Gate) {
        self.complete = complete
        bus.receive(Tick.self, for: self) { store, tick in store.add(tick.number) }
      }
      private func add(_ number: Int) {
        numbers.append(number)
        if number == 3 { complete.open() }
      }
    }
    let complete = Gate()
    let store = Store(bus, complete)
    for number in 1...3 { bus.post(Tick(number: number)) }
    await complete.wait()
    #expect(await store.numbers == [1, 2, 3])
  }

  @Test func `Rule 18: a handler that throws stops no other handler, and is reported`() async {
    let log = Log<String>()
    let asynchronousFailed = Gate()
    let subscriptions = [
      bus.subscribe(to: EventBus.HandlerFailure.self) { failure in
        log.add("\(failure.subscriber) \(failure.eventName) \(failure.error)")
        if failure.subscriber.label == "async" { asynchronousFailed.open() }
      },
      bus.subscribe(to: EventBus.HandlerFailure.self) { (_: EventBus.HandlerFailure) throws -> Void in
        throw Failure(number: 2)
      },
      bus.subscribe(to: Tick.self, label: "sync") { (_: Tick) throws -> Void in throw Failure(number: 1) },
      bus.subscribe(to: Tick.self) { _ in log.add("next") },
      bus.receive(Tock.self, label: "async") { (_: Tock) async throws in throw Failure(number: 3) },
    ]
    bus.post(Tick())
    bus.post(Tock())
    await asynchronousFailed.wait()
    withExtendedLifetime(subscriptions) {}
    #expect(log.all == ["sync Tick Failure(number: 1)", "next", "async Tock Failure(number: 3)"])
  }
}
