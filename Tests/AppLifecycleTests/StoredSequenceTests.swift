import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// A sequence of the bus that a body iterates in each of its runs.
@MainActor @Suite(.timeLimit(.hang)) struct `A sequence in a body that runs again and again` {
  private struct Price: BusEvent { let value: Int }
  @MainActor private final class Model {
    var seen: [String] = []
    var run = 0
  }

  private let system = SimulatedSystem()
  private let model = Model()
  private var application: Application { system.application }

  /// Posts 1,000 events before the phase opens, and one in each of two runs.
  private func play() async throws -> [String] {
    for value in 1...1_000 { system.bus.post(Price(value: value)) }
    try await system.play("launch")
    system.bus.post(Price(value: 2_001))
    try await system.play("home")
    for value in 1...1_000 { system.bus.post(Price(value: value)) }
    try await system.play("open")
    system.bus.post(Price(value: 2_002))
    await system.clock.settle()
    return model.seen
  }

  @Test(arguments: [false, true])
  func `gives every run the events since its own loop began`(hasOwner: Bool) async throws {
    let prices = system.bus.events(Price.self)
    let (application, model) = (application, model)
    let body: @MainActor (Model) async -> Void = { model in
      model.run += 1
      for await price in prices { model.seen.append("run \(model.run): \(price.value)") }
    }
    if hasOwner {
      application.run(model, while: .active, body)
    } else {
      application.task { await application.run(while: .active) { await body(model) } }
      await system.clock.settle()
    }
    #expect(try await play() == ["run 1: 2001", "run 2: 2002"])
  }

  /// What is posted between the making of a sequence and its loop is not lost.
  @Test func `that the body makes has the events since then`() async throws {
    let bus = system.bus
    application.run(model, while: .active) { model in
      model.run += 1
      let prices = bus.events(Price.self)
      bus.post(Price(value: -model.run))
      for await price in prices { model.seen.append("run \(model.run): \(price.value)") }
    }
    #expect(try await play() == ["run 1: -1", "run 1: 2001", "run 2: -2", "run 2: 2002"])
  }
}
