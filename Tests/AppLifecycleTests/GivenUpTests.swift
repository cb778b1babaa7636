import AppLifecycle
import AppLifecycleTesting
import TestTraits
import Testing

/// A resource that failed more often than its policy allows.
@MainActor @Suite(.timeLimit(.hang)) struct `A resource that was given up` {
  private struct Refused: Error {}
  private let system = SimulatedSystem()
  private let board = Board()
  private var application: Application { system.application }

  /// Decides whether the database works, and notes how waits ended.
  @MainActor private final class Board {
    var isBroken = true
    var outcomes: [String] = []

    func note(_ name: String, _ wait: () async throws -> Int) async {
      do { outcomes.append("\(name): \(try await wait())") } catch { outcomes.append("\(name): \(error)") }
    }
  }

  private func manageDatabase() throws -> ManagedResource<Int> {
    try application.manage("database", while: .foreground, retry: RetryPolicy(maximumRetries: 1)) { [board] in
      if board.isBroken { throw Refused() }
      return 7
    }
  }

  private func wait(for resource: ManagedResource<Int>) {
    application.task { [board] in await board.note(resource.name) { try await resource.untilHeld() } }
  }

  @Test func `ends the waits for it, and for what depends on it, also those that begin later`() async throws {
    let database = try manageDatabase()
    let cache = try application.manage("cache", while: .foreground, after: database) { $0 + 1 }
    wait(for: database)
    wait(for: cache)
    try await system.play("launch; wait:1h")
    let late = try application.manage("late", while: .foreground, after: cache) { $0 + 1 }
    for resource in [database, cache, late] { wait(for: resource) }
    await system.clock.settle()
    let end = "“database” was given up: Refused()"
    #expect(board.outcomes.sorted() == ["cache", "cache", "database", "database", "late"].map { "\($0): \(end)" })
    await #expect(throws: ResourceError.givenUp("database", because: "Refused()")) { try await cache.untilHeld() }
  }

  @Test func `is waited for again after a retry, at once`() async throws {
    let database = try manageDatabase()
    let cache = try application.manage("cache", while: .foreground, after: database) { $0 + 1 }
    try await system.play("launch; wait:1h")
    // A retry of what only waits has no effect.
    cache.retry()
    await #expect(throws: ResourceError.self) { try await cache.untilHeld() }
    database.retry()
    wait(for: database)
    wait(for: cache)
    await system.clock.settle()
    #expect(board.outcomes.isEmpty, "it is tried again, and fails once")
    try await system.play("wait:1h")
    #expect(board.outcomes.count == 2)
    board.outcomes = []
    board.isBroken = false
    database.retry()
    wait(for: database)
    wait(for: cache)
    await system.clock.settle()
    #expect(board.outcomes.sorted() == ["cache: 8", "database: 7"])
  }

  @Test func `is waited for again when its phase opens again`() async throws {
    let database = try manageDatabase()
    try await system.play("launch; wait:1h; home")
    wait(for: database)
    board.isBroken = false
    try await system.play("open")
    #expect(board.outcomes == ["database: 7"])
  }

  @Test func `ends the wait for all resources, which names it`() async throws {
    let database = try manageDatabase()
    try application.manage("other", while: .foreground) {}
    var failed: [[String]] = []
    application.task { [application] in failed.append(await application.untilResourcesAreHeld().map(\.name)) }
    try await system.play("launch")
    // Before the launch no phase is open, and nothing is needed.
    #expect(failed == [[]])
    application.task { [application] in failed.append(await application.untilResourcesAreHeld().map(\.name)) }
    await system.clock.settle()
    #expect(failed.count == 1)
    try await system.play("wait:1h")
    #expect(failed == [[], ["database"]])
    #expect(await application.untilResourcesAreHeld().map(\.status) == [.failed(failures: 2)])
    board.isBroken = false
    database.retry()
    application.task { [application] in failed.append(await application.untilResourcesAreHeld().map(\.name)) }
    await system.clock.settle()
    #expect(failed == [[], ["database"], []])
  }

  /// Such as by a time limit: a resource that is down is tried again without end.
  @Test func `is not needed for the end of a wait for all that is cancelled, before or during it`() async throws {
    try application.manage("database", while: .foreground) { throw Refused() }
    try await system.play("launch")
    var ends: [String] = []
    let early = application.task { [application] in
      withUnsafeCurrentTask { $0?.cancel() }
      ends.append("early \(await application.untilResourcesAreHeld().map(\.name))")
    }
    let late = application.task { [application] in
      ends.append("late \(await application.untilResourcesAreHeld().map(\.name))")
    }
    await system.clock.settle()
    late.cancel()
    await system.clock.settle()
    #expect(ends == ["early []", "late []"])
    withExtendedLifetime(early) {}
  }
}
