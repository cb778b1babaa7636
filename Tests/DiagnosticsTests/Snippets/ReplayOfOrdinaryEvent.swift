import PubSub

#if CURED
  struct PriceDidChange: BusEvent, StickyEvent {
    var price: Double
  }
#else
  struct PriceDidChange: BusEvent {
    var price: Double
  }
#endif

@MainActor final class Prices {
  private var latest: Double?

  init(bus: EventBus) {
    // expect error: 'latest' is unavailable: the bus keeps only sticky events: conform the event to 'StickyEvent'
    bus.receive(PriceDidChange.self, for: self, replay: .latest) { prices, event in prices.latest = event.price }
    // expect error: instance method 'latest(of:from:)' requires that … conform to 'StickyEvent'
    latest = bus.latest(of: PriceDidChange.self)?.price
  }
}

struct FontDidChange: MainActorEvent, StickyEvent {}

#if CURED
  @MainActor func watch(_ bus: EventBus) -> EventBus.Subscription {
    bus.subscribe(to: FontDidChange.self, replay: .latest) { print($0) }
  }
#else
  func watch(_ bus: EventBus) -> EventBus.Subscription {
    // expect error: main actor-isolated static property 'latest' can not be referenced from a nonisolated context
    bus.subscribe(to: FontDidChange.self, replay: .latest) { print($0) }
  }
#endif
