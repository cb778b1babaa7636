import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// The wait for one resource.
@MainActor @Suite(.timeLimit(.hang)) struct `The wait until a resource is held` {
  private struct Refused: Error {}
  private final class Delegate: ApplicationDelegate {}

  private let system = SimulatedSystem()
  private var application: Application { system.application }

  /// A resource whose first acquires fail.
  private func manage(while phase: LifecyclePhase = .foreground, failures: Int = 0) throws -> ManagedResource<Int> {
    var attempts = 0
    return try application.manage("feed", while: phase) {
      attempts += 1
      if attempts <= failures { throw Refused() }
      return attempts
    }
  }

  /// A task outside the application that waits.
  @MainActor private final class Wait {
    private var task: Task<Void, Never>?
    private var outcome: Result<Int, any Error>?

    init(for feed: ManagedResource<Int>, _ clock: ManualClock) {
      task = TaskStarter(clock: clock).start {
        await self.run(feed)
      }
    }

    private func run(_ feed: ManagedResource<Int>) async {
      do { outcome = .success(try await feed.untilHeld()) } catch { outcome = .failure(error) }
    }

    func cancel() { task?.cancel() }

    func end() async throws -> Int {
      await task?.value
      return try #require(outcome).get()
    }
  }

  private func wait(for feed: ManagedResource<Int>) -> Wait { Wait(for: feed, system.clock) }

  @Test func `ends at once where it is held`() async throws {
    let feed = try manage()
    try await system.play("launch")
    #expect(try await feed.untilHeld() == 1)
  }

  @Test func `lasts while a broken handle waits for its release`() async throws {
    struct Broken: Error {}
    let feed = try manage()
    try await system.play("launch")
    feed.invalidate(because: Broken())
    // Nothing has suspended since: the release has not begun, and a wait that began now would not be over at once.
    #expect(feed.current == 1 && feed.holding.heldHandle == nil)
    let waiting = wait(for: feed)
    try await system.play("wait:1m")
    #expect(try await waiting.end() == 2)
  }

  /// From the closing notification on nothing of the phase is acquired any more.
  @Test func `lasts as long as the budget in a handler of the closing notification`() async throws {
    let feed = try manage(failures: 1)
    let subscription = application.bus.receive(Application.DidEnterBackground.self, label: "saver") { _ in
      _ = try await feed.untilHeld()
    }
    try await system.play("launch; home")
    #expect(application.ledger.overruns.map(\.culprits) == [["saver"]])
    #expect(feed.current == nil)
    subscription.cancel()
  }

  @Test func `lasts while the phase is closed, and through failures`() async throws {
    let feed = try manage(failures: 3)
    let (first, second) = (wait(for: feed), wait(for: feed))
    try await system.play("launch:background; wait:1s")
    #expect(feed.status == .idle)
    try await system.play("open; wait:1m")
    #expect(try await first.end() == 4)
    #expect(try await second.end() == 4)
  }

  @Test func `outlasts the process`() async throws {
    let feed = try manage(failures: 1)
    let waiting = wait(for: feed)
    try await system.play("launch; crash; launch; wait:1m")
    #expect(try await waiting.end() == 2)
  }

  @Test func `is over when it is cancelled, before or during the wait`() async throws {
    let feed = try manage()
    let early = wait(for: feed)
    early.cancel()
    let late = wait(for: feed)
    await system.clock.settle()
    late.cancel()
    for waiting in [early, late] {
      await #expect(throws: CancellationError.self) { try await waiting.end() }
    }
  }

  @Test func `is over when the resource is no longer managed`() async throws {
    let feed = try manage()
    let waiting = wait(for: feed)
    await system.clock.settle()
    try application.unmanage(feed)
    await #expect(throws: ResourceError.unmanaged("feed")) { try await waiting.end() }
    await #expect(throws: ResourceError.unmanaged("feed")) { try await feed.untilHeld() }
    #expect(ResourceError.unmanaged("feed").description == "“feed” is no longer managed")
  }

  @Test func `is over when the resource is no longer managed, though its acquire does not end`() async throws {
    let gate = OneShot<Bool>()
    let feed = try application.manage("feed", while: .foreground) { await gate.value ? 1 : 0 }
    try await system.play("launch")
    let waiting = wait(for: feed)
    await system.clock.settle()
    try application.unmanage(feed)
    await #expect(throws: ResourceError.unmanaged("feed")) { try await waiting.end() }
    gate.settle(true)
    await system.clock.settle()
  }

  @Test func `is over when the application is gone, though an acquire does not end`() async throws {
    var application: Application? = Application(delegate: Delegate(), clock: system.clock)
    let gate = OneShot<Bool>()
    let feed = try #require(application).manage("feed", while: .running) { await gate.value ? 1 : 0 }
    application?.send(.launch)
    await system.clock.settle()
    let waiting = wait(for: feed)
    await system.clock.settle()
    #expect(feed.status != .idle)
    application = nil
    await #expect(throws: ResourceError.unmanaged("feed")) { try await waiting.end() }
    gate.settle(true)
    await system.clock.settle()
  }

  @Test func `is over when the application is gone`() async throws {
    var application: Application? = Application(delegate: Delegate(), clock: system.clock)
    let feed = try #require(application).manage("feed", while: .running) { 1 }
    let waiting = wait(for: feed)
    await system.clock.settle()
    application = nil
    await #expect(throws: ResourceError.unmanaged("feed")) { try await waiting.end() }
  }
}
