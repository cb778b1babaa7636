import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// Inputs that the program's code hands in during a transition, which does not wait for code that waits for it.
@MainActor @Suite(.timeLimit(.hang)) struct `A transition` {
  let delegate = NotingDelegate()
  let system: SimulatedSystem
  let clock: ManualClock
  let application: Application
  let bus: EventBus

  init() {
    system = SimulatedSystem { [delegate] in delegate }
    (clock, application, bus) = (system.clock, system.application, system.bus)
  }

  private var reports: [String] { system.record.filter { $0.kind == .report }.map(\.name) }

  @Test func `does not wait for a handler that waits for the transition`() async throws {
    var outcomes: [String] = []
    let note: @MainActor (String, TransitionReport) -> Void = { outcomes.append("\($0): \($1.outcome)") }
    let subscriptions = [
      bus.receive(Application.DidEnterBackground.self) { [application] _ in
        note("handler", await application.handle(.memoryWarning))
      },
      bus.receive(Application.WillResignActive.self) { [application] _ in
        note("resigning handler", await application.handle(.memoryWarning))
      },
    ]
    try application.manage("resource", while: .foreground) { [application] in
      note("acquire", await application.handle(.memoryWarning))
    } release: { [application] _ in
      note("release", await application.handle(.memoryWarning))
    }
    let caller = TaskStarter(clock: clock).start { [application] in
      await application.run(while: .foreground) {
        note("body", await application.handle(.memoryWarning))
        _ = await application.handle(.memoryWarning)
      }
    }
    try await system.play("launch; home")
    await clock.settle()
    caller.cancel()
    withExtendedLifetime(subscriptions) {}
    #expect(
      outcomes.sorted() == [
        "acquire: queued", "body: queued", "handler: queued", "release: queued", "resigning handler: queued",
      ])
    #expect(reports.isEmpty && clock.now.offset == .zero)
    #expect(system.record.callbacks.filter { $0.hasPrefix("didReceiveMemoryWarning") }.count == 6)
  }

  @Test func `does not wait for a wildcard that waits, in its mailbox, for the transition`() async throws {
    struct Order: MainActorEvent {}
    var outcome: TransitionReport.Outcome?
    let everything = bus.receiveAll { [application] event in
      if event is Order { outcome = await application.handle(.home).outcome }
    }
    try await system.play("launch")
    bus.post(Order())
    try await clock.run(limit: .seconds(60))
    withExtendedLifetime(everything) {}
    #expect(outcome == .completed)
    #expect(reports.isEmpty && clock.now.offset < .seconds(60))
  }

  @Test func `takes what a delegate hands in after the transition`() async throws {
    delegate.onCallback = { callback, application in
      if callback == .willResignActive { application.send(.memoryWarning) }
      if callback == .didEnterBackground { application.send(.open) }
    }
    try await system.play("launch; home; wait:0s")
    #expect(
      delegate.notes.suffix(5) == [
        "willResignActive (active)", "didEnterBackground (background)", "didReceiveMemoryWarning (background)",
        "willEnterForeground (background)", "didBecomeActive (active)",
      ])
  }
}
