import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// Background tasks that are open when the application is told to end.
@MainActor @Suite(.timeLimit(.hang)) struct `Background tasks at a termination` {
  /// An application without a simulated system, as a real host has it.
  @MainActor private struct World {
    let clock = ManualClock()
    let application: Application
    let log = EventLog()
    private let token: ObserverToken

    init() {
      application = Application(delegate: Bare(), bus: EventBus(taskExecutor: clock.executor), clock: clock)
      token = application.observe { [log] event in
        guard let record = event.record else { return }
        let isTold = [.task, .report].contains(record.kind) || record.name == "applicationWillTerminate"
        guard isTold || record.kind == .state && record.name == "notRunning" else { return }
        log.lines.append("\(record.instant / .seconds(1)) \(record.name) \(record.state.rawValue)")
      }
    }

    func handle(_ input: SystemInput) async -> TransitionReport {
      await clock.running { [application] in await application.handle(input, cause: "SIGTERM") }
    }

    func terminate(after delay: Duration, _ reports: EventLog) async {
      try? await clock.sleep(for: delay)
      reports.lines.append("\(await application.handle(.terminate).outcome)")
    }

    /// Does something for so long, as a background task.
    func perform(_ name: String, for length: Duration, isStubborn: Bool = false) {
      application.performBackgroundTask(named: name) { [clock, log] in
        if isStubborn {
          // In a task of its own it is not woken by being cancelled.
          await Task(executorPreference: clock.executor) { try? await clock.sleep(for: length) }.value
        } else {
          try? await clock.sleep(for: length)
        }
        log.lines.append("\(clock.now.offset / .seconds(1)) \(name) has ended")
      }
    }
  }

  @MainActor private final class EventLog { var lines: [String] = [] }

  @Test func `what was begun in the foreground is finished before the application is told that it ends`() async {
    let world = World()
    _ = await world.handle(.launch)
    world.perform("save", for: .seconds(2))
    let report = await world.handle(.terminate)
    #expect(
      world.log.lines == [
        "2.0 save has ended", "2.0 applicationWillTerminate background", "2.0 notRunning notRunning",
      ])
    #expect(report.overruns == [] && report.to == .notRunning)
  }

  @Test func `one that takes longer expires when half of what is left has passed`() async {
    let world = World()
    let subscription = world.application.bus.receive(Application.DidEnterBackground.self) {
      [clock = world.clock] _ in try? await clock.sleep(for: .seconds(1))
    }
    _ = await world.handle(.launch)
    world.perform("upload", for: .seconds(3_600))
    let report = await world.handle(.terminate)
    withExtendedLifetime(subscription) {}
    // Of five seconds one was the handler's.
    #expect(
      world.log.lines == [
        "3.0 expire:upload background", "3.0 upload has ended", "3.0 applicationWillTerminate background",
        "3.0 notRunning notRunning",
      ])
    #expect(report.overruns == [])
  }

  @Test func `one that does not end is named, and the application ends all the same`() async {
    let world = World()
    _ = await world.handle(.launch)
    _ = world.application.beginBackgroundTask(named: "open")
    let report = await world.handle(.terminate)
    #expect(
      world.log.lines == [
        "2.5 expire:open background", "5.0 backgroundTimeExpired:open background",
        "5.0 applicationWillTerminate background", "5.0 notRunning notRunning",
      ])
    #expect(report.overruns.map(\.culprits) == [["open"]] && report.overruns.map(\.callback) == [.didEnterBackground])
    let entry = world.application.ledger.entries.first { $0.kind == .task }
    #expect(entry?.name == "open" && entry?.outcome == .neverEnded && entry?.duration == .seconds(5))
  }

  @Test func `one that was given up may be ended after all, once`() async {
    let world = World()
    _ = await world.handle(.launch)
    let task = world.application.beginBackgroundTask(named: "open")
    let other = world.application.beginBackgroundTask(named: "other")
    let subscription = world.application.bus.subscribe(to: Application.WillTerminate.self) { _ in
      task.end()
      other.end()
      other.end()
    }
    _ = await world.handle(.terminate)
    withExtendedLifetime(subscription) {}
    #expect(world.log.lines.filter { $0.contains("Twice") } == ["5.0 taskEndedTwice:other background"])
  }

  @Test func `a handler that begins anew under a background mode does not go on for ever`() async {
    let world = World()
    world.application.beginBackgroundMode()
    var expirations = 0
    func begin() {
      _ = world.application.beginBackgroundTask(named: "again") { task in
        expirations += 1
        task.end()
        // Where it never ends the test does.
        if expirations < 1_000 { begin() }
      }
    }
    _ = await world.handle(.launchInBackground)
    begin()
    let report = await world.handle(.terminate)
    #expect(expirations == 1)
    #expect(report.overruns.map(\.culprits) == [["again"]] && report.to == .notRunning)
  }

  @Test func `in the background they have half of the budget of willTerminate, and its handlers the rest`() async {
    let world = World()
    let subscription = world.application.bus.receive(Application.WillTerminate.self, label: "slow") {
      [clock = world.clock] _ in try? await clock.sleep(for: .seconds(3_600))
    }
    _ = await world.handle(.launchInBackground)
    _ = world.application.beginBackgroundTask(named: "open")
    world.perform("upload", for: .seconds(3_600))
    let report = await world.handle(.terminate)
    withExtendedLifetime(subscription) {}
    #expect(
      world.log.lines == [
        "1.25 expire:open background", "1.25 expire:upload background", "1.25 upload has ended",
        "2.5 backgroundTimeExpired:open background", "2.5 applicationWillTerminate background",
        "5.0 watchdog:slow background", "5.0 notRunning notRunning",
      ])
    #expect(report.overruns.map(\.culprits) == [["open"], ["slow"]])
    #expect(report.overruns.map(\.callback) == [.willTerminate, .willTerminate])
  }

  @Test func `an end of the last one ends the wait at once, also where it was refused to be cancelled`() async {
    let world = World()
    _ = await world.handle(.launch)
    world.perform("stubborn", for: .seconds(4), isStubborn: true)
    _ = await world.handle(.terminate)
    #expect(
      world.log.lines == [
        "2.5 expire:stubborn background", "4.0 stubborn has ended", "4.0 applicationWillTerminate background",
        "4.0 notRunning notRunning",
      ])
  }

  @Test func `one that asks for the end itself, and waits for it, is not waited for by it`() async {
    let world = World()
    _ = await world.handle(.launch)
    let reports = EventLog()
    let operation = world.application.performBackgroundTask(named: "quit") {
      [log = world.log, application = world.application] in
      let report = await application.handle(.terminate)
      reports.lines.append("\(report.outcome)")
      log.lines.append("quit goes on")
    }
    await world.clock.running { await operation.value }
    _ = await world.handle(.memoryWarning)
    #expect(reports.lines == ["queued"])
    #expect(
      world.log.lines == ["quit goes on", "0.0 applicationWillTerminate background", "0.0 notRunning notRunning"])
  }

  @Test func `what it started and has outlived it waits for the end as all other code does`() async throws {
    let world = World()
    _ = await world.handle(.launch)
    let reports = EventLog()
    world.application.performBackgroundTask(named: "quit") {
      Task(executorPreference: world.clock.executor) { await world.terminate(after: .seconds(1), reports) }
    }
    try await world.clock.advance(by: .seconds(1))
    #expect(reports.lines == ["completed"])
  }

  @Test func `one that was given up waits for inputs as all other code does`() async throws {
    let world = World()
    _ = await world.handle(.launch)
    let reports = EventLog()
    world.application.performBackgroundTask(named: "stubborn") {
      [application = world.application, clock = world.clock] in
      await Task(executorPreference: clock.executor) { try? await clock.sleep(for: .seconds(60)) }.value
      reports.lines.append("\(await application.handle(.launch).outcome)")
    }
    _ = await world.handle(.terminate)
    try await world.clock.advance(by: .seconds(60))
    #expect(reports.lines == ["completed"])
    #expect(world.log.lines.contains("5.0 backgroundTimeExpired:stubborn background"))
  }

  @Test func `without open tasks there is no wait, and a suspended application gets no call`() async {
    let world = World()
    _ = await world.handle(.launch)
    world.application.beginBackgroundTask(named: "done").end()
    _ = await world.handle(.terminate)
    #expect(world.log.lines == ["0.0 applicationWillTerminate background", "0.0 notRunning notRunning"])
    let other = World()
    for input in [SystemInput.launch, .home] { _ = await other.handle(input) }
    _ = other.application.beginBackgroundTask(named: "open")
    for input in [SystemInput.suspend, .terminate] { _ = await other.handle(input) }
    #expect(other.log.lines == ["0.0 notRunning notRunning"])
  }

  @Test func `a simulated system cuts them off, as iOS does`() async throws {
    let system = SimulatedSystem()
    try await system.play("launch; task:begin:a; home; kill")
    #expect(!system.record.contains { $0.kind == .task || $0.kind == .report })
    #expect(system.application.ledger.entries.contains { $0.name == "a" && $0.outcome == .cutShort })
  }
}

@MainActor private final class Bare: ApplicationDelegate {}
