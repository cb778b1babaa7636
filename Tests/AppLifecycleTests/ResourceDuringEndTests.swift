import AppLifecycle
import PubSub
import TestTraits
import Testing

/// Resources that open background tasks need while an end waits for these tasks, on a real clock.
///
/// A simulation does not hold operations back during a transition, so it cannot show these faults.
@MainActor @Suite(.timeLimit(.hang)) struct `Resources during an end` {
  private struct Broken: Error {}
  private final class Delegate: ApplicationDelegate {}

  /// An application with so much time that a task which starves hangs, however slow the machine is.
  private func application(_ acquire: @escaping @MainActor () throws -> Int) throws
    -> (Application, ManagedResource<Int>)
  {
    var configuration = Application.Configuration()
    configuration.didEnterBackgroundBudget = .seconds(86_400)
    configuration.willTerminateBudget = .seconds(86_400)
    let application = Application(delegate: Delegate(), configuration: configuration)
    let retry = RetryPolicy(first: .milliseconds(1), longest: .milliseconds(1))
    let feed = try application.manage("feed", while: .running, retry: retry) {
      try acquire()
    }
    return (application, feed)
  }

  /// Ends the application while a background task waits for the resource, and returns whether the task got it.
  private func end(
    _ application: Application, from state: ApplicationState, _ body: @escaping @MainActor () async throws -> Void
  ) async -> String {
    var outcome = "not begun"
    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
    let task = application.performBackgroundTask(named: "upload") {
      begins.finish()
      do {
        try await body()
        outcome = Task.isCancelled ? "cancelled" : "held"
      } catch {
        outcome = "\(error)"
      }
    }
    for await _ in begun {}
    let report = await application.handle(.shutDown)
    await task.value
    #expect(report.overruns == [])
    return outcome
  }

  @Test(arguments: [ApplicationState.active, .background])
  func `a retry starts while a task waits for it`(state: ApplicationState) async throws {
    var failures = 3
    var mayFail = true
    let (application, feed) = try application {
      if mayFail || failures > 0 {
        failures -= 1
        throw Broken()
      }
      return 1
    }
    await application.handle(state == .active ? .launch : .launchInBackground)
    let outcome = await end(application, from: state) {
      mayFail = false
      failures = 3
      _ = try await feed.untilHeld()
    }
    #expect(outcome == "held")
  }

  @Test(arguments: [ApplicationState.active, .background])
  func `what breaks is acquired again while a task waits for it`(state: ApplicationState) async throws {
    var acquires = 0
    let (application, feed) = try application {
      acquires += 1
      return acquires
    }
    await application.handle(state == .active ? .launch : .launchInBackground)
    await application.untilResourcesAreHeld()
    let outcome = await end(application, from: state) {
      // After the end has begun.
      for _ in 0..<10 { await Task.yield() }
      feed.invalidate(because: Broken())
      for _ in 0..<10 { await Task.yield() }
      _ = try await feed.untilHeld()
    }
    #expect(outcome == "held")
    #expect(acquires == 2)
  }

  /// The order in which things happen is that of the machine; whatever it is, the task must get the resource.
  @Test(arguments: 0..<30) func `a task gets its resource at any moment of an end`(yields: Int) async throws {
    var acquires = 0
    let (application, feed) = try application {
      acquires += 1
      if acquires % 2 == 0 { throw Broken() }
      return acquires
    }
    await application.handle(.launch)
    await application.untilResourcesAreHeld()
    let outcome = await end(application, from: .active) {
      for _ in 0..<yields { await Task.yield() }
      feed.invalidate(because: Broken())
      _ = try await feed.untilHeld()
    }
    #expect(outcome == "held", "\(yields) yields")
  }
}
