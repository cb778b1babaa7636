import AppLifecycle
import PubSub
import TestTraits
import Testing

/// Waits that end early, and are not begun again and again.
@MainActor @Suite(.timeLimit(.hang)) struct `On a clock that cannot sleep` {
  private final class Bare: ApplicationDelegate {}
  private struct Refused: Error {}
  private static let end = "the clock cannot sleep: SleepFailed()"

  private let clock = SleeplessClock()
  private let application: Application

  init() { application = Application(delegate: Bare(), clock: clock) }

  /// Waits until a resource has failed for good, and returns its error.
  private func failure(of name: String, in application: Application) async -> String? {
    let (changes, continuation) = AsyncStream.makeStream(of: ResourceHealth.self)
    let token = application.bus.subscribe(to: Application.ResourceDidChange.self) { continuation.yield($0.resource) }
    for resource in application.resources { continuation.yield(resource) }
    defer { withExtendedLifetime(token) {} }
    for await resource in changes where resource.name == name {
      if case .failed = resource.status { return resource.lastError }
    }
    return nil
  }

  @Test func `an open task keeps no suspension waiting`() async {
    await application.handle(.launch)
    let task = application.beginBackgroundTask(named: "task")
    #expect(await application.suspend().value)
    #expect(application.state == .suspended)
    #expect(clock.sleeps < 10)
    task.end()
  }

  @Test func `a failed acquire is not retried: the resource is given up, until it is asked for again`() async throws {
    var attempts = 0
    let connection = try application.manage("connection", while: .running) {
      attempts += 1
      if attempts < 3 { throw Refused() }
    }
    await application.handle(.launch)
    let end = "Refused(); \(Self.end)"
    await #expect(throws: ResourceError.givenUp("connection", because: end)) { try await connection.untilHeld() }
    #expect(attempts == 1 && connection.status == .failed(failures: 1))
    connection.retry()
    #expect(await failure(of: "connection", in: application) == end)
    connection.retry()
    try await connection.untilHeld()
    #expect(attempts == 3)
  }

  @Test func `a resource that fails for good by its policy ends the application`() async throws {
    let policy = RetryPolicy(maximumRetries: 5, whenExhausted: .shutDown(status: 3))
    try application.manage("connection", while: .running, retry: policy) { throw Refused() }
    let (ends, ended) = AsyncStream.makeStream(of: Void.self)
    let token = application.bus.subscribe(to: Application.WillTerminate.self) { _ in ended.yield() }
    await application.handle(.launch)
    for await _ in ends { break }
    withExtendedLifetime(token) {}
    #expect(application.exitStatus == 3)
  }

  @Test func `a loop that was to begin again breaks its resource`() async throws {
    var runs = 0
    try application.manage("server", while: .running, onReturn: .again) {
    } run: { _ in
      runs += 1
    }
    await application.handle(.launch)
    #expect(await failure(of: "server", in: application) == Self.end)
    #expect(runs == 1)
  }

  @Test func `a body that was to begin again is given up, and the error is reported`() async {
    var runs = 0
    let (reports, reported) = AsyncStream.makeStream(of: String.self)
    let token = application.bus.subscribe(to: EventBus.HandlerFailure.self) { failure in
      if !(failure.error is Refused) { reported.yield("\(failure.subscriber.label ?? ""): \(failure.error)") }
    }
    let owner = Bare()
    application.run(owner, while: .running, label: "poll") { _ in
      runs += 1
      throw Refused()
    }
    await application.handle(.launch)
    var report = reports.makeAsyncIterator()
    #expect(await report.next() == "poll: \(Self.end)")
    withExtendedLifetime((token, owner)) {}
    #expect(runs == 1)
    #expect(await application.untilResourcesAreHeld().map(\.name) == ["poll"])
  }

  @Test(arguments: [Readiness.atOnce, .checked])
  func `the wait for a check breaks the resource`(readiness: Readiness) async throws {
    var (acquires, checks) = (0, 0)
    try application.manage(
      "connection", while: .running, retry: RetryPolicy(resetAfter: .zero), readiness: readiness,
      checkEvery: .seconds(30)
    ) {
      acquires += 1
    } check: {
      checks += 1
    }
    await application.handle(.launch)
    #expect(await failure(of: "connection", in: application) == Self.end)
    #expect(acquires == 1 && checks == (readiness == .checked ? 1 : 0))
  }

  @Test func `a check that is under way in a suspension is late`() async throws {
    let (checks, check) = AsyncStream.makeStream(of: Void.self)
    let clock = HandClock { _ in }
    let application = Application(delegate: Bare(), clock: clock)
    try application.manage("connection", while: .running, readiness: .checked, checkEvery: .seconds(30)) {
    } check: {
      check.yield()
      for await _ in AsyncStream.makeStream(of: Never.self).stream {}
      try Task.checkCancellation()
    }
    await application.handle(.launch)
    for await _ in checks { break }
    await application.handle(.home)
    await application.handle(.suspend)
    clock.fail()
    let late = ResourceError.checkTimedOut("connection", after: .seconds(30))
    #expect(await failure(of: "connection", in: application) == "\(late); \(Self.end)")
  }
}
