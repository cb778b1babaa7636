import PubSub

struct PriceDidChange: BusEvent {}

@MainActor final class Prices {
  #if CURED
    private var subscription: EventBus.Subscription?
  #endif
  private var areFresh = true

  init(bus: EventBus) {
    #if CURED
      bus.receive(PriceDidChange.self, for: self) { prices, _ in prices.areFresh = false }
      subscription = bus.subscribe(to: PriceDidChange.self) { print($0) }
    #else
      // expect warning: result of call to 'receive(…)' is unused
      bus.receive(PriceDidChange.self) { [weak self] _ in self?.areFresh = false }
      // expect warning: result of call to 'subscribe(…)' is unused
      bus.subscribe(to: PriceDidChange.self) { print($0) }
    #endif
  }
}
