import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Resources that break, end or are unmanaged at an unlucky moment.
@MainActor @Suite(.timeLimit(.hang)) struct `Resources in corners`: CornerSuite {
  let system = SimulatedSystem()
  let model = CornerModel()

  @Test func `a handler of its last change may manage another in its place`() async throws {
    let a = try manage("a")
    try await system.play("launch; wait:20s")
    var second: ManagedResource<Int>?
    let subscription = system.bus.subscribe(to: Application.ResourceDidChange.self) { event in
      if event.resource.name == "a", event.resource.status == .idle, second == nil { second = try? manage("b") }
    }
    try application.unmanage(a)
    await clock.settle()
    subscription.cancel()
    #expect(second?.status == .held, "\(application.resources) \(model.lines)")
  }

  @Test func `what is still released has no events under the name of its successor`() async throws {
    let clock = clock
    let first = try application.manage("a", while: .running) {
      1
    } release: { (_: Int) in
      try await clock.sleep(for: .seconds(2))
    }
    try await system.play("launch; wait:20s")
    try application.unmanage(first)
    try await system.play("wait:1s")
    var statuses: [ResourceStatus] = []
    let subscription = system.bus.subscribe(to: Application.ResourceDidChange.self) {
      statuses.append($0.resource.status)
    }
    let second = try manage("a")
    try await system.play("wait:1m")
    subscription.cancel()
    #expect(first.status == .idle && second.status == .held)
    #expect(statuses == [.acquiring, .held])
  }

  @Test func `an invalidation while the handlers of the close run is not lost`() async throws {
    let a = try manage("a", while: .active)
    let clock = clock
    let subscription = system.bus.receive(Application.WillResignActive.self) {
      _ async throws in
      try await clock.sleep(for: .seconds(2))
    }
    try await system.play("launch; wait:20s; interrupt:call")
    a.invalidate(because: CornerFailure())
    await clock.settle()
    try await system.play("end:call; wait:1m")
    #expect(model.lines == ["+a 0.0", "-a 20.0", "+a 20.0"], "\(model.lines)")
    a.invalidate(because: CornerFailure())
    try await system.play("wait:1m")
    #expect(a.current != 1, "for ever broken")
    subscription.cancel()
  }

  @Test func `nor is the end of a loop then`() async throws {
    let clock = clock
    var acquires = 0
    var loops = 0
    try application.manage("client", while: .active) {
      acquires += 1
    } run: {
      loops += 1
      defer { loops -= 1 }
      try await clock.sleep(for: .seconds(acquires == 1 ? 21 : 100_000))
    } release: { _ in
    }
    let subscription = system.bus.receive(Application.WillResignActive.self) {
      _ async throws in
      try await clock.sleep(for: .seconds(2))
    }
    try await system.play("launch; wait:20s; interrupt:call; wait:1500ms; end:call; wait:1m")
    #expect(acquires == 2 && loops == 1, "acquires \(acquires) loops \(loops) \(application.resources)")
    subscription.cancel()
  }

  @Test func `a release that no budget awaits has its deadline, also while one runs`() async throws {
    system.application.enforcesBudgets = false
    let clock = clock
    var n = 0
    let slow = try application.manage("slow", while: .running) {
      n += 1; at("+\(n)"); return n
    } release: { (_: Int) in
      do { try await clock.sleep(for: .seconds(3_600)); at("-") } catch { at("- cancelled"); throw error }
    }
    let subscription = system.bus.receive(Application.DidEnterBackground.self) { [slow] _ async throws in
      slow.invalidate(because: CornerFailure())
      try await clock.sleep(for: .seconds(1))
    }
    system.application.beginBackgroundMode()
    try await system.play("launch; wait:20s; home; wait:1m")
    #expect(slow.status == .held, "\(model.lines) \(slow.status)")
    subscription.cancel()
  }

  @Test func `a closed tab cancels its body and unmanages its resource in one turn`() async throws {
    let a = try manage("a")
    let clock = clock
    let run = application.run(model, while: .foreground, after: a) { _, _ in
      try await clock.sleep(for: .seconds(50_000))
    }
    try await system.play("launch; wait:20s")
    run.cancel()
    #expect(throws: Never.self) { try application.unmanage(a) }
  }

  @Test func `a body whose owner is gone keeps no resource managed`() async throws {
    let a = try manage("a")
    var owner: CornerModel? = CornerModel()
    application.run(owner!, while: .foreground, after: a) { _, _ in }
    try await system.play("launch; wait:20s")
    owner = nil
    await clock.settle()
    #expect(throws: Never.self) { try application.unmanage(a) }
    try await system.play("wait:1h")
    #expect(application.manager.graph.order.count <= 1)
  }

  @Test func `what waits for all to be held waits for no more than that, with run loops too`() async throws {
    let (clock, application) = (clock, application)
    try application.manage("client", while: .running) {
    } run: {
      try await clock.sleep(for: .seconds(50_000))
    } release: { _ in
    }
    var isHeld = false
    try await system.play("launch")
    try application.manage("client2", while: .running) {
      try await clock.sleep(for: .seconds(1))
    } run: {
      try await clock.sleep(for: .seconds(50_000))
    } release: { _ in
    }
    TaskStarter(clock: clock).startOnMainActor {
      await application.untilResourcesAreHeld(); isHeld = true
    }
    try await system.play("wait:1m")
    #expect(application.resources.allSatisfy { $0.status == .held })
    #expect(isHeld)
  }

  @Test func `nor for a resource that is no longer managed`() async throws {
    let (clock, application) = (clock, application)
    let policy = RetryPolicy(first: .seconds(86_400), longest: .seconds(86_400))
    let a = try application.manage("a", while: .running, retry: policy) {
      throw CornerFailure()
    } release: { (_: Void) in
    }
    var isHeld = false
    try await system.play("launch; wait:1s")
    TaskStarter(clock: clock).startOnMainActor {
      await application.untilResourcesAreHeld(); isHeld = true
    }
    try await system.play("wait:1s")
    #expect(!isHeld)
    try application.unmanage(a)
    try await system.play("wait:1m")
    #expect(isHeld)
  }

  @Test func `unmanaged inside a handler of the close, it is released at once`() async throws {
    let clock = clock
    let application = application
    let a = try manage("a", while: .active)
    let subscription = system.bus.receive(Application.WillResignActive.self) {
      _ async throws in
      try application.unmanage(a)
      try await clock.sleep(for: .seconds(2))
    }
    try await system.play("launch; wait:20s; interrupt:call; wait:30s")
    #expect(model.lines == ["+a 0.0", "-a 20.0"], "\(model.lines)")
    subscription.cancel()
  }

  @Test func `nothing of a loop reaches what its invalidation starts`() async throws {
    let (clock, application) = (clock, application)
    var n = 0
    var seen: [String] = []
    try application.manage("a", while: .foreground) {
      n += 1
    } run: {
      try await clock.sleep(for: .seconds(20))
      if n == 1 { ResourceLease.current?.invalidate(because: CornerFailure()) }
      try await clock.sleep(for: .seconds(20_000))
    } release: { _ in
      seen.append("release closing \(PhaseClosing.present != nil)")
    }
    var reports: [TransitionReport.Outcome] = []
    let subscription = system.bus.subscribe(to: Application.ResourceDidChange.self) { event in
      guard event.resource.name == "a", event.resource.status == .releasing else { return }
      seen.append("event lease \(ResourceLease.current != nil) closing \(PhaseClosing.present != nil)")
      TaskStarter(clock: clock).startOnMainActor { reports.append(await application.handle(.memoryWarning).outcome) }
    }
    try manage("b", after: ["a"])
    try application.manage("c", while: .foreground, after: ["b"]) {
      seen.append("acquire c closing \(PhaseClosing.present != nil)")
    } release: { _ in
    }
    try await system.play("launch; wait:30s; wait:30s")
    subscription.cancel()
    #expect(!seen.contains { $0.hasSuffix("true") || $0.contains("lease true") }, "\(seen)")
    #expect(reports == [.completed], "\(reports)")
  }

  @Test func `the release of what is unmanaged is not cut short by an opening`() async throws {
    let clock = clock
    let a = try application.manage("a", while: .active) {
      1
    } release: { (_: Int) in
      do { try await clock.sleep(for: .seconds(3)); at("released") } catch { at("cancelled") }
    }
    try await system.play("launch; wait:20s")
    try application.unmanage(a)
    try await system.play("interrupt:call; wait:1s; end:call; wait:10s")
    #expect(model.lines == ["released 23.0"], "\(model.lines)")
  }

  @Test func `the exit status of one process is not that of the next`() async throws {
    try await system.play("launch")
    application.shutDown(status: 7)
    try await system.play("wait:1s")
    #expect(application.exitStatus == 7 && application.state == .notRunning)
    try await system.play("launch; wait:1s; kill")
    #expect(application.exitStatus == 0)
  }

  @Test func `independent dependents are released in reverse order of registration`() async throws {
    // b and c depend on a, and d on b.
    let a = try manage("a")
    try manage("b", after: ["a"])
    try manage("d", after: ["b"])
    try manage("c", after: ["a"])
    try await system.play("launch; wait:20s")
    model.lines = []
    try await system.play("home; open; wait:20s")
    let closing = model.lines.filter { $0.hasPrefix("-") }.map { $0.prefix(2) }
    model.lines = []
    a.invalidate(because: CornerFailure())
    await clock.settle()
    let breaking = model.lines.filter { $0.hasPrefix("-") }.map { $0.prefix(2) }
    #expect(closing == breaking)
  }

  @Test func `a loop that returns at once is never begun again at once`() async throws {
    var policy = RetryPolicy()
    policy.resetAfter = .zero
    var n = 0
    let clock = clock
    try application.manage("a", while: .foreground, retry: policy) {
      n += 1
    } run: {
      if n > 2_000 { try await clock.sleep(for: .seconds(100_000)) }
    } release: { _ in
    }
    try await system.play("launch; wait:1m")
    #expect(n < 1_000, "acquired \(n) times in a minute of its time")
  }

  @Test func `a release that has not begun is cut short as well`() async throws {
    let clock = clock
    var n = 0
    let slow = try application.manage("slow", while: .active) {
      n += 1; return n
    } release: { (_: Int) in
      do { try await clock.sleep(for: .seconds(3_600)) } catch { at("cut"); throw error }
    }
    try await system.play("launch; wait:20s")
    application.send(.beginInterruption(.call))
    application.send(.endInterruption(.call))
    await clock.settle()
    #expect(slow.status == .held && model.lines == ["cut 20.0"], "\(slow.status) \(model.lines)")
  }

  @Test func `loops that end while their dependents are released end once`() async throws {
    let clock = clock
    // A loop that ends by itself while its dependents are released.
    var n = 0
    try application.manage("a", while: .foreground) {
      n += 1; at("+a")
    } run: {
      try await clock.sleep(for: .seconds(n == 1 ? 20 : 50_000))
    } release: { _ in
      at("-a")
    }
    try application.manage("b", while: .foreground, after: ["a"]) {
      at("+b")
    } run: {
      try await clock.sleep(for: .seconds(n == 1 ? 21 : 50_000))
    } release: { _ in
      at("-b")
    }
    try application.manage("c", while: .foreground, after: ["b"]) {
      at("+c")
    } release: { _ in
      try await clock.sleep(for: .seconds(3)); at("-c")
    }
    try await system.play("launch; wait:1m")
    #expect(application.resources.allSatisfy { $0.status == .held }, "\(model.lines) \(application.resources)")
    let invalidations = application.ledger.entries.filter { $0.step == "invalidate" }.map(\.name)
    #expect(invalidations == ["a", "b"])
    #expect(model.lines.filter { $0.hasPrefix("-") }.map { $0.prefix(2) } == ["-c", "-b", "-a"])
  }

  @Test func `registered by a delegate as it is made belongs to its process`() async throws {
    var errors: [ResourceError] = []
    let system = SimulatedSystem { RegisteringDelegate { errors.append($0) } }
    try await system.play("launch; kill; launch; kill; launch")
    #expect(errors.isEmpty && system.application.resources.map(\.name) == ["cache"])
  }
}

/// Registers a resource when it is made; for the first process there is no application then.
@MainActor private final class RegisteringDelegate: ApplicationDelegate {
  init(_ refused: (ResourceError) -> Void) {
    do throws(ResourceError) {
      _ = try Application.current?.manage("cache", while: .running) {}
    } catch { refused(error) }
  }
}
