import PubSub

struct PriceDidChange: Event {
  var price: Double
}

@MainActor final class Prices {
  private var latest = 0.0

  init(bus: EventBus) {
    #if CURED
      bus.subscribe(self, to: PriceDidChange.self, on: .shared) { prices, event in prices.latest = event.price }
    #else
      // expect error: main actor-isolated property … can not be mutated from a Sendable closure
      bus.subscribe(self, to: PriceDidChange.self) { prices, event in prices.latest = event.price }
    #endif
  }
}
