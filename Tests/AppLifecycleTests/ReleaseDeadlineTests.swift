import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import AppLifecycle

/// Releases that take too long, on the simulator and on an application that a real host drives.
@MainActor @Suite(.timeLimit(.hang)) struct `The deadline of a release` {
  @MainActor private final class World {
    var lines: [String] = []
    /// Whether the release sleeps for an hour.
    var isSlow = true
  }

  /// A simulated system, or one that goes on after an overrun, as real hosts do.
  private func system(goesOn: Bool) -> SimulatedSystem {
    let system = SimulatedSystem()
    system.application.enforcesBudgets = !goesOn
    return system
  }

  @discardableResult
  private func manageSlow(_ system: SimulatedSystem, while phase: LifecyclePhase, _ world: World) throws
    -> ManagedResource<Int>
  {
    let clock = system.clock
    var acquires = 0
    return try system.application.manage("slow", while: phase) {
      acquires += 1
      world.lines.append("+\(acquires)")
      return acquires
    } release: { number in
      do {
        if world.isSlow { try await clock.sleep(for: .seconds(3_600)) }
        world.lines.append("-\(number)")
      } catch {
        world.lines.append("-\(number) cancelled at \(Int(clock.now.offset / .seconds(1)))")
        throw error
      }
    }
  }

  private func reports(_ system: SimulatedSystem) -> [String] {
    system.record.filter { $0.kind == .report }.map(\.name)
  }

  @Test func `is the end of the budget, and the next foreground holds the resource again`() async throws {
    let (system, world) = (system(goesOn: true), World())
    let slow = try manageSlow(system, while: .foreground, world)
    try await system.play("launch; home; wait:1m")
    #expect(world.lines == ["+1", "-1 cancelled at 5"])
    #expect(reports(system) == ["watchdog:slow"])
    #expect(slow.status == .idle)
    let entry = try #require(system.application.ledger.entries.last { $0.step == "release" })
    #expect(entry.outcome == .overran && entry.duration == .seconds(5))
    try await system.play("open")
    #expect(slow.status == .held && slow.current == 2)
  }

  @Test func `on a simulated device it is the end of the process, which begins anew`() async throws {
    let (system, world) = (system(goesOn: false), World())
    let slow = try manageSlow(system, while: .foreground, world)
    try await system.play("launch; home; wait:1m; open")
    #expect(reports(system) == ["watchdog:slow"])
    #expect(slow.status == .held && slow.current == 2)
  }

  @Test(arguments: [true, false])
  func `without a budget it is that of a didEnterBackground`(goesOn: Bool) async throws {
    let (system, world) = (system(goesOn: goesOn), World())
    let slow = try manageSlow(system, while: .active, world)
    try await system.play("launch; interrupt:call; wait:1m")
    #expect(system.application.state == .inactive)
    #expect(world.lines == ["+1", "-1 cancelled at 5"] && slow.status == .idle)
    #expect(reports(system) == ["watchdog:slow"])
    #expect(system.application.ledger.overruns.map(\.culprits) == [["slow"]])
    try await system.play("end:call")
    #expect(slow.status == .held && slow.current == 2)
  }

  @Test func `comes earlier for one that is wanted again`() async throws {
    let (system, world) = (system(goesOn: false), World())
    let slow = try manageSlow(system, while: .active, world)
    try await system.play("launch; interrupt:call; wait:2s; end:call")
    #expect(world.lines == ["+1", "-1 cancelled at 2", "+2"] && slow.status == .held)
    #expect(reports(system) == [])
    let entry = try #require(system.application.ledger.entries.last { $0.step == "release" })
    #expect(entry.outcome == .cancelled)
  }

  @Test func `a budget that begins meanwhile takes over`() async throws {
    let (system, world) = (system(goesOn: true), World())
    try manageSlow(system, while: .active, world)
    try await system.play("launch; interrupt:call; wait:4s; home; wait:1m")
    // Named once, when the budget of didEnterBackground has passed: it began after four seconds.
    #expect(world.lines == ["+1", "-1 cancelled at 9"])
    #expect(reports(system) == ["watchdog:slow"])
  }

  @Test func `holds for a release after an invalidation, and what it leads to goes on`() async throws {
    struct Failure: Error {}
    let (system, world) = (system(goesOn: false), World())
    let slow = try manageSlow(system, while: .running, world)
    try system.application.manage("view", while: .foreground, after: slow) {
      world.lines.append("view of \($0)")
    } release: {
    }
    try await system.play("launch; wait:1m")
    slow.invalidate(because: Failure())
    try await system.play("wait:4s")
    #expect(slow.status == .releasing && slow.current == nil)
    try await system.play("wait:2s")
    #expect(world.lines == ["+1", "view of 1", "-1 cancelled at 65", "+2", "view of 2"])
    #expect(reports(system) == ["watchdog:slow"])
    // The words name the release: the application did not enter the background.
    #expect(system.application.ledger.overruns.map(\.description) == ["release of slow overran its 5 s"])
    #expect(system.record.last { $0.kind == .report }?.cause.rawValue == "wait:2s")
    // And the process goes on: no budget was overrun that the system knows of.
    #expect(system.application.state == .active)
  }

  @Test func `one that ignores its cancellation is waited for by its own next acquire alone`() async throws {
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    let system = system(goesOn: true)
    let (application, clock) = (system.application, system.clock)
    var lines: [String] = []
    try application.manage("base", while: .foreground) {
      lines.append("+base")
    } release: {
      lines.append("-base")
    }
    let stuck = try application.manage("stuck", while: .foreground, after: ["base"]) {
      lines.append("+stuck")
    } release: {
      await Task { for await _ in gate {} }.value
      lines.append("-stuck")
    }
    try application.manage("free", while: .foreground) {
      lines.append("+free")
    } release: {
      lines.append("-free")
    }
    try await system.play("launch; home; open; wait:1h")
    #expect(lines == ["+base", "+free", "+stuck", "-free", "-base", "+base", "+free"])
    #expect(stuck.status == .releasing)
    opener.finish()
    while stuck.status != .held { await clock.settle() }
    #expect(lines.suffix(2) == ["-stuck", "+stuck"])
  }

  /// An acquire that does not heed its cancellation holds what it depends on: it is named at the deadline, once.
  @Test(arguments: [true, false])
  func `is that of an acquire that was cancelled, too`(succeeds: Bool) async throws {
    struct Failure: Error {}
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    let (system, world) = (system(goesOn: true), World())
    let (application, clock) = (system.application, system.clock)
    let base = try application.manage("base", while: .running) {
      world.lines.append("+base")
    } release: {
      world.lines.append("-base")
    }
    var isStuck = true
    let stuck = try application.manage("stuck", while: .running, after: base) { _ in
      world.lines.append("+stuck")
      if isStuck { await Task { for await _ in gate {} }.value }
      isStuck = false
      if !succeeds { try Task.checkCancellation() }
    } release: {
      world.lines.append("-stuck")
    }
    try await system.play("launch; wait:1m")
    #expect(stuck.status == .acquiring && reports(system) == [])
    base.invalidate(because: Failure())
    try await system.play("wait:4s")
    #expect(base.status == .held && reports(system) == [])
    try await system.play("wait:1m")
    #expect(base.status == .held && reports(system) == ["watchdog:stuck"])
    let entry = try #require(application.ledger.entries.last { $0.name == "stuck" })
    #expect(entry.step == "acquire" && entry.outcome == .overran)
    #expect(application.ledger.transitions.contains { "\($0)".contains("; acquire of stuck overran its 5 s;") })
    #expect(system.record.last { $0.kind == .report }?.cause.rawValue == "wait:1m")
    opener.finish()
    while stuck.status != .held { await clock.settle() }
    let between = succeeds ? ["-stuck"] : []
    #expect(world.lines == ["+base", "+stuck"] + between + ["-base", "+base", "+stuck"])
    try await system.play("wait:1h")
    #expect(reports(system) == ["watchdog:stuck"])
  }

  @Test func `an acquire that heeds its cancellation is not named`() async throws {
    struct Failure: Error {}
    let (system, world) = (system(goesOn: true), World())
    let (application, clock) = (system.application, system.clock)
    let base = try application.manage("base", while: .running) {
    } release: {
    }
    try application.manage("slow", while: .running, after: base) { _ in
      world.lines.append("+slow")
      if world.isSlow { try await clock.sleep(for: .seconds(3_600)) }
    } release: {
      world.lines.append("-slow")
    }
    try await system.play("launch; wait:1m")
    world.isSlow = false
    base.invalidate(because: Failure())
    try await system.play("wait:1h")
    #expect(world.lines == ["+slow", "+slow"] && reports(system) == [])
  }
}
