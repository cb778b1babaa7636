import Scheduling
import Testing

@testable import PubSub

/// Subscriptions that are a closure and no more: nothing is kept of them but where they stand and where they were made.
@Suite struct `Plain subscriptions` {
  let bus = EventBus()
  let log = Log<String>()

  private func subscribe(_ name: String, line: Int = #line) -> EventBus.Subscription {
    bus.subscribe(to: Tick.self, line: line) { [log] _ in log.add(name) }
  }

  @Test func `name the subscriber, also once they are cancelled and the bus is gone`() {
    var bus: EventBus? = EventBus()
    let subscription = bus!.subscribe(to: Tick.self, fileID: "Here/There.swift", line: 12) { _ in }
    #expect(subscription.site != nil, "only a plain one keeps its site itself")
    #expect(subscription.subscriber == EventBus.Subscriber(label: nil, fileID: "Here/There.swift", line: 12))
    subscription.cancel()
    bus = nil
    #expect(bus == nil)
    #expect(subscription.subscriber.description == "Here/There.swift:12")
  }

  @Test func `tell lines apart, also those that share a place among the latest`() {
    let lines = [1, 65, 129, 1, 65, 2, 1]
    let subscriptions = lines.flatMap { line in
      ["A.swift", "B.swift"].map { file in bus.subscribe(to: Tick.self, fileID: file, line: line) { _ in } }
    }
    let expected = lines.flatMap { ["A.swift:\($0)", "B.swift:\($0)"] }
    #expect(subscriptions.map(\.subscriber.description) == expected)
    #expect(bus.subscriptions.map(\.subscriber.description) == expected)
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `share what is kept of a line, however many lines there are`() {
    let subscriptions = (1...70_000).map { subscribe("many", line: $0) }
    #expect(subscriptions.map(\.subscriber.line) == Array(1...70_000))
    #expect(subscribe("more", line: 7).subscriber == subscriptions[6].subscriber)
  }

  @Test func `Rule 5: the only one may be cancelled and replaced inside itself, again and again`() {
    let own = Guarded<EventBus.Subscription?>(nil)
    let generation = Guarded(0)
    @Sendable func replace() {
      own.withLock { $0 }?.cancel()
      let number = generation.withLock { number in
        number += 1
        return number
      }
      let new = bus.subscribe(to: Tick.self) { [log] _ in
        log.add("\(number)")
        for _ in 0..<3 { replace() }
      }
      own.withLock { $0 = new }
    }
    replace()
    for _ in 0..<20 { bus.post(Tick()) }
    #expect(log.all == (0..<20).map { "\($0 * 3 + 1)" })
    #expect(bus.subscriptions.count == 1)
    own.withLock { $0.take() }?.cancel()  // its handler captures `own`
    #expect(bus.subscriptions.isEmpty)
  }

  @Test func `Rule 6: what the only one captured is released at once, whether its place is used again or not`() {
    for _ in 0..<10 {
      weak var captured: Thing?
      var subscription: EventBus.Subscription? = {
        let thing = Thing()
        captured = thing
        return bus.subscribe(to: Tick.self) { _ in withExtendedLifetime(thing) {} }
      }()
      bus.post(Tick())
      #expect(captured != nil && subscription != nil)
      subscription = nil
      #expect(captured == nil)
    }
  }

  @Test func `Rule 6: of those left when a bus goes, everything captured is released`() {
    weak var captured: Thing?
    var bus: EventBus? = EventBus()
    var subscriptions: [EventBus.Subscription] = []
    do {
      let thing = Thing()
      captured = thing
      for number in 0..<1_000 {
        let priority: EventBus.Priority = number % 3 == 0 ? .high : .normal
        bus!.subscribe(to: Tick.self, priority: priority) { _ in withExtendedLifetime(thing) {} }
          .store(in: &subscriptions)
      }
    }
    for index in stride(from: 0, to: 1_000, by: 2) { subscriptions[index].cancel() }
    #expect(captured != nil)
    bus = nil
    #expect(captured == nil, "with the bus, not with the subscriptions")
    subscriptions = []
    #expect(bus == nil)
  }
}
