import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// Answers the question as the test says.
@MainActor private final class Asked {
  var answer: @MainActor () async -> TerminateReply = { .now }
}

extension Asked: ApplicationDelegate {
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    await answer()
  }
}

/// `handle` inside asynchronous handlers of events that the life cycle's own handlers post.
@MainActor @Suite(.timeLimit(.hang)) struct `An input from the handler of an event` {
  private struct Order: BusEvent { var number = 0 }
  private struct Followup: BusEvent {}

  @MainActor private final class Outcomes { var lines: [String] = [] }

  private let delegate = Asked()
  private let system: SimulatedSystem
  private let outcomes = Outcomes()

  init() { system = SimulatedSystem { [delegate] in delegate } }

  private var application: Application { system.application }
  private var bus: EventBus { system.bus }
  private var clock: ManualClock { system.clock }
  private var reports: [String] { system.record.filter { $0.kind == .report }.map(\.name) }

  /// Hands in an input, and notes what became of it and when.
  @concurrent private func send(_ input: SystemInput, as name: String = "handler") async {
    let report = await application.handle(input)
    await note("\(name): \(report.outcome)")
  }

  private func note(_ line: String) { outcomes.lines.append("\(line) at \(clock.now.offset / .seconds(1))") }

  /// Subscribes a handler whose first event, of number 0, only keeps its mailbox busy for half a second.
  private func subscribeToOrders(_ handle: @escaping @Sendable (Order) async -> Void) -> EventBus.Subscription {
    bus.receive(Order.self, label: "orders") { @concurrent [clock] (order: Order) async in
      if order.number > 0 { await handle(order) } else { try? await clock.sleep(for: .seconds(0.5)) }
    }
  }

  private func manage(_ name: String = "store", release: @escaping @MainActor () async throws -> Void) throws {
    try application.manage(name, while: .foreground) {
    } release: { _ in
      try await release()
    }
  }

  /// Plays until the application has left the foreground and nothing is left to do; first the test itself posts an order, if it
  /// has one.
  private func goHome(after order: Order? = nil) async throws {
    try await system.play("launch")
    if let order { bus.post(order) }
    try await system.play("home; wait:10s")
  }

  // MARK: Answers that do not depend on the mailbox

  @Test(arguments: [false, true])
  func `waits where the event was only posted, its mailbox idle or busy`(isBusy: Bool) async throws {
    let subscription = subscribeToOrders { _ in await send(.memoryWarning) }
    try manage { [bus, clock] in
      bus.post(Order(number: 1))
      try? await clock.sleep(for: .seconds(2))
    }
    try await goHome(after: isBusy ? Order() : nil)
    withExtendedLifetime(subscription) {}
    #expect(outcomes.lines == ["handler: completed at 2.0"])
    #expect(reports.isEmpty)
  }

  @Test(arguments: [false, true])
  func `is queued where a release waits for the event's handler, its mailbox idle or busy`(isBusy: Bool) async throws {
    let subscription = subscribeToOrders { _ in await send(.memoryWarning) }
    try manage { [bus] in await bus.postAndWait(Order(number: 1)) }
    try await goHome(after: isBusy ? Order() : nil)
    withExtendedLifetime(subscription) {}
    #expect(outcomes.lines == ["handler: queued at \(isBusy ? 0.5 : 0.0)"])
    #expect(reports.isEmpty, "nothing waited in a circle")
    #expect(system.record.callbacks.contains { $0.hasPrefix("didReceiveMemoryWarning") }, "the input has its turn")
  }

  @Test func `is queued along a chain of waits, and in the acquire and the body`() async throws {
    let subscriptions = [
      subscribeToOrders { [bus] _ in await bus.postAndWait(Followup()) },
      bus.receive(Followup.self) { (_: Followup) async in await send(.memoryWarning) },
    ]
    try application.manage("store", while: .foreground) { [bus] in
      await bus.postAndWait(Order(number: 1))
    } release: { [bus] _ in
      await bus.postAndWait(Order(number: 2))
    }
    let body = TaskStarter(clock: clock).start { @MainActor [application, bus] in
      await application.run(while: .foreground) { await bus.postAndWait(Order(number: 3)) }
    }
    try await goHome()
    body.cancel()
    await clock.settle()
    withExtendedLifetime(subscriptions) {}
    #expect(outcomes.lines == ["handler: queued at 0.0", "handler: queued at 0.0", "handler: queued at 0.0"])
    #expect(reports.isEmpty)
  }

  @Test func `waits again once the wait for the event's handler is over`() async throws {
    let subscription = subscribeToOrders { [clock] _ in
      // Deaf to the cancelling at the deadline.
      await deaf(2, clock)
      await send(.memoryWarning)
    }
    try manage { [bus, clock] in
      await bus.postAndWait(Order(number: 1), within: .seconds(1))
      try? await clock.sleep(for: .seconds(2))
    }
    try await goHome()
    withExtendedLifetime(subscription) {}
    #expect(outcomes.lines == ["handler: completed at 3.0"])
    #expect(reports.isEmpty)
  }

  @Test func `waits in a task that outlived the event's handler`() async throws {
    let subscription = subscribeToOrders { [clock] _ in
      _ = Task(executorPreference: clock.executor) { @Sendable in
        try? await clock.sleep(for: .seconds(1))
        await send(.memoryWarning, as: "task")
      }
    }
    try manage { [bus, clock] in
      await bus.postAndWait(Order(number: 1))
      try? await clock.sleep(for: .seconds(2))
    }
    try await goHome()
    withExtendedLifetime(subscription) {}
    #expect(outcomes.lines == ["task: completed at 2.0"])
    #expect(reports.isEmpty)
  }

  @Test func `waits where no handler of the life cycle waits for the event`() async throws {
    let subscription = subscribeToOrders { _ in await send(.memoryWarning) }
    let body = TaskStarter(clock: clock).start { @MainActor [application, bus, clock] in
      await application.run(while: .foreground) {
        bus.post(Order())
        try? await clock.sleep(for: .seconds(2))
      }
    }
    try await system.play("launch")
    let report = await clock.running { [bus] in await bus.postAndWait(Order(number: 1)) }
    body.cancel()
    await clock.settle()
    withExtendedLifetime(subscription) {}
    #expect(outcomes.lines == ["handler: completed at 0.5"])
    #expect(report.deliveries.map(\.outcome.description) == ["delivered"])
  }

  // MARK: Events behind another

  @Test func `is queued where a release waits for an event behind that of the handler`() async throws {
    let subscription = subscribeToOrders { [clock] order in
      guard order.number == 1 else { return await note("order \(order.number)") }
      try? await clock.sleep(for: .seconds(1))
      await send(.memoryWarning)
    }
    try manage { [bus] in await bus.postAndWait(Order(number: 2)) }
    try await goHome(after: Order(number: 1))
    withExtendedLifetime(subscription) {}
    #expect(outcomes.lines == ["handler: queued at 1.0", "order 2 at 1.0"])
    #expect(reports.isEmpty)
  }

  @Test func `a release does not wait for an event behind a handler that waits for its transition`() async throws {
    let subscription = subscribeToOrders { order in
      if order.number == 1 { await send(.memoryWarning) } else { await note("order \(order.number)") }
    }
    try manage { [bus, clock, outcomes] in
      bus.post(Order(number: 1))
      try? await clock.sleep(for: .seconds(1))
      outcomes.lines += await bus.postAndWait(Order(number: 2)).deliveries.map { "\($0.subscriber) \($0.outcome)" }
    }
    try await goHome()
    withExtendedLifetime(subscription) {}
    #expect(outcomes.lines == ["orders skipped", "handler: completed at 1.0", "order 2 at 1.0"])
    #expect(reports.isEmpty)
  }

  @Test func `a transition does not wait for a notification behind a handler that waits for a later one`() async throws
  {
    let everything = bus.receiveAll(label: "all") { @concurrent (event: any EventBus.Event) async in
      if event is Order { await send(.memoryWarning) }
      if event is Application.DidEnterBackground { await note("in the background") }
    }
    // The tear-down is delivered in the mirror image of the order: this one comes first.
    let first = bus.receive(Application.DidEnterBackground.self, priority: .low) { [bus, clock] _ in
      bus.post(Order(number: 1))
      try? await clock.sleep(for: .seconds(1))
    }
    try await goHome()
    withExtendedLifetime((everything, first)) {}
    #expect(outcomes.lines == ["handler: completed at 1.0", "in the background at 1.0"])
    #expect(reports.isEmpty)
  }

  @Test func `is queued where a transition waits for a notification behind the event`() async throws {
    let everything = bus.receiveAll(label: "all") { @concurrent [clock] (event: any EventBus.Event) async in
      if event is Order {
        try? await clock.sleep(for: .seconds(1))
        await send(.memoryWarning)
      }
      if event is Application.DidEnterBackground { await note("in the background") }
    }
    try await system.play("launch")
    bus.post(Order(number: 1))
    try await system.play("home; wait:10s")
    withExtendedLifetime(everything) {}
    #expect(outcomes.lines == ["handler: queued at 1.0", "in the background at 1.0"])
    #expect(reports.isEmpty)
  }

  @Test func `a transition waits for a handler whose input has just been answered`() async throws {
    let subscriptions = [
      bus.receiveAll(label: "all") { @concurrent [clock] (event: any EventBus.Event) async in
        if event is Order { await send(.memoryWarning) }
        if event is Application.DidEnterBackground {
          try? await clock.sleep(for: .seconds(1))
          await note("saved")
        }
      },
      // The next input begins before the handler of the order goes on.
      bus.subscribe(to: Application.DidReceiveMemoryWarning.self) { [application] _ in application.send(.home) },
    ]
    try manage { note("released") }
    try await system.play("launch")
    bus.post(Order(number: 1))
    try await clock.advance(by: .seconds(10))
    withExtendedLifetime(subscriptions) {}
    #expect(outcomes.lines == ["handler: completed at 0.0", "saved at 1.0", "released at 1.0"])
  }

  // MARK: Other waits

  @Test(arguments: [false, true])
  func `a release that drains a handler, and the handler's input, do not wait for each other`(drainsFirst: Bool)
    async throws
  {
    let own = Outcomes()
    let subscription = subscribeToOrders { [clock] _ in
      try? await clock.sleep(for: .seconds(drainsFirst ? 1 : 0.25))
      await send(.memoryWarning)
    }
    try manage { [clock] in
      try? await clock.sleep(for: .seconds(0.5))
      await subscription.cancelAndDrain()
      own.lines.append("drained at \(clock.now.offset / .seconds(1))")
    }
    try await goHome(after: Order(number: 1))
    #expect(own.lines == [drainsFirst ? "drained at 1.0" : "drained at 0.5"])
    #expect(outcomes.lines == [drainsFirst ? "handler: queued at 1.0" : "handler: completed at 0.5"])
    #expect(reports.isEmpty)
  }

  @Test func `the end is queued where the question waits for the event's handler, and others are not`() async throws {
    let subscription = subscribeToOrders { _ in
      await send(.memoryWarning, as: "warning")
      await send(.terminate, as: "end")
    }
    delegate.answer = { [bus] in
      await bus.postAndWait(Order(number: 1))
      return .cancel
    }
    try await system.play("launch")
    bus.post(Order())
    try await system.play("quit; wait:20s")
    withExtendedLifetime(subscription) {}
    #expect(outcomes.lines == ["warning: completed at 0.5", "end: queued at 0.5"])
    #expect(reports.isEmpty)
    #expect(application.state == .active)
  }

  @Test func `two applications whose releases hand in inputs to each other do not wait for each other`() async throws {
    let other = Application(delegate: Asked(), clock: clock)
    try other.manage("link", while: .foreground) {
    } release: { _ in
      await send(.memoryWarning, as: "other's release")
    }
    try manage {
      let report = await other.handle(.home)
      note("release: \(report.outcome)")
    }
    await clock.running { _ = await other.handle(.launch) }
    try await goHome()
    #expect(outcomes.lines == ["other's release: queued at 0.0", "release: completed at 0.0"])
    #expect(reports.isEmpty)
  }

  // MARK: Inputs

  private enum Requester { @TaskLocal static var name = "none" }

  @Test func `queued inputs run in the context of no sender`() async throws {
    let seen = Outcomes()
    let subscription = bus.subscribe(to: Application.DidReceiveMemoryWarning.self) { _ in
      seen.lines.append(Requester.name)
    }
    try await system.play("launch")
    for name in ["A", "B"] { Requester.$name.withValue(name) { application.send(.memoryWarning) } }
    await clock.settle()
    Requester.$name.withValue("C") { application.send(.memoryWarning) }
    await clock.settle()
    withExtendedLifetime(subscription) {}
    #expect(seen.lines == ["none", "none", "none"])
  }
}

/// Sleeps, whether it is cancelled or not.
private func deaf(_ seconds: Double, _ clock: ManualClock) async {
  await TaskStarter(clock: clock).start { try? await clock.sleep(for: .seconds(seconds)) }.value
}
