import AppLifecycle
import PubSub

@MainActor final class Draft {
  private var subscriptions: [Subscription] = []

  init(bus: EventBus) {
    #if CURED
      bus.subscribe(self, to: Application.WillResignActive.self) { draft, _ in draft.freeze() }
      bus.subscribe(self, to: Application.WillResignActive.self, runs: .afterChange) { draft, _ in await draft.save() }
      bus.subscribe(to: Scene.WillDeactivate.self, runs: .afterChange) { _ in await Self.sync() }
        .store(in: &subscriptions)
      // These announce nothing that happens behind the handler's back.
      bus.subscribe(self, to: Application.WillTerminate.self) { draft, _ in await draft.save() }
      bus.subscribe(self, to: Application.DidEnterBackground.self) { draft, _ in await draft.save() }
    #else
      // expect warning: 'subscribe(…)' is deprecated: a handler with 'await' runs after the change that this event announces: drop 'await' to run before it, or add 'runs: .afterChange'
      bus.subscribe(self, to: Application.WillResignActive.self) { draft, _ in await draft.save() }
      // expect warning: 'subscribe(…)' is deprecated: a handler with 'await' runs after the change that this event announces: drop 'await' to run before it, or add 'runs: .afterChange'
      bus.subscribe(self, to: Application.ProtectedDataWillBecomeUnavailable.self) { draft, _ in
        draft.freeze()
        await draft.save()
      }
      // expect warning: 'subscribe(…)' is deprecated: a handler with 'await' runs after the change that this event announces: drop 'await' to run before it, or add 'runs: .afterChange'
      bus.subscribe(to: Scene.WillDeactivate.self) { _ in await Self.sync() }
        .store(in: &subscriptions)
    #endif
  }

  private func freeze() {}
  private func save() async {}
  private static func sync() async {}
}
