import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Bodies that depend on resources, or that run for an owner.
@MainActor @Suite(.timeLimit(.hang)) struct `Bodies after resources` {
  private struct Failure: Error, Equatable {}

  @MainActor private final class Model {
    var lines: [String] = []
  }

  private let system = SimulatedSystem()
  private let model = Model()
  private var application: Application { system.application }
  private var clock: ManualClock { system.clock }

  private func manage(_ name: String, after dependencies: [String] = []) throws -> ManagedResource<String> {
    var number = 0
    let model = model
    return try application.manage(name, while: .foreground, after: dependencies) {
      number += 1
      model.lines.append("+\(name)")
      return "\(name)\(number)"
    } release: { _ in
      model.lines.append("-\(name)")
    }
  }

  private func takeLines() -> [String] {
    defer { model.lines = [] }
    return model.lines
  }

  @Test(arguments: ["home", "kill", "crash"])
  func `do not keep an owner whose phase has closed before the first run`(end: String) async throws {
    let base = try application.manage("base", while: .foreground) {
      throw Failure()
    } release: { (_: Int) in
    }
    try await system.play("launch")
    weak var client: Model?
    do {
      let owner = Model()
      client = owner
      application.run(owner, while: .foreground, after: base) { _, _ in Issue.record("there is no base") }
    }
    await clock.settle()
    #expect(client != nil)
    try await system.play(end)
    #expect(client == nil)
  }

  /// The phase of the dependency is narrower.
  @Test(arguments: ["", "open; home"])
  func `keep an owner while their own phase is open, whatever the phases of their dependencies are`(before: String)
    async throws
  {
    let base = try manage("base")
    try await system.play("launch:background; \(before)")
    weak var client: Model?
    do {
      let owner = Model()
      client = owner
      application.run(owner, while: .running, after: base) { [model] _, base in
        model.lines.append("runs with \(base)")
      }
    }
    await clock.settle()
    #expect(client != nil)
    _ = takeLines()
    try await system.play("open")
    #expect(takeLines().suffix(1) == ["runs with base\(before.isEmpty ? 1 : 2)"])
    #expect(client == nil)
  }

  @Test(arguments: ["", "open; home;"], ["kill", "crash"])
  func `do not keep an owner whose own phase has closed before the phase of a dependency has opened`(
    before: String, end: String
  ) async throws {
    let base = try application.manage("base", while: .foreground) {
      throw Failure()
    } release: { (_: Int) in
    }
    try await system.play("launch:background")
    weak var client: Model?
    do {
      let owner = Model()
      client = owner
      application.run(owner, while: .running, after: base) { _, _ in Issue.record("there is no base") }
    }
    try await system.play("\(before) memory")
    #expect(client != nil)
    try await system.play(end)
    #expect(client == nil)
  }

  @Test func `run while the phase is open and everything they need is held, and end before that is released`()
    async throws
  {
    let base = try manage("base")
    let connection = try manage("connection", after: ["base"])
    let clock = clock
    application.run(model, while: .active, after: base, connection) { model, base, connection in
      model.lines.append("begins with \(base), \(connection)")
      defer { model.lines.append("ends") }
      try await clock.sleep(for: .seconds(1_000_000))
    }
    try await system.play("launch; wait:1m")
    #expect(takeLines() == ["+base", "+connection", "begins with base1, connection1"])
    connection.invalidate(because: Failure())
    await clock.settle()
    #expect(takeLines() == ["ends", "-connection", "+connection", "begins with base1, connection2"])
    try await system.play("interrupt:call")
    #expect(takeLines() == ["ends"])
    try await system.play("end:call; home")
    #expect(takeLines() == ["begins with base1, connection2", "ends", "-connection", "-base"])
    #expect(application.resources.map(\.name) == ["base", "connection"], "a body is no resource")
  }

  @Test func `the ledger names them by their place or label, and names the late ones`() async throws {
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    system.application.enforcesBudgets = false
    application.run(model, while: .active, label: "poller") { _ in await Task { for await _ in gate {} }.value }
    let run = application.run(model, while: .active) { [clock] _ in try await clock.sleep(for: .seconds(1_000_000)) }
    #expect(run.name == "AppLifecycleTests/RunAfterTests.swift:\(#line - 1)")
    try await system.play("launch; home")
    let entries = application.ledger.entries.filter { $0.kind == .runBody }
    #expect(entries.map(\.name) == [run.name, "poller"])
    #expect(entries.map(\.step) == ["run(while: .active)", "run(while: .active)"])
    #expect(entries.map(\.outcome) == [.completed, .overran])
    #expect(system.record.filter { $0.kind == .report }.map(\.name) == ["watchdog:poller"])
    opener.finish()
  }

  @Test func `end before any resource of the phase is released, though they name none`() async throws {
    let clock = clock
    _ = try manage("unnamed")
    application.run(model, while: .foreground) { model in
      try? await clock.sleep(for: .seconds(1_000_000))
      // It takes a while to end.
      await Task(executorPreference: clock.executor) { try? await clock.sleep(for: .seconds(1)) }.value
      model.lines.append("ends")
    }
    try await system.play("launch; home")
    #expect(takeLines() == ["+unnamed", "ends", "-unnamed"])
  }

  @Test func `a body that returns rests, one that throws begins again, unless told otherwise`() async throws {
    var runs: [String: Int] = [:]
    let body: @MainActor (String, Bool) async throws -> Void = { name, fails in
      runs[name, default: 0] += 1
      if fails { throw Failure() }
    }
    application.run(model, while: .active) { _ in try await body("returns", false) }
    application.run(model, while: .active) { _ in try await body("throws", true) }
    application.run(model, while: .active, onReturn: .again) { _ in try await body("returns again", false) }
    application.run(model, while: .active, onError: .rest) { _ in try await body("throws and rests", true) }
    try await system.play("launch; wait:3s")
    #expect(runs["returns"] == 1 && runs["throws and rests"] == 1)
    #expect(runs["throws", default: 0] >= 4 && runs["returns again", default: 0] >= 4)
    try await system.play("home; open")
    #expect(runs["returns"] == 2 && runs["throws and rests"] == 2)
    application.run(model, while: .active, onReturn: .shutDown(status: 3)) { _ in }
    try await system.play("wait:1s")
    #expect(application.state == .notRunning && application.exitStatus == 3)
  }

  @Test func `an owner that is gone has no body any more`() async throws {
    var runs = 0
    var owner: Model? = Model()
    weak let weakOwner = owner
    application.run(owner!, while: .active) { _ in runs += 1 }
    try await system.play("launch; home; open")
    #expect(runs == 2)
    owner = nil
    #expect(weakOwner == nil)
    try await system.play("home; open; home; open")
    #expect(runs == 2 && application.manager.graph.order.isEmpty)
  }

  @Test func `a run that is cancelled ends, and none begins`() async throws {
    let clock = clock
    let run = application.run(model, while: .active) { model in
      defer { model.lines.append("ends") }
      try await clock.sleep(for: .seconds(1_000_000))
    }
    try await system.play("launch; wait:1s")
    run.cancel()
    run.cancel()
    try await system.play("home; open")
    #expect(takeLines() == ["ends"] && application.manager.graph.order.isEmpty)
  }

  @Test func `do not begin, and do not react, when the phase closes right before`() async throws {
    final class Delegate: ApplicationDelegate {}
    let application = Application(delegate: Delegate(), configuration: .unhurried)
    let (gate, began) = (OneShot<Bool>(), OneShot<Bool>())
    let handling = application.bus.receive(Application.WillResignActive.self) { _ in _ = await gate.value }
    await application.handle(.launch)
    application.run(model, while: .active, onReturn: .shutDown(status: 3)) { model in
      model.lines.append("begins")
      began.settle(true)
    }
    // In the turn after the acquire, which makes the loop's task, and before that task.
    let leaving = TaskStarter().startOnMainActor { _ = await application.handle(.home) }
    await TaskStarter().startOnMainActor {}.value
    gate.settle(true)
    await leaving.value
    #expect(takeLines() == [] && application.state == .background)
    await application.handle(.open)
    _ = await began.value
    while application.state != .notRunning { await Task.yield() }
    #expect(takeLines() == ["begins"] && application.exitStatus == 3)
    withExtendedLifetime(handling) {}
  }

  // MARK: In a task of the caller's

  @Test func `the asynchronous form ends with its caller, after its body`() async throws {
    let connection = try manage("connection")
    let (application, clock, model) = (application, clock, model)
    let caller = TaskStarter(clock: clock).startOnMainActor {
      await application.run(while: .active, after: connection) { connection in
        model.lines.append("begins with \(connection)")
        try? await clock.sleep(for: .seconds(1_000_000))
        model.lines.append("ends")
      }
      model.lines.append("returns")
    }
    try await system.play("launch; wait:1m; home; open; wait:1m")
    #expect(
      takeLines() == [
        "+connection", "begins with connection1", "ends", "-connection", "+connection", "begins with connection2",
      ])
    caller.cancel()
    try await system.play("wait:1s")
    #expect(takeLines() == ["ends", "returns"] && application.manager.graph.order.count == 1)
    #expect(connection.status == .held)
  }

  @Test func `an error of the body ends it, a cancellation error of its own does not`() async throws {
    let connection = try manage("connection")
    let (application, model) = (application, model)
    var runs = 0
    let caller = TaskStarter(clock: clock).startOnMainActor {
      do {
        try await application.run(while: .active, after: connection) { _ in
          runs += 1
          if runs == 1 { throw CancellationError() }
          throw Failure()
        }
      } catch {
        model.lines.append("\(error is Failure)")
      }
    }
    try await system.play("launch; wait:1m")
    #expect(runs == 1)
    try await system.play("home; open; wait:1m")
    await caller.value
    #expect(runs == 2 && takeLines().last == "true")
  }

  // MARK: Owners that nothing else holds

  @Test func `an owner that is made for its run lives until the run has ended, and leaves nothing behind`()
    async throws
  {
    try await system.play("launch")
    let clock = clock
    let first = application.manager.nextIndex
    for round in 0..<100 {
      weak var client: Model?
      do {
        let made = Model()
        client = made
        application.run(made, while: .running, label: "client") { [model] client in
          try await clock.sleep(for: .seconds(1))
          model.lines.append("\(client.lines.count) lines in round \(round)")
        }
      }
      #expect(client != nil)
      try await system.play("wait:2s")
      #expect(client == nil)
      #expect(takeLines() == ["0 lines in round \(round)"])
    }
    #expect(application.manager.nextIndex <= first + 1)
  }

  @Test(
    arguments: [
      (LifecyclePhase.running, "launch", true), (.active, "launch", true), (.running, "launch:background", true),
      (.foreground, "launch:background; open", true), (.foreground, "launch:background; kill; launch", false),
      (.foreground, "launch:background; crash; launch", false),
    ], ["", "launch; kill", "launch; crash"])
  func `an owner that is made at the launch is kept until its body begins`(
    at launch: (phase: LifecyclePhase, script: String, begins: Bool), after before: String
  ) async throws {
    let (phase, script, begins) = launch
    try await system.play(before)
    weak var client: Model?
    var launches = 0
    let subscription = system.bus.subscribe(to: Application.DidFinishLaunching.self, once: true) { [model] event in
      launches += 1
      let made = Model()
      client = made
      event.application.run(made, while: phase) { [model] _ in model.lines.append("runs") }
    }
    try await system.play(script)
    withExtendedLifetime(subscription) {}
    #expect(launches == 1 && client == nil)
    #expect(takeLines() == (begins ? ["runs"] : []))
  }

  @Test func `an owner is not kept for a phase that is closed`() async throws {
    try await system.play("launch; home")
    weak var client: Model?
    do {
      let made = Model()
      client = made
      application.run(made, while: .foreground) { [model] _ in model.lines.append("runs") }
    }
    #expect(client == nil)
    try await system.play("open")
    #expect(takeLines() == [])
  }
}
