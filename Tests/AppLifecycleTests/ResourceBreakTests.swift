import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import AppLifecycle

/// What happens when a resource breaks while it is held.
@MainActor @Suite(.timeLimit(.hang)) struct `Resources that break` {
  private struct Failure: Error, CustomStringConvertible {
    var description: String { "connection reset" }
  }

  private let system: SimulatedSystem
  private var application: Application { system.application }
  private let world = World()

  /// What was acquired and released, in order, with the seconds on the simulated clock.
  @MainActor private final class World {
    var lines: [String] = []
    /// How often each is still to fail.
    var failures: [String: Int] = [:]
    var resources: [String: ManagedResource<Int>] = [:]
    var leases: [String: [ResourceLease]] = [:]
  }

  init() {
    var configuration = Application.Configuration()
    configuration.retry.jitter = 0
    system = SimulatedSystem(configuration: configuration)
  }

  private var seconds: Double { Double(system.clock.now.offset / .milliseconds(1)) / 1000 }

  private func write(_ text: String) { world.lines.append("\(text) \(seconds)") }

  private func takeLines() -> [String] {
    defer { world.lines = [] }
    return world.lines
  }

  @discardableResult
  private func manage(
    _ name: String, while phase: LifecyclePhase = .foreground, after dependencies: [String] = [],
    retry: RetryPolicy? = nil
  ) throws -> ManagedResource<Int> {
    var number = 0
    let resource = try application.manage(name, while: phase, after: dependencies, retry: retry) {
      world.leases[name, default: []].append(try #require(ResourceLease.current))
      if world.failures[name, default: 0] > 0 {
        world.failures[name]! -= 1
        throw Failure()
      }
      number += 1
      write("+\(name)")
      return number
    } release: { _ in
      write("-\(name)")
    }
    world.resources[name] = resource
    return resource
  }

  /// d depends on c, that on b, that on a.
  private func manageChain() throws {
    try manage("a")
    try manage("b", after: ["a"])
    try manage("c", after: ["b"])
    try manage("d", after: ["c"])
  }

  private func invalidate(_ name: String) async {
    world.resources[name]?.invalidate(because: Failure())
    await system.clock.settle()
  }

  // MARK: Order

  @Test func `dependents are released in reverse, then it, and all is acquired again in order`() async throws {
    try manageChain()
    try manage("other")
    try await system.play("launch; wait:20s")
    #expect(takeLines() == ["+a 0.0", "+other 0.0", "+b 0.0", "+c 0.0", "+d 0.0"])
    await invalidate("b")
    #expect(takeLines() == ["-d 20.0", "-c 20.0", "-b 20.0", "+b 20.0", "+c 20.0", "+d 20.0"])
    #expect(application.resources.map(\.status) == Array(repeating: .held, count: 5))
    #expect(application.resources[1].lastError == "connection reset")
    #expect(world.resources["b"]?.current == 2 && world.resources["a"]?.current == 1)
    let entries = application.ledger.entries.map { "\($0.name) \($0.step) \($0.outcome)" }
    #expect(
      entries.suffix(7) == [
        "b invalidate failed(\"connection reset\")", "d release completed", "c release completed",
        "b release completed",
        "b acquire completed", "c acquire completed", "d acquire completed",
      ])
  }

  @Test func `what waits for a broken resource says so`() async throws {
    try manageChain()
    try await system.play("launch; wait:20s")
    world.failures["b"] = .max
    await invalidate("b")
    #expect(
      application.resources.map(\.status) == [
        .held, .retrying(failures: 1), .waiting(for: "b"), .waiting(for: "c"),
      ])
    world.failures["b"] = 0
    try await system.play("wait:1s")
    #expect(application.resources.allSatisfy { $0.status == .held })
    try await system.play("home")
    #expect(takeLines().suffix(4) == ["-d 21.0", "-c 21.0", "-b 21.0", "-a 21.0"])
  }

  // MARK: Again and again

  @Test func `one that breaks soon waits longer each time, one that was held for long begins a new row`() async throws {
    try manage("a")
    try await system.play("launch; wait:1s")
    await invalidate("a")
    #expect(application.resources[0].status == .retrying(failures: 1))
    try await system.play("wait:1s")
    await invalidate("a")
    #expect(application.resources[0].status == .retrying(failures: 2))
    world.failures["a"] = 1
    try await system.play("wait:600ms")
    #expect(application.resources[0].status == .retrying(failures: 3), "failed acquires and breaks count together")
    try await system.play("wait:11s")
    #expect(application.resources[0].status == .held && application.resources[0].failures == 0)
    _ = takeLines()
    await invalidate("a")
    #expect(takeLines() == ["-a 13.6", "+a 13.6"], "at once, after ten seconds")
  }

  @Test(arguments: [-1, 0, 2]) func `after its last retry it is given up`(maximum: Int) async throws {
    var policy = RetryPolicy()
    policy.maximumRetries = maximum
    world.failures["a"] = .max
    let resource = try manage("a", retry: policy)
    try manage("b", after: ["a"])
    var changes: [ResourceStatus] = []
    let subscription = system.bus.subscribe(to: Application.ResourceDidChange.self) {
      changes.append($0.resource.status)
    }
    try await system.play("launch; wait:1h")
    let failures = max(maximum, 0) + 1
    #expect(world.leases["a"]?.count == failures)
    #expect(application.resources.map(\.status) == [.failed(failures: failures), .waiting(for: "a")])
    #expect(application.resources[0].failures == failures && application.resources[0].lastError == "connection reset")
    #expect(changes.filter { $0 == .failed(failures: failures) }.count == 1)
    // A way to try again: a new row of failures.
    resource.retry()
    try await system.play("wait:1h")
    #expect(world.leases["a"]?.count == 2 * failures)
    world.failures["a"] = 0
    resource.retry()
    await system.clock.settle()
    #expect(application.resources.map(\.status) == [.held, .held])
    // So does the next opening of its phase.
    world.failures["a"] = .max
    try await system.play("home; open; wait:1h")
    #expect(application.resources[0].status == .failed(failures: failures))
    world.failures["a"] = 0
    try await system.play("home; open")
    #expect(application.resources.map(\.status) == [.held, .held])
    subscription.cancel()
  }

  @Test func `the return of a dependency tries again what was given up`() async throws {
    var policy = RetryPolicy()
    policy.maximumRetries = 0
    try manage("a")
    world.failures["b"] = 1
    try manage("b", after: ["a"], retry: policy)
    try await system.play("launch; wait:1m")
    #expect(application.resources.map(\.status) == [.held, .failed(failures: 1)])
    await invalidate("a")
    #expect(application.resources.map(\.status) == [.held, .held])
  }

  @Test func `retry does not wait any longer`() async throws {
    world.failures["a"] = 3
    let resource = try manage("a")
    try await system.play("launch; wait:300ms")
    #expect(resource.status == .retrying(failures: 2))
    resource.retry()
    await system.clock.settle()
    #expect(resource.status == .retrying(failures: 3))
    resource.retry()
    await system.clock.settle()
    #expect(resource.status == .held)
    // No effect on one that is held; and nothing of the former waits is left.
    resource.retry()
    try await system.play("wait:1h")
    #expect(world.leases["a"]?.count == 4 && takeLines() == ["+a 0.3"])
  }

  // MARK: Bad input

  @Test func `what is not held cannot break, nor twice, nor while it is released`() async throws {
    let resource = try manage("a")
    resource.invalidate(because: Failure())
    try await system.play("launch; wait:1m")
    #expect(takeLines() == ["+a 0.0"])
    resource.invalidate(because: Failure())
    resource.invalidate(because: Failure())
    await system.clock.settle()
    #expect(takeLines() == ["-a 60.0", "+a 60.0"])
    try await system.play("home")
    resource.invalidate(because: Failure())
    try await system.play("open; wait:1m")
    #expect(takeLines() == ["-a 60.0", "+a 60.0"])
    var own: ManagedResource<Int>?
    own = try application.manage("own", while: .foreground) {
      1
    } release: { _ in
      own?.invalidate(because: Failure())
    }
    await invalidate("a")
    try await system.play("wait:1m; home; wait:1m; open")
    #expect(own?.status == .held)
    #expect(application.ledger.entries.filter { $0.name == "own" && $0.step == "invalidate" }.isEmpty)
  }

  /// A broken resource stays held until its dependents are released; what its code says meanwhile is no further break.
  @Test func `a break is noted once, also after a declaration that nothing waits for`() async throws {
    try manage("a")
    try manage("b", after: ["a"])
    try await system.play("launch; wait:1m")
    let lease = try #require(world.leases["a"]?.last)
    lease.declareReady()
    lease.invalidate(because: Failure())
    try await system.play("wait:1m")
    #expect(takeLines().suffix(4) == ["-b 60.0", "-a 60.0", "+a 60.0", "+b 60.0"])
    #expect(application.ledger.entries.count { $0.name == "a" && $0.step == "invalidate" } == 1)
  }

  @Test func `a late callback of an old connection leaves the new one alone`() async throws {
    try manage("a")
    try await system.play("launch; wait:1m")
    let old = try #require(world.leases["a"]?.first)
    #expect(old.isValid)
    old.invalidate(because: Failure())
    #expect(!old.isValid)
    await system.clock.settle()
    #expect(takeLines() == ["+a 0.0", "-a 60.0", "+a 60.0"])
    old.invalidate(because: Failure())
    try await system.play("wait:1m")
    #expect(takeLines() == [] && world.leases["a"]?.last?.isValid == true)
    #expect(ResourceLease.current == nil)
  }

  @Test func `one that breaks before its acquire has returned is released as soon as it has`() async throws {
    let clock = system.clock
    var acquires = 0
    let resource = try application.manage("a", while: .foreground) {
      acquires += 1
      if acquires == 1 { ResourceLease.current?.invalidate(because: Failure()) }
      try await clock.sleep(for: .seconds(1))
      write("+a")
    } release: { _ in
      write("-a")
    }
    try manage("b", after: ["a"])
    try await system.play("launch; wait:1h")
    #expect(takeLines() == ["+a 1.0", "-a 1.0", "+a 2.25", "+b 2.25"])
    #expect(resource.status == .held && acquires == 2)
  }

  @Test func `a phase that closes in the middle of it releases everything once`() async throws {
    let clock = system.clock
    try manage("a")
    try application.manage("b", while: .foreground, after: ["a"]) {
      write("+b")
    } release: { _ in
      try await clock.sleep(for: .seconds(1))
      write("-b")
    }
    try await system.play("launch; wait:1m")
    await invalidate("a")
    try await system.play("home; wait:1m; open; wait:1m")
    #expect(takeLines() == ["+a 0.0", "+b 0.0", "-b 61.0", "-a 61.0", "+a 121.0", "+b 121.0"])
  }

  // MARK: No longer managed

  @Test func `what others depend on cannot be unmanaged, and they are named`() async throws {
    try manageChain()
    let b = try #require(world.resources["b"])
    #expect(throws: ResourceError.neededBy(["c"], "b")) { try application.unmanage(b) }
    #expect(ResourceError.neededBy(["c", "x"], "b").description == "“b” is needed by “c”, “x”")
    try await system.play("launch")
    _ = takeLines()
    for name in ["d", "c", "b"] { try application.unmanage(try #require(world.resources[name])) }
    #expect(application.resources.map(\.name) == ["a"])
    await system.clock.settle()
    #expect(takeLines() == ["-d 0.0", "-c 0.0", "-b 0.0"])
    #expect(b.status == .idle && b.current == nil)
    // The second time, and what was its own, have no effect.
    try application.unmanage(b)
    b.invalidate(because: Failure())
    b.retry()
    await system.clock.settle()
    #expect(takeLines() == [])
    #expect(throws: ResourceError.unknownDependency("b", of: "late")) {
      try application.manage("late", while: .running, after: b) { _ in
      } release: { _ in
      }
    }
  }

  @Test func `its name is free at once, and its successor does not wait`() async throws {
    try manage("a")
    try await system.play("launch")
    for _ in 0..<100 {
      try application.unmanage(try #require(world.resources["a"]))
      try manage("a")
      await system.clock.settle()
      #expect(application.resources.map(\.status) == [.held])
    }
    let lines = takeLines()
    #expect(lines.filter { $0.hasPrefix("+") }.count == 101 && lines.filter { $0.hasPrefix("-") }.count == 100)
    #expect(application.manager.resources.count <= 2, "places are used again")
  }

  @Test func `unmanaged while it is acquired, it is cancelled, and released if it succeeds all the same`() async throws
  {
    let clock = system.clock
    let stubborn = try application.manage("stubborn", while: .running) {
      try? await clock.sleep(for: .seconds(1))
      write("+stubborn")
    } release: { _ in
      write("-stubborn")
    }
    world.failures["failing"] = .max
    let failing = try manage("failing")
    try await system.play("launch")
    try application.unmanage(stubborn)
    try application.unmanage(failing)
    try await system.play("wait:1h")
    #expect(takeLines() == ["+stubborn 0.0", "-stubborn 0.0"] && application.resources == [])
    #expect(world.leases["failing"]?.count == 1)
  }
}
