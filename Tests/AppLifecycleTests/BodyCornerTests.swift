import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Bodies that end, are cancelled or listen at an unlucky moment.
@MainActor @Suite(.timeLimit(.hang)) struct `Bodies in corners`: CornerSuite {
  let system = SimulatedSystem()
  let model = CornerModel()

  @Test func `a listening body has a deadline where no budget runs`() async throws {
    let clock = clock
    let application = application
    let a = try manage("a", while: .active)
    let body = TaskStarter(clock: clock).startOnMainActor {
      await application.run(while: .active) {
        at("begins")
        await withPhaseClosingHandler {
          try? await clock.sleep(for: .seconds(50_000))
        } onClose: {
        }
        at("ends")
      }
    }
    try await system.play("launch; wait:20s; interrupt:call; wait:30s")
    #expect(model.lines.contains { $0.hasPrefix("ends") }, "\(model.lines) \(a.status)")
    try await system.play("end:call; wait:30s")
    #expect(model.lines.filter { $0.hasPrefix("begins") }.count == 2, "\(model.lines) \(a.status)")
    body.cancel()
    await clock.settle()
  }

  /// That code is asked, too, also if it has begun to listen during the later run.
  @Test(arguments: [false, true])
  func `a body that runs again is cancelled, though code of an earlier run still listens`(late: Bool) async throws {
    struct Failure: Error {}
    let clock = clock
    var runs = 0
    application.run(model, while: .foreground, retry: RetryPolicy(first: .milliseconds(1))) { _ in
      runs += 1
      if runs == 1 {
        Task {
          if late { try await clock.sleep(for: .milliseconds(500)) }
          await phaseCloses()
          at("listener told")
        }
        await Task.yield()
        throw Failure()
      }
      defer { at("cancelled \(Task.isCancelled)") }
      try await clock.sleep(for: .seconds(3_600))
    }
    try await system.play("launch; wait:1s; home")
    #expect(model.lines.sorted() == ["cancelled true 1.0", "listener told 1.0"], "\(model.lines)")
  }

  @Test func `a body whose owner goes after its return is forgotten, though its phase stays open`() async throws {
    final class Owner {}
    try await system.play("launch")
    for _ in 0..<100 {
      let owner = Owner()
      application.run(owner, while: .running) { _ in }
      await clock.settle()
      withExtendedLifetime(owner) {}
    }
    #expect(application.manager.resources.compactMap(\.self).count <= 17)
  }

  @Test func `a handler of the close may cancel a body and await it`() async throws {
    let (clock, application) = (clock, application)
    let a = try manage("a", while: .active)
    let body = TaskStarter(clock: clock).startOnMainActor {
      try? await application.run(while: .active, after: a) { _ in
        try await clock.sleep(for: .seconds(50_000))
      }
      at("returned")
    }
    let subscription = system.bus.receive(Application.WillResignActive.self) { _ async in
      body.cancel()
      await body.value
      at("handler ended")
    }
    try await system.play("launch; wait:20s; interrupt:call; wait:30s")
    #expect(model.lines == ["+a 0.0", "returned 20.0", "handler ended 20.0", "-a 20.0"], "\(model.lines)")
    subscription.cancel()
  }

  @Test func `a cancelled caller cancels its body, also one that listens`() async throws {
    let (clock, application) = (clock, application)
    let a = try manage("a")
    let one = TaskStarter(clock: clock).startOnMainActor {
      await application.run(while: .foreground) {
        await withPhaseClosingHandler {
          try? await clock.sleep(for: .seconds(50_000))
        } onClose: {
        }
      }
      at("plain returned")
    }
    let two = TaskStarter(clock: clock).startOnMainActor {
      await application.run(while: .foreground, after: a) { _ in
        await withPhaseClosingHandler {
          try? await clock.sleep(for: .seconds(50_000))
        } onClose: {
        }
      }
      at("after returned")
    }
    try await system.play("launch; wait:20s")
    one.cancel()
    two.cancel()
    try await system.play("wait:1m")
    #expect(model.lines == ["+a 0.0", "plain returned 20.0", "after returned 20.0"], "\(model.lines)")
  }

  @Test func `a body that is late never runs twice at once`() async throws {
    let clock = clock
    let a = try manage("a")
    var running = 0
    var most = 0
    application.run(model, while: .active, after: a) { _, _ in
      running += 1
      most = max(most, running)
      await Task(executorPreference: clock.executor) { try? await clock.sleep(for: .seconds(60)) }.value
      running -= 1
    }
    try await system.play("launch; wait:20s; interrupt:call; wait:10s; end:call; wait:10s")
    #expect(most == 1, "bodies at once: \(most)")
  }

  @Test func `a caller that was cancelled beforehand has no body`() async throws {
    let (clock, application) = (clock, application)
    let a = try manage("a")
    try await system.play("launch; wait:20s")
    let task = TaskStarter(clock: clock).startOnMainActor {
      withUnsafeCurrentTask { $0?.cancel() }
      await application.run(while: .foreground, after: a) { _ in at("body") }
      at("returned")
    }
    await clock.settle()
    _ = task
    #expect(model.lines == ["+a 0.0", "returned 20.0"], "\(model.lines)")
    #expect(application.manager.graph.order.count == 1)
  }

  @Test func `a body is cancelled with the process, and its call goes on`() async throws {
    let (clock, application) = (clock, application)
    let a = try manage("a")
    let task = TaskStarter(clock: clock).startOnMainActor {
      await application.run(while: .foreground, after: a) { _ in
        at("body")
        try? await clock.sleep(for: .seconds(50_000))
        at("ended")
      }
      at("returned")
    }
    try await system.play("launch; wait:20s; home; suspend; kill; launch; wait:20s; interrupt:call")
    task.cancel()
    try await system.play("wait:20s")
    #expect(model.lines.last?.hasPrefix("returned") == true, "\(model.lines)")
  }

  @Test func `a body that returned has one entry in the ledger`() async throws {
    application.run(model, while: .active, label: "quick") { _ in }
    try await system.play("launch; wait:20s; home")
    let entries = application.ledger.entries.filter { $0.kind == .runBody }
    #expect(entries.count == 1, "\(entries)")
  }

  @Test func `a cancelled caller gets no error, whatever its form`() async throws {
    let (clock, application) = (clock, application)
    let a = try manage("a")
    let one = TaskStarter(clock: clock).startOnMainActor {
      do {
        try await application.run(while: .foreground) { try await clock.sleep(for: .seconds(50_000)) };
        at("plain returned")
      } catch { at("plain threw \(error)") }
    }
    let two = TaskStarter(clock: clock).startOnMainActor {
      do {
        try await application.run(while: .foreground, after: a) { _ in try await clock.sleep(for: .seconds(50_000)) };
        at("after returned")
      } catch { at("after threw \(error)") }
    }
    try await system.play("launch; wait:20s")
    one.cancel()
    two.cancel()
    await clock.settle()
    #expect(model.lines == ["+a 0.0", "plain returned 20.0", "after returned 20.0"], "\(model.lines)")
  }

  @Test func `every way to write a body compiles`() async throws {
    let application = application
    let a = try manage("a")
    let clock = clock
    func named(_ n: Int) async throws { try await clock.sleep(for: .seconds(1)) }
    func none() async throws { try await clock.sleep(for: .seconds(1)) }
    func quiet() async {}
    let tasks = [
      Task { try await application.run(while: .active) { try await none() } },
      Task { try await application.run(while: .active, none) },
      Task {
        try await application.run(while: .active) { () async throws -> Void in
          try await none(); try await none()
        }
      },
      Task { await application.run(while: .active, quiet) },
      Task { await application.run(while: .active, label: "x") { await quiet() } },
      Task { try await application.run(while: .active, after: a) { try await named($0) } },
      Task { try await application.run(while: .active, after: a, a, label: "two") { try await named($0 + $1) } },
    ]
    application.run(model, while: .active) { model in model.lines.append("x") }
    application.run(model, while: .active) { $0.lines.append("x") }
    application.run(model, while: .active, after: a) { model, n in model.lines.append("\(n)") }
    application.run(model, while: .active, after: a) { $0.lines.append("\($1)") }
    for task in tasks { task.cancel() }
  }

  @Test func `a return hurries a listening body that is yet to be asked`() async throws {
    let (clock, application) = (clock, application)
    system.application.enforcesBudgets = false
    let body = TaskStarter(clock: clock).startOnMainActor {
      await application.run(while: .foreground, label: "body") {
        await withPhaseClosingHandler {
          try? await clock.sleep(for: .seconds(50_000))
        } onClose: {
        }
        at("ends")
      }
    }
    let subscription = system.bus.receive(Application.DidEnterBackground.self) { _ async throws in
      do { try await clock.sleep(for: .seconds(2)) } catch { at("handler cancelled"); throw error }
    }
    try await system.play("launch; wait:20s")
    application.send(.home)
    application.send(.open)
    try await system.play("wait:1m")
    #expect(
      model.lines == ["handler cancelled 20.0", "ends 20.0"],
      "\(model.lines) \(system.record.filter { $0.kind == .report }.map(\.name))")
    subscription.cancel()
    body.cancel()
    await clock.settle()
  }

  @Test func `a call ends only when its body has, however late`() async throws {
    let (clock, application) = (clock, application)
    let a = try manage("a")
    let task = TaskStarter(clock: clock).startOnMainActor {
      await application.run(while: .foreground, after: a) { _ in
        await Task(executorPreference: clock.executor) { try? await clock.sleep(for: .seconds(60)) }.value
        at("body ended")
      }
      at("returned")
    }
    try await system.play("launch; wait:20s")
    task.cancel()
    try await system.play("wait:5m")
    #expect(model.lines == ["+a 0.0", "body ended 60.0", "returned 60.0"], "\(model.lines)")
  }
}
