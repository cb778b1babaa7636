import CPubSub
import Scheduling
import Testing

@testable import PubSub

/// What admits a compiler and a processor to the direct build; the portable build has to pass it, too.
@Suite struct `How handlers are called` {
  private struct Large: Equatable, Sendable {
    var numbers: [UInt64] = [1, 2, 3]
    var text = "text"
    var more: (UInt64, UInt64, UInt64) = (4, 5, 6)
    static func == (one: Large, other: Large) -> Bool {
      one.numbers == other.numbers && one.text == other.text && one.more == other.more
    }
  }

  private struct Value<Content: Equatable & Sendable>: BusEvent, Equatable { let content: Content }
  private struct MainValue<Content: Equatable & Sendable>: MainActorEvent, Equatable { let content: Content }

  private struct Refusal<Content: Equatable & Sendable>: Error, Equatable { let content: Content }

  /// An object that counts what it receives.
  private final class Owner: Sendable {
    let received = Guarded(0)
    func receive() { received.withLock { $0 += 1 } }
    var count: Int { received.withLock { $0 } }
  }

  /// Everything with one value: each form, with and without an error, on the fast path and the general one.
  private func check<Content: Equatable & Sendable>(_ content: Content) {
    let bus = EventBus()
    let event = Value(content: content)
    let owner = Owner()
    let failures = Log<String>()
    let plain = Guarded(0)
    var subscriptions = [
      bus.subscribe(to: Value<Content>.self) { if $0 == event { plain.withLock { $0 += 1 } } },
      bus.subscribe(to: Value<Content>.self, label: "throws") { throw Refusal(content: $0.content) },
      bus.subscribe(to: Value<Content>.self) { if $0 == event { plain.withLock { $0 += 1 } } },
      bus.subscribe(to: EventBus.HandlerFailure.self) { failure in
        let isExpected = failure.error as? Refusal<Content> == Refusal(content: content)
        failures.add("\(failure.subscriber) \(isExpected) \(failure.event as? Value<Content> == event)")
      },
    ]
    bus.subscribe(to: Value<Content>.self, for: owner) { owner, received in if received == event { owner.receive() } }
    bus.subscribe(to: Value<Content>.self, for: owner, label: "owner throws") { owner, received in
      owner.receive()
      throw Refusal(content: received.content)
    }
    bus.post(event)
    #expect(plain.withLock { $0 } == 2 && owner.count == 2)
    #expect(failures.all == ["throws true true", "owner throws true true"])
    // Another priority, and a wildcard: the general way.
    subscriptions += [
      bus.subscribe(to: Value<Content>.self, priority: .high) { if $0 == event { plain.withLock { $0 += 1 } } },
      bus.subscribeToAll(named: Value<Content>.name) { received in
        if received as? Value<Content> == event { plain.withLock { $0 += 1 } }
        throw Refusal(content: content)
      },
    ]
    bus.post(event)
    #expect(plain.withLock { $0 } == 6 && owner.count == 4)
    #expect(failures.all.count == 5)
    withExtendedLifetime(subscriptions) {}
  }

  @MainActor private func checkOnMainActor<Content: Equatable & Sendable>(_ content: Content) {
    let bus = EventBus()
    let event = MainValue(content: content)
    let owner = Owner()
    let failures = Log<String>()
    var count = 0
    let subscriptions = [
      bus.subscribe(to: MainValue<Content>.self) { if $0 == event { count += 1 } },
      bus.subscribe(to: MainValue<Content>.self) { throw Refusal(content: $0.content) },
      bus.subscribe(to: EventBus.HandlerFailure.self) { failure in
        failures.add("\(failure.error as? Refusal<Content> == Refusal(content: content))")
      },
    ]
    bus.subscribe(to: MainValue<Content>.self, for: owner) { owner, received in
      count += 1
      if received == event { owner.receive() }
      throw Refusal(content: received.content)
    }
    bus.post(event)
    #expect(count == 2 && owner.count == 1)
    #expect(failures.all == ["true", "true"])
    withExtendedLifetime(subscriptions) {}
  }

  private enum Nothing: Equatable { case nothing }

  @Test @MainActor func `Events of every size arrive, errors come back, and the owner is the one that was given`() {
    check(42)
    check(UInt8(7))
    check(Nothing.nothing)
    check("a text that is too long to stand in a word or two")
    check([1.5, 2.5, 3.5])
    check(Int?.none)
    check(Large())
    checkOnMainActor(42)
    checkOnMainActor(Nothing.nothing)
    checkOnMainActor("a text that is too long to stand in a word or two")
    checkOnMainActor(Large())
  }

  @Test func `A closure that is held as a value is called, too`() {
    let bus = EventBus()
    let count = Guarded(0)
    let handler: @Sendable (Tick) -> Void = { tick in count.withLock { $0 += tick.number } }
    let thrower: @Sendable (Tick) throws -> Void = { tick in count.withLock { $0 += tick.number } }
    let subscriptions = [bus.subscribe(to: Tick.self, handler), bus.subscribe(to: Tick.self, thrower)]
    bus.post(Tick(number: 21))
    withExtendedLifetime(subscriptions) {}
    #expect(count.withLock { $0 } == 42)
  }

  @Test func `An owner that is gone is not called, and its subscription ends`() {
    let bus = EventBus()
    var owner: Owner? = Owner()
    weak let released = owner
    let captured = Owner()
    weak let alsoReleased = captured
    let subscription = bus.subscribe(to: Tick.self, for: owner!) { [captured] owner, _ in
      captured.receive()
      owner.receive()
    }
    bus.post(Tick())
    #expect(owner?.count == 1 && captured.count == 1)
    owner = nil
    #expect(released == nil)
    #expect(subscription.isCancelled)
    let undelivered = Log<String>()
    let observer = bus.subscribe(to: EventBus.Undelivered.self) { _ in undelivered.add("undelivered") }
    bus.post(Tick())
    #expect(undelivered.all == ["undelivered"])
    #expect(bus.subscriptions.map(\.eventName) == ["Undelivered"])
    #expect(captured.count == 1)
    _ = consume captured
    #expect(alsoReleased == nil, "with the subscription")
    withExtendedLifetime((subscription, observer)) {}
  }
}
