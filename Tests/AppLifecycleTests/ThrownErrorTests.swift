import AppLifecycle
import AppLifecycleTesting
import PubSub
import Synchronization
import TestTraits
import Testing

private struct DiskIsFull: Error, CustomStringConvertible { var description: String { "disk is full" } }
private struct Saved: MainActorEvent {}

/// Where an error goes that the program's code throws to the package: the rows of the table in DeliveryContract.md.
///
/// What a host writes about each is tested in `ResourceReporterTests` and `ThrownErrorHostTests`.
@MainActor @Suite(.timeLimit(.hang)) struct `An error of the program's code` {
  @MainActor private final class Component { var runs = 0 }

  private let system = SimulatedSystem()
  private let component = Component()
  private let failures = Failures()
  private let subscription: EventBus.Subscription
  private var application: Application { system.application }

  /// The posted failures, each as a line.
  private final class Failures: Sendable {
    private let lines = Mutex<[String]>([])

    func note(_ failure: EventBus.HandlerFailure) {
      let recipient = failure.hasRecipient ? ", goes elsewhere, too" : ""
      lines.withLock { $0.append("\(failure.subscriber) \(failure.eventName): \(failure.error)\(recipient)") }
    }

    func take() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
  }

  init() {
    subscription = system.bus.subscribe(to: EventBus.HandlerFailure.self) { [failures] in failures.note($0) }
  }

  /// The failed entries of the ledger, each as a line.
  private var entries: [String] {
    application.ledger.entries.compactMap { entry in
      guard case .failed(let error) = entry.outcome else { return nil }
      return "\(entry.name) (\(entry.kind.words), \(entry.step)): \(error)"
    }
  }

  // MARK: Handlers

  @Test func `of a handler`() async throws {
    let subscriptions = [
      system.bus.subscribe(to: Saved.self, label: "sync") { (_: Saved) throws in throw DiskIsFull() },
      system.bus.receive(Saved.self, label: "async") { (_: Saved) async throws in throw DiskIsFull() },
    ]
    try await system.play("launch")
    system.bus.post(Saved())
    await system.clock.settle()
    withExtendedLifetime(subscriptions) {}
    #expect(failures.take() == ["sync Saved: disk is full", "async Saved: disk is full"])
    #expect(entries == ["sync", "async"].map { "\($0) (subscriber, Saved): disk is full" })
  }

  @Test func `of a handler that is awaited`() async throws {
    let bus = system.bus
    let subscriptions = [
      bus.subscribe(to: Saved.self, label: "sync") { (_: Saved) throws in throw DiskIsFull() },
      bus.receive(Saved.self, label: "async") { (_: Saved) async throws in throw DiskIsFull() },
    ]
    try await system.play("launch")
    let report = await system.clock.running { await bus.postAndWait(Saved()) }
    await system.clock.settle()
    withExtendedLifetime(subscriptions) {}
    #expect(report.deliveries.count == 2)
    #expect(
      failures.take().sorted() == ["async", "sync"].map { "\($0) Saved: disk is full, goes elsewhere, too" })
    #expect(entries.sorted() == ["async", "sync"].map { "\($0) (subscriber, Saved): disk is full" })
  }

  @Test func `of a handler of the end`() async throws {
    let subscriptions = [
      system.bus.subscribe(to: Application.DidEnterBackground.self, label: "sync") { _ in throw DiskIsFull() },
      system.bus.receive(Application.WillTerminate.self, label: "async") {
        (_: Application.WillTerminate) async throws in
        throw DiskIsFull()
      },
    ]
    try await system.play("launch; kill")
    withExtendedLifetime(subscriptions) {}
    #expect(failures.take().map { $0.suffix(14) } == [": disk is full", ": disk is full"])
    #expect(
      entries == [
        "sync (subscriber, applicationDidEnterBackground): disk is full",
        "async (subscriber, applicationWillTerminate): disk is full",
      ])
    #expect(application.exitStatus == 0)
  }

  @Test func `of a handler of errors`() async throws {
    let subscriptions = [
      system.bus.subscribe(to: Saved.self, label: "saver") { (_: Saved) throws in throw DiskIsFull() },
      system.bus.subscribe(to: EventBus.HandlerFailure.self, label: "logger") { _ in throw DiskIsFull() },
    ]
    try await system.play("launch")
    system.bus.post(Saved())
    await system.clock.settle()
    withExtendedLifetime(subscriptions) {}
    #expect(failures.take() == ["saver Saved: disk is full"])
    #expect(
      entries.sorted() == [
        "logger (subscriber, HandlerFailure): disk is full", "saver (subscriber, Saved): disk is full",
      ])
  }

  /// A task that sends reports fails, too, while the network is down.
  @Test(arguments: [true, false]) func `of a task of a handler of errors`(isAsynchronous: Bool) async throws {
    let application = application
    var tasks = 0
    let start: @MainActor @Sendable () -> Void = {
      tasks += 1
      // Without the guard, a fault of the bus would keep the test from ending.
      if tasks < 100 { application.task(label: "reporter") { throw DiskIsFull() } }
    }
    let reporter =
      isAsynchronous
      ? system.bus.receive(EventBus.HandlerFailure.self, label: "logger") { @MainActor _ in start() }
      : system.bus.subscribe(to: EventBus.HandlerFailure.self, label: "logger") { _ in
        MainActor.assumeIsolated { start() }
      }
    try await system.play("launch")
    application.task(label: "upload") { throw DiskIsFull() }
    await system.clock.settle()
    reporter.cancel()
    #expect(tasks == 1)
    #expect(failures.take() == ["upload task: disk is full, goes elsewhere, too"])
    #expect(entries == ["upload", "reporter"].map { "\($0) (task, task): disk is full" })
  }

  // MARK: Tasks

  @Test func `of a task`() async throws {
    try await system.play("launch")
    let clock = application.clock
    application.task(label: "upload") { throw DiskIsFull() }
    application.task(label: "cancelled") { try await clock.sleep(for: .seconds(60)) }
    application.task(label: "torn down") {
      do { try await clock.sleep(for: .seconds(60)) } catch { throw DiskIsFull() }
    }
    try await system.play("kill")
    await system.clock.settle()
    #expect(
      failures.take() == ["upload", "torn down"].map { "\($0) task: disk is full, goes elsewhere, too" })
    #expect(entries == ["upload", "torn down"].map { "\($0) (task, task): disk is full" })
  }

  @Test(arguments: [RunEnd.again, .invalidate, .rest, .shutDown(status: 3)])
  func `of a periodic task`(onError: RunEnd) async throws {
    try await system.play("launch")
    application.task(component, every: .seconds(60), onError: onError, label: "refresh") { component in
      component.runs += 1
      if component.runs == 1 { throw DiskIsFull() }
    }
    try await system.play("wait:150s")
    let goesOn = onError == .again || onError == .invalidate
    #expect(component.runs == (goesOn ? 3 : 1))
    let step = goesOn ? "every" : "task"
    #expect(failures.take() == ["refresh \(step): disk is full, goes elsewhere, too"])
    #expect(application.state == (onError == .shutDown(status: 3) ? .notRunning : .active))
    #expect(application.exitStatus == (onError == .shutDown(status: 3) ? 3 : 0))
  }

  /// By default a periodic task goes on.
  @Test func `does not end a periodic task`() async throws {
    try await system.play("launch")
    application.task(component, every: .seconds(60), label: "refresh") { component in
      component.runs += 1
      if component.runs == 1 { throw DiskIsFull() }
    }
    try await system.play("wait:150s")
    #expect(component.runs == 3)
    #expect(entries == ["refresh (task, every): disk is full"])
  }

  @Test func `is none where a periodic task is cancelled`() async throws {
    let clock = application.clock
    let task = application.task(component, every: .seconds(60), label: "refresh") { _ in
      try await clock.sleep(for: .seconds(30))
    }
    try await system.play("launch; wait:10s")
    task.cancel()
    try await system.play("wait:150s; kill")
    #expect(failures.take().isEmpty && entries.isEmpty)
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  // MARK: Resources

  @Test func `of a resource`() async throws {
    var acquires = 0
    try application.manage("database", while: .foreground, checkEvery: .seconds(10)) {
      acquires += 1
      if acquires == 1 { throw DiskIsFull() }
      return acquires
    } check: { number in
      if number == 2 { throw DiskIsFull() }
    } release: { _ in
      throw DiskIsFull()
    }
    try await system.play("launch; wait:15s")
    #expect(
      failures.take() == [
        "database acquire: disk is full, goes elsewhere, too", "database check: disk is full, goes elsewhere, too",
        "database release: disk is full",
      ])
    #expect(entries == ["acquire", "invalidate", "release"].map { "database (resource, \($0)): disk is full" })
  }

  /// An acquire that was cancelled has to throw.
  @Test func `is none where an acquire is cancelled`() async throws {
    let clock = application.clock
    try application.manage("database", while: .foreground) {
      do { try await clock.sleep(for: .seconds(60)) } catch { throw DiskIsFull() }
    }
    try await system.play("launch; wait:1s; home; wait:1s")
    #expect(failures.take().isEmpty && entries.isEmpty)
  }

  @Test(arguments: [RunEnd.again, .invalidate, .rest, .shutDown(status: 3)])
  func `of a loop`(onError: RunEnd) async throws {
    var runs = 0
    try application.manage("socket", while: .foreground, onError: onError) {
    } run: {
      runs += 1
      if runs == 1 { throw DiskIsFull() }
      await forever()
    }
    try await system.play("launch; wait:1m")
    #expect(failures.take() == ["socket run: disk is full, goes elsewhere, too"])
    #expect(entries.first == "socket (resource, run): disk is full")
    #expect(application.exitStatus == (onError == .shutDown(status: 3) ? 3 : 0))
  }

  @Test(arguments: [RunEnd.again, .invalidate, .rest, .shutDown(status: 3)])
  func `of a loop that is asked to end`(onError: RunEnd) async throws {
    try application.manage("socket", while: .foreground, onError: onError) {
    } run: {
      await forever()
      throw DiskIsFull()
    }
    try await system.play("launch; home; wait:1s; kill")
    #expect(failures.take() == ["socket run: disk is full"])
    #expect(entries == ["socket (resource, run): disk is full"])
    #expect(application.exitStatus == 0)
  }

  // MARK: Bodies

  @Test(arguments: [RunEnd.again, .invalidate, .rest, .shutDown(status: 3)])
  func `of a body`(onError: RunEnd) async throws {
    application.run(component, while: .active, onError: onError, label: "feed") { component in
      component.runs += 1
      if component.runs == 1 { throw DiskIsFull() }
      await forever()
    }
    try await system.play("launch; wait:1m")
    #expect(failures.take() == ["feed run(while: .active): disk is full, goes elsewhere, too"])
    #expect(entries == ["feed (run body, run(while: .active)): disk is full"])
    #expect(component.runs == (onError == .again || onError == .invalidate ? 2 : 1))
    #expect(application.exitStatus == (onError == .shutDown(status: 3) ? 3 : 0))
  }

  @Test func `of a body that is asked to end`() async throws {
    application.run(component, while: .active, label: "feed") { _ in
      await forever()
      throw DiskIsFull()
    }
    try await system.play("launch; home; wait:1s")
    #expect(failures.take() == ["feed run(while: .active): disk is full"])
    #expect(entries == ["feed (run body, run(while: .active)): disk is full"])
  }

  @Test(arguments: [false, true], [false, true])
  func `of an awaited body`(isAsked: Bool, hasDependency: Bool) async throws {
    let application = application
    let database = try application.manage("database", while: .active) { 1 }
    let outcome = Mutex("none")
    let body: @MainActor () async throws -> Void = {
      if isAsked { await forever() }
      throw DiskIsFull()
    }
    let caller = application.task {
      do {
        if hasDependency {
          try await application.run(while: .active, after: database, label: "feed") { _ in try await body() }
        } else {
          try await application.run(while: .active, label: "feed") { try await body() }
        }
      } catch {
        outcome.withLock { $0 = "\(error)" }
      }
    }
    try await system.play("launch; home; wait:1s")
    #expect(outcome.withLock { $0 } == "disk is full")
    #expect(failures.take() == ["feed run(while: .active): disk is full, goes elsewhere, too"])
    #expect(entries == ["feed (run body, run(while: .active)): disk is full"])
    caller.cancel()
  }

  /// An owner that only its run holds is gone when the run has ended.
  @Test(arguments: [false, true])
  func `ends the application as its body chose, also where only the run holds the owner`(throwing: Bool) async throws {
    application.run(Component(), while: .active, onReturn: .shutDown(status: 4), onError: .shutDown(status: 5)) { _ in
      if throwing { throw DiskIsFull() }
    }
    try await system.play("launch; wait:1s")
    #expect(application.state == .notRunning)
    #expect(application.exitStatus == (throwing ? 5 : 4))
  }

  // MARK: Observers

  @Test func `of an observer`() async throws {
    let token = application.observe(label: "exporter") { if $0.record?.kind == .delegate { throw DiskIsFull() } }
    try await system.play("launch; kill")
    token.cancel()
    #expect(failures.take() == ["exporter observe: disk is full"])
    #expect(entries.first == "exporter (observer, observe): disk is full")
  }
}

/// Suspends until the task is cancelled.
private func forever() async {
  let (stream, _) = AsyncStream<Never>.makeStream()
  for await _ in stream {}
}
