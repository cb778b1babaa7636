import AppLifecycle
import PubSub

struct PriceDidChange: BusEvent, StickyEvent {
  var price: Double
}

@MainActor final class Draft {
  private var subscriptions: [EventBus.Subscription] = []

  init(bus: EventBus) {
    #if CURED
      bus.subscribe(to: Application.WillResignActive.self, for: self) { draft, _ in draft.freeze() }
      bus.receive(Application.WillResignActive.self, for: self) { draft, _ in await draft.save() }
      bus.receive(Application.Scene.WillDeactivate.self) { _ in await Self.sync() }
        .store(in: &subscriptions)
      bus.receive(PriceDidChange.self, for: self, replay: .latest) { draft, _ in draft.freeze() }
      bus.receive(PriceDidChange.self, for: self, buffering: .bounded(1, dropping: .oldest)) { draft, _ in
        draft.freeze()
      }
      bus.receiveAll { _ in await Self.sync() }
        .store(in: &subscriptions)
    #else
      // expect error: 'subscribe(…)' is unavailable: 'subscribe' calls its handler before 'post' returns; a handler with 'await', 'replay:' or 'buffering:' is called later: use 'receive'
      bus.subscribe(to: Application.WillResignActive.self, for: self) { draft, _ in await draft.save() }
      // expect error: 'subscribe(…)' is unavailable: 'subscribe' calls its handler before 'post' returns; a handler with 'await', 'replay:' or 'buffering:' is called later: use 'receive'
      bus.subscribe(to: Application.ProtectedDataWillBecomeUnavailable.self, for: self) { draft, _ in
        draft.freeze()
        await draft.save()
      }
      // expect error: 'subscribe(…)' is unavailable: 'subscribe' calls its handler before 'post' returns; a handler with 'await', 'replay:' or 'buffering:' is called later: use 'receive'
      bus.subscribe(to: Application.Scene.WillDeactivate.self) { _ in await Self.sync() }
        .store(in: &subscriptions)
      // expect error: 'subscribe(…)' is unavailable: 'subscribe' calls its handler before 'post' returns; a handler with 'await', 'replay:' or 'buffering:' is called later: use 'receive'
      bus.subscribe(to: PriceDidChange.self, for: self, replay: .latest) { _, _ in }
      // expect error: 'subscribe(…)' is unavailable: 'subscribe' calls its handler before 'post' returns; a handler with 'await', 'replay:' or 'buffering:' is called later: use 'receive'
      bus.subscribe(to: PriceDidChange.self, for: self, buffering: .bounded(1, dropping: .oldest)) { _, _ in }
      // expect error: 'subscribeToAll(…)' is unavailable: 'subscribeToAll' calls its handler before 'post' returns; a handler with 'await' or 'buffering:' is called later: use 'receiveAll'
      bus.subscribeToAll { _ in await Self.sync() }
        .store(in: &subscriptions)
    #endif
  }

  private func freeze() {}
  private func save() async {}
  private static func sync() async {}
}
