import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// Budgets and waits that stand for "never": real clocks trap where they are to count more nanoseconds than 64 bits hold.
@MainActor @Suite(.timeLimit(.hang)) struct `Durations without end` {
  private final class Bare: ApplicationDelegate {}
  private struct Failure: Error {}

  private let clock = StillClock()
  private var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.didEnterBackgroundBudget = .seconds(Int64.max)
    configuration.willTerminateBudget = .seconds(Int64.max)
    (configuration.retry.first, configuration.retry.longest) = (.seconds(Int64.max), .seconds(Int64.max))
    return configuration
  }

  private func expectCountable(_ deadline: ManualClock.Instant?) throws {
    let offset = try #require(deadline).offset
    #expect(offset > .seconds(86_400) && offset < .nanoseconds(Int64.max))
  }

  @Test(arguments: [SystemInput.beginInterruption(.call), .home, .terminate])
  func `are slept for as far as clocks can count: handlers`(input: SystemInput) async throws {
    let application = Application(delegate: Bare(), configuration: configuration, clock: clock)
    let (mayEnd, end) = AsyncStream.makeStream(of: Never.self)
    let subscription = application.bus.receive(Application.WillResignActive.self) { _ in
      for await _ in mayEnd {}
    }
    await application.handle(.launch)
    application.send(input)
    var deadlines = clock.deadlines.makeAsyncIterator()
    try expectCountable(await deadlines.next())
    end.finish()
    let report = await application.handle(.endInterruption("none"))
    withExtendedLifetime(subscription) {}
    #expect(report.overruns.isEmpty)
  }

  @Test func `are slept for as far as clocks can count: retries and background tasks`() async throws {
    let application = Application(delegate: Bare(), configuration: configuration, clock: clock)
    try application.manage("connection", while: .foreground) {
      throw Failure()
    } release: { (_: Void) in
    }
    await application.handle(.launch)
    var deadlines = clock.deadlines.makeAsyncIterator()
    try expectCountable(await deadlines.next())
    let task = application.beginBackgroundTask(named: "task")
    application.send(.terminate)
    try expectCountable(await deadlines.next())
    task.end()
    await application.handle(.endInterruption("none"))
    #expect(application.state == .notRunning)
  }
}
