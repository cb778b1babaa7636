import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// The state in handlers of events that announce a change: before it in synchronous ones, after it in asynchronous ones.
@Suite(.timeLimit(.hang)) @MainActor struct `Events that announce a change` {
  @MainActor private final class Component {
    let application: Application
    var states: [String] = []

    init(in application: Application) { self.application = application }
    func note(_ handler: String) { states.append("\(handler) \(application.state)") }
  }

  private protocol Way {
    @MainActor func subscribe(_ component: Component, to bus: EventBus) -> [EventBus.Subscription]
  }

  private struct Synchronously: Way {
    func subscribe(_ component: Component, to bus: EventBus) -> [EventBus.Subscription] {
      bus.subscribe(to: Application.WillResignActive.self, for: component) { component, _ in component.note("owner") }
      return [bus.subscribe(to: Application.WillEnterForeground.self) { _ in component.note("none") }]
    }
  }

  private struct AfterTheChange: Way {
    func subscribe(_ component: Component, to bus: EventBus) -> [EventBus.Subscription] {
      bus.receive(Application.WillResignActive.self, for: component) { component, _ async in
        component.note("owner")
      }
      return [
        bus.receive(Application.WillEnterForeground.self) { _ async in component.note("none") }
      ]
    }
  }

  private func states(_ way: any Way) async throws -> [String] {
    let system = SimulatedSystem()
    let component = Component(in: system.application)
    let subscriptions = way.subscribe(component, to: system.bus)
    try await system.play("launch; home; open")
    withExtendedLifetime(subscriptions) {}
    return component.states
  }

  @Test func `synchronous handlers run before the change`() async throws {
    #expect(try await states(Synchronously()) == ["owner active", "none background"])
  }

  @Test func `asynchronous handlers run after the change`() async throws {
    let states = try await states(AfterTheChange())
    #expect(states.map { $0.split(separator: " ")[0] } == ["owner", "none"])
    #expect(!states.contains("owner active") && !states.contains("none background"), "\(states)")
  }

  @Test func `a handler of an owner that is gone does not run`() async throws {
    let system = SimulatedSystem()
    weak var released: Component?
    do {
      let component = Component(in: system.application)
      released = component
      system.bus.receive(Application.WillResignActive.self, for: component) { component, _ in
        await Task.yield()
        component.note("gone")
      }
    }
    #expect(released == nil)
    try await system.play("launch; home")
  }
}
