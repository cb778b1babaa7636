import AppLifecycle
import PubSub

#if CURED
  @MainActor final class Prices {
    private var areFresh = true

    init(bus: EventBus) {
      bus.subscribe(to: Application.WillEnterForeground.self, for: self) { prices, _ in prices.areFresh = false }
    }
  }
#else
  final class Prices {
    private var areFresh = true

    init(bus: EventBus) {
      // expect error: type … does not conform to the 'Sendable' protocol
      bus.subscribe(to: Application.WillEnterForeground.self, for: self) { prices, _ in prices.areFresh = false }
    }
  }
#endif
