import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// The tear-down of a closing step: its handlers, then bodies and resources, within one budget.
@MainActor @Suite(.timeLimit(.hang)) struct `A tear-down` {
  let delegate = NotingDelegate()
  let system: SimulatedSystem
  let clock: ManualClock
  let application: Application
  let bus: EventBus
  let trace = Notes()

  /// Lines, each with the time at which it was written.
  @MainActor final class Notes {
    var lines: [String] = []
    func callAsFunction(_ line: String, _ clock: ManualClock) {
      lines.append("\(line) at \(clock.now.offset / .seconds(1))")
    }
  }

  init() {
    system = SimulatedSystem { [delegate] in delegate }
    (clock, application, bus) = (system.clock, system.application, system.bus)
  }

  private func subscribe<E: ApplicationEvent>(
    _: E.Type, _ name: String, taking seconds: Double, priority: EventBus.Priority = .normal, line: Int = #line
  ) -> EventBus.Subscription {
    bus.receive(E.self, priority: priority, label: name, line: line) { [trace, clock] _ in
      do {
        try await clock.sleep(for: .seconds(seconds))
        trace("\(name) ended", clock)
      } catch {
        trace("\(name) cancelled", clock)
        throw error
      }
    }
  }

  private func manage(_ name: String, while phase: LifecyclePhase, release seconds: Double) throws {
    try application.manage(name, while: phase) {
    } release: { [trace, clock] _ in
      try? await clock.sleep(for: .seconds(seconds))
      trace("\(name) released", clock)
    }
  }

  /// Starts a task in the simulated world.
  private func start(_ body: @escaping @MainActor () async -> Void) -> Task<Void, Never> {
    TaskStarter(clock: clock).start { await body() }
  }

  private var reports: [String] { system.record.filter { $0.kind == .report }.map(\.name) }

  // MARK: Order

  @Test func `awaits the asynchronous handlers, then the bodies, then what is released`() async throws {
    let subscriptions = [
      subscribe(Application.DidEnterBackground.self, "handler", taking: 1),
      subscribe(Application.WillResignActive.self, "resigning handler", taking: 2),
    ]
    try manage("foreground", while: .foreground, release: 1)
    try manage("active", while: .active, release: 0.25)
    let body = start { [application, trace, clock] in
      await application.run(while: .foreground) {
        try? await clock.sleep(for: .seconds(1_000))
        await deaf(0.5, clock)
        trace("body ended", clock)
      }
    }
    try await system.play("launch; home")
    withExtendedLifetime(subscriptions) {}
    body.cancel()
    #expect(
      trace.lines == [
        "handler ended at 1.0", "resigning handler ended at 2.0", "active released at 2.25", "body ended at 2.5",
        "foreground released at 3.5",
      ])
    #expect(reports.isEmpty && application.state == .background)
  }

  @Test func `keeps what is held for a wider phase while handlers and bodies of a narrower one still run`() async throws
  {
    let subscription = subscribe(Application.WillResignActive.self, "resigning handler", taking: 2)
    for phase in [LifecyclePhase.running, .foreground] { try manage("\(phase)", while: phase, release: 0) }
    let body = start { [application, trace, clock] in
      await application.run(while: .active) {
        try? await clock.sleep(for: .seconds(1_000))
        await deaf(1, clock)
        trace("active body ended", clock)
      }
    }
    // An interruption comes first: the handlers of its resigning run on when the application is left.
    try await system.play("launch; interrupt:call; wait:1s; home")
    #expect(
      trace.lines == ["resigning handler ended at 2.0", "active body ended at 3.0", "foreground released at 3.0"])
    trace.lines = []
    try await system.play("end:call; open; kill")
    withExtendedLifetime(subscription) {}
    body.cancel()
    #expect(
      trace.lines == [
        "resigning handler ended at 5.0", "active body ended at 6.0", "foreground released at 6.0",
        "running released at 6.0",
      ])
    #expect(reports.isEmpty)
  }

  @Test func `counts its budget from the beginning of the delegate call`() async throws {
    delegate.onCallback = { [clock] callback, _ in
      if callback == .didEnterBackground { clock.passWithoutWaking(.seconds(3)) }
    }
    let subscription = subscribe(Application.DidEnterBackground.self, "handler", taking: 2.5)
    try await system.play("launch; home")
    withExtendedLifetime(subscription) {}
    #expect(reports == ["watchdog:handler"])
    #expect(system.record.last?.instant == .seconds(5))
    #expect(application.state == .notRunning)
  }

  @Test func `of willTerminate has a budget of its own`() async throws {
    let subscriptions = [
      subscribe(Application.DidEnterBackground.self, "background", taking: 4),
      subscribe(Application.WillTerminate.self, "end", taking: 4),
    ]
    try await system.play("launch; kill")
    withExtendedLifetime(subscriptions) {}
    #expect(trace.lines == ["background ended at 4.0", "end ended at 8.0"])
    #expect(reports.isEmpty && application.state == .notRunning)
  }

  @Test func `runs priorities one after another, and calls every handler, in time or not`() async throws {
    // The tear-down events are reversed: low before high.
    let subscriptions = [
      subscribe(Application.DidEnterBackground.self, "first", taking: 1, priority: .low),
      bus.subscribe(to: Application.DidEnterBackground.self, priority: .high) { [trace, clock] _ in
        trace("synchronous", clock)
      },
      bus.subscribe(to: Application.DidEnterBackground.self, priority: .low) { [trace, clock] _ in
        trace("synchronous, of the first priority", clock)
      },
    ]
    try await system.play("launch; home")
    withExtendedLifetime(subscriptions) {}
    #expect(trace.lines == ["synchronous, of the first priority at 0.0", "first ended at 1.0", "synchronous at 1.0"])
  }

  @Test func `of the active phase calls every synchronous handler before the change`() async throws {
    // The low priority comes first. Its asynchronous handler runs after the change, and delays no other handler.
    let subscriptions = [
      bus.receive(Application.WillResignActive.self, priority: .low) {
        [trace, clock, application] _ in
        trace("asynchronous begins, \(application.state)", clock)
        try await clock.sleep(for: .seconds(1))
        trace("asynchronous ends, \(application.state)", clock)
      },
      bus.subscribe(to: Application.WillResignActive.self) { [trace, clock, application] _ in
        trace("synchronous, \(application.state)", clock)
      },
      bus.receive(Application.WillResignActive.self, priority: .high) {
        [trace, clock, application] _ in
        try await clock.sleep(for: .milliseconds(500))
        trace("beside it, \(application.state)", clock)
      },
    ]
    try await system.play("launch; interrupt:call; wait:2s")
    withExtendedLifetime(subscriptions) {}
    #expect(
      trace.lines == [
        "synchronous, active at 0.0", "asynchronous begins, inactive at 0.0", "beside it, inactive at 0.5",
        "asynchronous ends, inactive at 1.0",
      ])
    #expect(reports.isEmpty)
  }

  // MARK: Overruns

  @Test func `names one slow asynchronous handler among fifty, with its position and its time`() async throws {
    var subscriptions: [EventBus.Subscription] = []
    for number in 0..<49 {
      bus.receive(Application.DidEnterBackground.self) { [clock] _ in
        try await clock.sleep(for: .milliseconds(number))
      }.store(in: &subscriptions)
    }
    let line = #line + 1
    bus.receive(Application.DidEnterBackground.self) { [clock] _ in try await clock.sleep(for: .seconds(60)) }
      .store(in: &subscriptions)
    try await system.play("launch; home; open")
    withExtendedLifetime(subscriptions) {}
    let position = "AppLifecycleTests/TearDownTests.swift:\(line)"
    #expect(reports == ["watchdog:\(position)"])
    let page = try #require(application.ledger.transitions.first { $0.cause == "home" })
    #expect(page.to == .notRunning)
    #expect(page.overruns == [BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: [position])])
    #expect(
      page.entries.filter(\.isLate).map(\.source) == [position]
        && page.entries.filter(\.isLate).map(\.duration) == [.seconds(5)])
    let others = page.entries.filter { $0.kind == .subscriber && !$0.isLate }
    #expect(others.count == 49 && others.allSatisfy { $0.outcome == .completed && $0.duration < .milliseconds(49) })
    // Purged, and launched anew by `open`.
    #expect(system.record.callbacks.suffix(3).first == "willFinishLaunching (inactive)")
  }

  @Test(arguments: [
    ("launch; home; memory", Application.Configuration().didEnterBackgroundBudget),
    ("launch:background; kill; memory", Application.Configuration().willTerminateBudget),
  ])
  func `names a slow synchronous handler, and the application is purged`(script: String, budget: Duration) async throws
  {
    try manage("resource", while: .running, release: 0)
    let slow: @MainActor () -> Void = { [clock] in clock.passWithoutWaking(budget + .milliseconds(1)) }
    let subscriptions = [
      bus.subscribe(to: Application.DidEnterBackground.self) { [trace, clock] _ in trace("other", clock) },
      bus.subscribe(to: Application.WillTerminate.self) { [trace, clock] _ in trace("other", clock) },
      bus.subscribe(to: Application.DidEnterBackground.self, label: "slow") { _ in slow() },
      bus.subscribe(to: Application.WillTerminate.self, label: "slow") { _ in slow() },
      // One that has no chance is not to blame.
      subscribe(Application.DidEnterBackground.self, "starved", taking: 1),
      subscribe(Application.WillTerminate.self, "starved", taking: 1),
    ]
    try await system.play(script)
    withExtendedLifetime(subscriptions) {}
    #expect(reports == ["watchdog:slow"])
    #expect(trace.lines.first == "other at 5.001", "the other synchronous handlers are called all the same")
    #expect(!trace.lines.contains { $0.hasPrefix("resource") }, "nothing is released")
    let end = system.record.firstIndex { $0.kind == .report }!
    #expect(system.record[end + 1].state == .notRunning)
    #expect(system.record.ignored.map(\.name) == ["memory"])
    #expect(application.ledger.late.map(\.name) == ["slow"])
    #expect(application.ledger.late.map(\.duration) == [budget + .milliseconds(1)])
  }

  @Test(arguments: ["didEnterBackground", "willTerminate"])
  func `names the delegate's method that was slow`(method: String) async throws {
    delegate.onCallback = { [clock] callback, _ in
      if callback.shortName == method { clock.passWithoutWaking(.seconds(6)) }
    }
    try await system.play("launch; kill")
    #expect(reports == ["watchdog:application\(method.prefix(1).uppercased())\(method.dropFirst())"])
    #expect(application.state == .notRunning)
    #expect(system.record.callbacks.last?.hasPrefix(method) == true, "no step follows")
  }

  @Test func `that takes exactly its budget is in time`() async throws {
    delegate.onCallback = { [clock] callback, _ in
      if callback == .didEnterBackground { clock.passWithoutWaking(.seconds(5)) }
    }
    try await system.play("launch; home")
    #expect(reports.isEmpty && application.state.isInMemory)
  }

  @Test func `names a body of run(while:) and a release that are late`() async throws {
    try manage("late", while: .foreground, release: 60)
    try await system.play("launch; home")
    #expect(reports == ["watchdog:late"])
    let caller = start { [application, clock] in
      await application.run(while: .foreground, label: "body") {
        await deaf(60, clock)
      }
    }
    try await system.play("launch; home")
    caller.cancel()
    #expect(reports == ["watchdog:late", "watchdog:body"])
    #expect(application.ledger.late.map(\.kind) == [.resource, .runBody])
  }

  // MARK: On a real host

  @Test func `that is late is only reported where no system enforces it, and the rest is released all the same`()
    async throws
  {
    let host = Application(delegate: delegate, bus: bus, clock: clock)
    let subscription = subscribe(Application.DidEnterBackground.self, "deaf", taking: 7)
    var isReleased = false
    try host.manage("resource", while: .foreground) {
    } release: { _ in
      isReleased = true
    }
    _ = await clock.running { await host.handle(.launch) }
    let report = await clock.running { await host.handle(.home) }
    withExtendedLifetime(subscription) {}
    #expect(host.state == .background)
    #expect(report.stragglers == ["deaf"] && report.duration == .seconds(5))
    await clock.settle()
    #expect(isReleased)
  }

  @Test func `that was late for the background is not waited for again at the end, and is named once`() async throws {
    let host = Application(delegate: delegate, bus: bus, clock: clock)
    for (name, phase) in [("database", LifecyclePhase.running), ("query", .foreground)] {
      try host.manage(name, while: phase, after: name == "query" ? ["database"] : []) {
      } release: { [clock] _ in
        // Deaf to cancellation.
        if name == "query" { await deaf(60, clock) }
      }
    }
    _ = await clock.running { await host.handle(.launch) }
    let report = await clock.running { await host.handle(.terminate) }
    #expect(report.duration == .seconds(5), "one straggler costs one budget")
    #expect(
      report.overruns == [BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["query"])])
    #expect(host.state == .notRunning)
  }

  // MARK: Interruptions

  @Test func `of an interruption blocks nothing, and releases when its handlers have ended`() async throws {
    let subscription = subscribe(Application.WillResignActive.self, "handler", taking: 2)
    try manage("active", while: .active, release: 0)
    try await system.play("launch; interrupt:call")
    #expect(clock.now.offset == .zero && trace.lines.isEmpty)
    try await system.play("wait:3s")
    withExtendedLifetime(subscription) {}
    #expect(trace.lines == ["handler ended at 2.0", "active released at 2.0"])
  }

  @Test func `of an interruption names the late code, and releases all the same`() async throws {
    let subscription = subscribe(Application.WillResignActive.self, "handler", taking: 60)
    try manage("active", while: .active, release: 0)
    try await system.play("launch; interrupt:call; wait:6s; end:call")
    withExtendedLifetime(subscription) {}
    #expect(trace.lines == ["active released at 5.0", "handler cancelled at 5.0"])
    #expect(reports == ["watchdog:handler"])
    #expect(application.state == .active, "an interruption has no budget that an application could be purged for")
  }

  @Test func `that a return makes needless releases nothing`() async throws {
    let subscription = subscribe(Application.WillResignActive.self, "handler", taking: 2)
    try manage("active", while: .active, release: 0)
    try await system.play("launch; interrupt:call; wait:1s; end:call; wait:5s")
    withExtendedLifetime(subscription) {}
    #expect(trace.lines == ["handler ended at 2.0"])
    #expect(application.resources.map(\.status) == [.held])
  }

  // MARK: Coming back

  @Test(arguments: [("home", SystemInput.open), ("lock", .unlock), ("switcher; switcher:leave", .open)])
  func `is cancelled and awaited when the application comes back, and nothing interleaves`(
    leaving: String, returning: SystemInput
  ) async throws {
    let subscription = bus.receive(Application.DidEnterBackground.self) { [trace, clock] _ in
      try? await clock.sleep(for: .seconds(4))
      // What it still has to do, it does.
      await deaf(0.5, clock)
      trace("handler ended", clock)
    }
    try application.manage("resource", while: .foreground) { [trace, clock] in
      trace("acquired", clock)
    } release: { [trace, clock] _ in
      try? await clock.sleep(for: .seconds(4))
      trace("released", clock)
    }
    delegate.onCallback = { [trace, clock] callback, _ in
      if callback == .willEnterForeground { trace("willEnterForeground", clock) }
    }
    try await system.play("launch")
    let sender = start { [clock, application] in
      try? await clock.sleep(for: .seconds(1))
      application.send(returning)
    }
    try await system.play(leaving + "; wait:1s")
    await sender.value
    withExtendedLifetime(subscription) {}
    #expect(
      trace.lines == [
        "acquired at 0.0", "handler ended at 1.5", "released at 1.5", "willEnterForeground at 1.5", "acquired at 1.5",
      ])
    #expect(application.state == .active && reports.isEmpty)
  }

  @Test func `of an end is not hurried by the next launch`() async throws {
    try manage("resource", while: .running, release: 3)
    try await system.play("launch")
    application.send(.terminate)
    application.send(.launch)
    try await clock.run(limit: .seconds(10))
    #expect(trace.lines == ["resource released at 3.0"])
    #expect(application.state == .active)
  }
}

/// Takes its time, cancelled or not.
private func deaf(_ seconds: Double, _ clock: ManualClock) async {
  await TaskStarter(clock: clock).start { try? await clock.sleep(for: .seconds(seconds)) }.value
}
