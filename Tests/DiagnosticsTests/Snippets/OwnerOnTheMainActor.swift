import PubSub

struct PriceDidChange: BusEvent {
  var price: Double
}

@MainActor final class Prices {
  private var latest = 0.0

  init(bus: EventBus) {
    #if CURED
      bus.receive(PriceDidChange.self, for: self) { prices, event in prices.latest = event.price }
    #else
      // expect error: main actor-isolated property … can not be mutated from a Sendable closure
      bus.subscribe(to: PriceDidChange.self, for: self) { prices, event in prices.latest = event.price }
    #endif
  }
}

actor PriceStore {
  private var latest = 0.0

  init(bus: EventBus) {
    #if CURED
      bus.receive(PriceDidChange.self, for: self) { prices, event in prices.latest = event.price }
    #else
      // expect error: actor-isolated property … can not be mutated from a Sendable closure
      bus.subscribe(to: PriceDidChange.self, for: self) { prices, event in prices.latest = event.price }
    #endif
  }
}
