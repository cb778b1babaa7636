import AppLifecycle
import PubSub

@MainActor final class Label {
  private var text = ""

  init(bus: EventBus) {
    #if CURED
      bus.subscribe(to: Application.WillEnterForeground.self, for: self) { label, _ in label.refresh() }
    #else
      // expect error: implicit use of 'self' in closure; use 'self.' to make capture semantics explicit
      bus.subscribe(to: Application.WillEnterForeground.self, for: self) { _, _ in refresh() }
    #endif
  }

  private func refresh() { text = "fresh" }
}
