import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Late operations of a tear-down that goes on without them, as on a real host.
@MainActor @Suite(.timeLimit(.hang)) struct `An operation that a tear-down has given up` {
  @MainActor private final class Notes {
    let clock: ManualClock
    var lines: [String] = []
    init(_ clock: ManualClock) { self.clock = clock }
    func callAsFunction(_ line: String) { lines.append("\(line) at \(clock.now.offset / .seconds(1))") }
  }

  private final class Delegate: ApplicationDelegate {}

  private let clock = ManualClock()
  private let application: Application
  private let notes: Notes

  init() {
    application = Application(delegate: Delegate(), clock: clock)
    notes = Notes(clock)
  }

  @discardableResult
  private func handle(_ input: SystemInput) async -> TransitionReport {
    let application = application
    return await clock.running { await application.handle(input) }
  }

  /// Lets time pass.
  private func wait(_ seconds: Double) async {
    let clock = clock
    await clock.running { try? await clock.sleep(for: .seconds(seconds)) }
    await clock.settle()
  }

  /// Manages a resource whose acquire and release take some seconds, and ignore a cancellation.
  @discardableResult
  private func manage(
    _ name: String, while phase: LifecyclePhase, after dependencies: [String] = [], acquire: Double = 0,
    release: Double = 0
  ) throws -> ManagedResource<Int> {
    var acquires = 0
    return try application.manage(name, while: phase, after: dependencies) { [notes, clock] in
      acquires += 1
      let number = acquires
      notes("+\(name) \(number)")
      // Only the first acquire and the first release are slow.
      if acquire > 0, number == 1 { await deaf(acquire, clock) }
      return number
    } release: { [notes, clock] number in
      if release > 0, number == 1 { await deaf(release, clock) }
      notes("-\(name) \(number)")
    }
  }

  // MARK: The next step

  /// The late release ends before the release of its dependency, during it, or never.
  @Test(arguments: [5.5, 6.5, 3_600])
  func `lets its dependency be released by the next step, within the budget of that step`(late: Double) async throws {
    let database = try manage("database", while: .running, release: 2)
    let feed = try manage("feed", while: .foreground, after: ["database"], release: late)
    await handle(.launch)
    #expect(feed.status == .held)
    let report = await handle(.shutDown)
    #expect(database.status == .idle && notes.lines.contains("-database 1 at 7.0"), "\(notes.lines)")
    #expect(report.duration == .seconds(7))
    #expect(report.overruns.map(\.culprits) == [["feed"]])
    #expect(feed.status == (late < 7 ? .idle : .releasing))
  }

  @Test func `lets its dependency be released by the next step, also where it ends when it is cancelled`()
    async throws
  {
    let database = try manage("database", while: .running, release: 2)
    let feed = try application.manage("feed", while: .foreground, after: database) {
      $0
    } release: { [clock, notes] _ in
      do { try await clock.sleep(for: .seconds(3_600)) } catch { notes("feed cancelled") }
    }
    await handle(.launch)
    let report = await handle(.shutDown)
    #expect(database.status == .idle && feed.status == .idle)
    #expect(notes.lines == ["+database 1 at 0.0", "feed cancelled at 5.0", "-database 1 at 7.0"])
    #expect(report.duration == .seconds(7) && report.stragglers == ["feed"])
  }

  @Test func `that throws then is in the ledger twice: as late, and with its error`() async throws {
    struct Failure: Error {}
    try application.manage("feed", while: .foreground) {
    } release: { [clock] in
      await deaf(6, clock)
      throw Failure()
    }
    await handle(.launch)
    await handle(.home)
    await wait(2)
    let entries = application.ledger.entries.filter { $0.name == "feed" && $0.step == "release" }
    #expect(entries.map(\.outcome) == [.overran, .failed("Failure()")])
    #expect(entries.map(\.duration) == [.seconds(5), .seconds(6)])
  }

  @Test func `lets a chain be released in order, across the steps`() async throws {
    let database = try manage("database", while: .running, release: 1)
    let session = try manage("session", while: .foreground, after: ["database"], release: 1)
    let feed = try manage("feed", while: .foreground, after: ["session"], release: 3_600)
    await handle(.launch)
    let report = await handle(.shutDown)
    #expect(notes.lines.suffix(2) == ["-session 1 at 6.0", "-database 1 at 7.0"])
    #expect(database.status == .idle && session.status == .idle && feed.status == .releasing)
    #expect(report.duration == .seconds(7) && report.stragglers == ["feed"])
  }

  @Test func `is named in each step where another is late, and the rest is released after the last budget`()
    async throws
  {
    let database = try manage("database", while: .running, release: 1)
    try manage("session", while: .running, after: ["database"], release: 3_600)
    try manage("feed", while: .foreground, after: ["session"], release: 3_600)
    await handle(.launch)
    let report = await handle(.shutDown)
    #expect(report.duration == .seconds(10))
    #expect(report.overruns.map(\.culprits) == [["feed"], ["session"]])
    // No step follows that could await it; it has begun nevertheless.
    await clock.settle()
    #expect(database.status == .releasing)
    await wait(1)
    #expect(database.status == .idle)
  }

  /// On a real clock, without a simulation: in the next step the dependency is awaited; after the last one, what does not
  /// suspend is still done before the process ends.
  @Test(arguments: [LifecyclePhase.foreground, .running])
  func `lets its dependency be released on a real clock`(phase: LifecyclePhase) async throws {
    var configuration = Application.Configuration()
    configuration.didEnterBackgroundBudget = .milliseconds(50)
    // Long where the database has to be awaited, whatever else the machine does.
    configuration.willTerminateBudget = phase == .foreground ? .seconds(60) : .milliseconds(50)
    let real = Application(delegate: Delegate(), configuration: configuration)
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    let database = try real.manage("database", while: .running) {
    } release: {
      // It suspends, where there is a next step to await it.
      if phase == .foreground { for _ in 0..<10 { await Task.yield() } }
    }
    let feed = try real.manage("feed", while: phase, after: database) { _ in
    } release: {
      await Task { for await _ in gate {} }.value
    }
    await real.handle(.launch)
    await real.untilResourcesAreHeld()
    let report = await real.handle(.shutDown)
    #expect(report.stragglers == ["feed"])
    #expect(database.status == .idle && feed.status == .releasing)
    opener.finish()
  }

  // MARK: The return

  @Test(arguments: [SystemInput.home, .shutDown])
  func `lets its dependency be released in the same phase, and is awaited by its own next acquire`(end: SystemInput)
    async throws
  {
    let base = try manage("base", while: .foreground)
    let feed = try manage("feed", while: .foreground, after: ["base"], release: 60)
    await handle(.launch)
    await handle(end)
    await clock.settle()
    #expect(base.status == .idle && feed.status == .releasing)
    await handle(end == .home ? .open : .launch)
    await clock.settle()
    #expect(base.status == .held && base.current == 2)
    #expect(feed.status == .releasing && feed.current == nil, "never acquired twice")
    // A second tear-down does not wait for it either.
    let report = await handle(.home)
    #expect(report.duration == .zero && report.overruns.isEmpty)
    #expect(base.status == .idle)
    await handle(.open)
    await wait(60)
    #expect(base.current == 3 && feed.current == 2)
    #expect(
      notes.lines == [
        "+base 1 at 0.0", "+feed 1 at 0.0", "-base 1 at 5.0", "+base 2 at 5.0", "-base 2 at 5.0", "+base 3 at 5.0",
        "-feed 1 at 60.0", "+feed 2 at 60.0",
      ])
  }

  // MARK: Acquires

  @Test func `that acquires from a dependency that was released meanwhile is released, and acquired anew`()
    async throws
  {
    let base = try manage("base", while: .foreground)
    let feed = try manage("feed", while: .foreground, after: ["base"], acquire: 60)
    let view = try manage("view", while: .foreground, after: ["feed"])
    await handle(.launch)
    let report = await handle(.home)
    #expect(report.stragglers == ["feed"] && report.duration == .seconds(5))
    await clock.settle()
    #expect(base.status == .idle && feed.status == .acquiring)
    await handle(.open)
    await clock.settle()
    #expect(base.current == 2 && feed.status == .acquiring)
    await wait(60)
    #expect(view.status == .held)
    #expect(
      notes.lines == [
        "+base 1 at 0.0", "+feed 1 at 0.0", "-base 1 at 5.0", "+base 2 at 5.0", "-feed 1 at 60.0", "+feed 2 at 60.0",
        "+view 1 at 60.0",
      ])
  }

  @Test func `that acquires from a dependency that was never released keeps its handle`() async throws {
    let base = try manage("base", while: .running)
    let feed = try manage("feed", while: .foreground, after: ["base"], acquire: 60)
    await handle(.launch)
    await handle(.home)
    await handle(.open)
    await wait(60)
    #expect(base.current == 1 && feed.current == 1 && feed.status == .held)
    // And it holds its dependency again.
    await handle(.shutDown)
    #expect(notes.lines.suffix(2) == ["-feed 1 at 65.0", "-base 1 at 65.0"])
  }

  @Test func `that acquires lets its dependency be released by the next step`() async throws {
    let base = try manage("base", while: .running)
    let feed = try manage("feed", while: .foreground, after: ["base"], acquire: 60)
    await handle(.launch)
    let report = await handle(.shutDown)
    #expect(report.stragglers == ["feed"] && base.status == .idle && feed.status == .acquiring)
    await wait(60)
    #expect(feed.status == .idle && notes.lines.last == "-feed 1 at 60.0")
  }

  // MARK: Breaks

  @Test func `was late before the step, after a break`() async throws {
    struct Failure: Error {}
    let database = try manage("database", while: .running)
    let feed = try manage("feed", while: .foreground, after: ["database"], release: 3_600)
    await handle(.launch)
    await wait(1)
    feed.invalidate(because: Failure())
    await wait(10)
    // The phase is open: the late release has been reported, and keeps its dependency held.
    database.invalidate(because: Failure())
    await wait(10)
    #expect(feed.status == .releasing && database.status == .held)
    let report = await handle(.shutDown)
    #expect(database.status == .idle && feed.status == .releasing)
    #expect(report.duration == .zero && report.overruns.isEmpty)
  }

  @Test func `lets the release of its dependency begin before the process ends`() async throws {
    // As on a real host, where operations wait for each other and not for a simulation.
    let clock = HandClock { _ in }
    let application = Application(delegate: Delegate(), clock: clock)
    var events: [String] = []
    let database = try application.manage("database", while: .running) {
    } release: {
      events.append("database")
    }
    try application.manage("cache", while: .running, after: database) { _ in
    } release: {
      // The budget passes.
      clock.advance(by: .seconds(5))
      for await _ in AsyncStream.makeStream(of: Never.self).stream {}  // until it is cancelled
    }
    let token = application.observe {
      if let record = $0.record, record.kind == .state, record.state == .notRunning { events.append("not running") }
    }
    defer { token.cancel() }
    await application.handle(.launch)
    await application.untilResourcesAreHeld()
    let report = await application.handle(.shutDown)
    #expect(report.overruns.map(\.culprits) == [["cache"]])
    #expect(events == ["database", "not running"])
  }

  // MARK: A simulated device

  @Test func `ends the process of a simulated device, and nothing more is released`() async throws {
    let system = SimulatedSystem()
    var lines: [String] = []
    let database = try system.application.manage("database", while: .running) {
    } release: {
      lines.append("-database")
    }
    let base = try system.application.manage("base", while: .foreground, after: database) { _ in
    } release: {
      lines.append("-base")
    }
    try system.application.manage("feed", while: .foreground, after: base) { _ in
    } release: { [clock = system.clock] in
      await deaf(60, clock)
    }
    var statuses: [String] = []
    let subscription = system.bus.subscribe(to: Application.ResourceDidChange.self) { event in
      if event.resource.status == .releasing { statuses.append(event.resource.name) }
    }
    try await system.play("launch; kill; wait:1h")
    subscription.cancel()
    #expect(system.application.state == .notRunning)
    #expect(system.record.last { $0.kind == .report }?.name == "watchdog:feed")
    #expect(!system.record.contains { $0.name == "applicationWillTerminate" })
    #expect(lines == [] && statuses == ["feed"])
  }
}

/// Takes its time, whether it is cancelled or not.
private func deaf(_ seconds: Double, _ clock: ManualClock) async {
  await TaskStarter(clock: clock).start { try? await clock.sleep(for: .seconds(seconds)) }.value
}
