import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

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

  @Test func `have a sign as text, as the short ones`() {
    #expect([-700, -1_500, -2_000].map { Duration.milliseconds($0).inSeconds } == ["-0.700 s", "-1.500 s", "-2 s"])
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

  @Test func `longer than the seconds of 64 bits are none either`() async {
    // The timer thread's own clocks, which a sleep until such an instant asks for.
    TimerThread.shared.set(after: Duration(attoseconds: .max), on: .continuous) {}()
    var configuration = configuration
    configuration.backgroundTaskAllowance = Duration(attoseconds: .max)
    configuration.backgroundStay = Duration(attoseconds: .max)
    let application = Application(delegate: Bare(), configuration: configuration, clock: clock)
    await application.handle(.launch)
    await application.handle(.home)
    #expect(application.remainingBackgroundTime ?? .zero > .seconds(86_400))
  }

  @Test func `are cut where a manual clock ends`() async throws {
    let clock = ManualClock()
    try await clock.advance(to: .init(offset: Duration(attoseconds: .max)))
    let sleep = Task { try await clock.sleep(for: .seconds(Int64.max)) }
    sleep.cancel()
    await #expect(throws: CancellationError.self) { try await sleep.value }
  }

  @Test func `on a clock that cannot sleep have passed at once, also for background tasks`() async {
    let application = Application(delegate: Bare(), configuration: configuration, clock: SleeplessClock())
    await application.handle(.launch)
    await application.handle(.home)
    let task = application.beginBackgroundTask(named: "task")
    #expect(await application.finishBackgroundTasks(within: .seconds(30), cause: "sleep") == ["task"])
    task.end()
  }
}
