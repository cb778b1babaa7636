import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Stops of the process in the middle of what has a limit: the time of a stop does not count.
///
/// The clock is the test's, and so is the time that the host says was lost. In each test something waits for a stop that is
/// longer than its limit. It goes on at the next event: a new sleep, because the limit has moved, or the report that it was
/// late.
@MainActor @Suite(.timeLimit(.hang)) struct `A stop of the process` {
  /// The time that the host says was lost.
  private final class Lost: Sendable { let time = Guarded(Duration.zero) }

  /// A process that a test stops.
  @MainActor private final class World {
    let application: Application
    let delegate = Delegate()
    let clock: HandClock
    private let lost = Lost()
    private let events: AsyncStream<String>
    /// What the test's own code notes, for another place of the test: a stream has one reader.
    private let (notes, noted) = AsyncStream.makeStream(of: String.self)
    private var token: ObserverToken?
    private(set) var overruns: [BudgetOverrun] = []

    init() {
      let (events, happened) = AsyncStream.makeStream(of: String.self)
      self.events = events
      clock = HandClock { happened.yield("sleeps until \($0.offset / .seconds(1))") }
      application = Application(delegate: delegate, configuration: Self.configuration, clock: clock)
      application.processTime.follow { [lost] in lost.time.withLock { $0 } }
      token = application.observe { [unowned self] event in
        if case .overran(let overrun) = event {
          overruns.append(overrun)
          happened.yield("overran")
        }
        if case .recorded(let record) = event, record.kind == .task { happened.yield(record.name) }
      }
    }

    private static var configuration: Application.Configuration {
      var configuration = Application.Configuration()
      configuration.retry = RetryPolicy(first: .seconds(3), jitter: 0)
      return configuration
    }

    func note(_ event: String) { noted.yield(event) }

    func nextNote() async -> String? {
      var iterator = notes.makeAsyncIterator()
      return await iterator.next(isolation: #isolation)
    }

    func nextEvent() async -> String? {
      // All iterators of the stream share its events.
      var iterator = events.makeAsyncIterator()
      return await iterator.next(isolation: #isolation)
    }

    /// Stops the process for a minute, and continues it.
    func stop() {
      lost.time.withLock { $0 += .seconds(60) }
      clock.advance(by: .seconds(60))
    }
  }

  @MainActor fileprivate final class Delegate {
    var answer: (@MainActor () async -> TerminateReply)?
  }

  @Test func `does not count toward the budget of a tear-down`() async {
    let world = World()
    await world.application.handle(.launch)
    let token = world.application.bus.receive(Application.DidEnterBackground.self) { _ in
      #expect(await world.nextEvent() == "sleeps until 5.0")
      world.stop()
      #expect(await world.nextEvent() == "sleeps until 65.0")
    }
    defer { token.cancel() }
    let report = await world.application.handle(.home)
    #expect(report.overruns == [] && world.overruns == [])
    #expect(report.duration == .zero && world.application.instant == .seconds(60))
  }

  /// The saver runs on when the budget is up, after the stop.
  @Test func `leaves the rest of the budget, and no more`() async {
    let world = World()
    await world.application.handle(.launch)
    let token = world.application.bus.receive(Application.DidEnterBackground.self, label: "saver") { _ in
      #expect(await world.nextEvent() == "sleeps until 5.0")
      world.clock.advance(by: .seconds(3))
      world.stop()
      world.clock.advance(by: .seconds(1))
      #expect(await world.nextEvent() == "sleeps until 65.0")
      world.clock.advance(by: .seconds(1))
      // Until it is cancelled.
      while await world.nextEvent() != nil {}
    }
    defer { token.cancel() }
    let report = await world.application.handle(.home)
    #expect(report.overruns.map(\.culprits) == [["saver"]])
  }

  /// Synchronous code is blamed if the deadline passed while it ran.
  @Test(arguments: [(4, false), (6, true)]) func `blames a call only for the time in which it ran`(
    seconds: Int, isBlamed: Bool
  ) async {
    let world = World()
    await world.application.handle(.launch)
    let token = world.application.bus.subscribe(to: Application.DidEnterBackground.self, label: "saver") {
      (_: Application.DidEnterBackground) -> Void in
      world.stop()
      world.clock.advance(by: .seconds(seconds))
    }
    defer { token.cancel() }
    let report = await world.application.handle(.home)
    #expect(report.overruns.map(\.culprits) == (isBlamed ? [["saver"]] : []))
  }

  @Test func `does not make a health check late`() async throws {
    let world = World()
    var (acquires, checks) = (0, 0)
    try world.application.manage("connection", while: .running, checkEvery: .seconds(10)) {
      acquires += 1
    } check: { _ in
      checks += 1
      guard checks == 1 else { return world.note("checked again") }
      #expect(await world.nextEvent() == "sleeps until 20.0")
      world.stop()
      #expect(await world.nextEvent() == "sleeps until 80.0")
      world.note("checked")
    } release: { _ in
      world.note("released")
    }
    await world.application.handle(.launch)
    #expect(await world.nextEvent() == "sleeps until 10.0")
    world.clock.advance(by: .seconds(10))
    #expect(await world.nextNote() == "checked")
    // The next check is due as if the stop had not been.
    #expect(await world.nextEvent() == "sleeps until 80.0")
    world.clock.advance(by: .seconds(10))
    #expect(await world.nextNote() == "checked again")
    #expect(acquires == 1 && checks == 2)
  }

  @Test func `does not count as a time for which a resource was held`() async throws {
    struct Broken: Error {}
    let world = World()
    var acquires = 0
    let resource = try world.application.manage("connection", while: .running) {
      acquires += 1
      if acquires > 1 { world.note("acquired again") }
      return acquires
    }
    await world.application.handle(.launch)
    await world.application.untilResourcesAreHeld()
    world.clock.advance(by: .seconds(1))
    world.stop()
    resource.invalidate(because: Broken())
    var event = await world.nextEvent()
    // The limit of the release, if its task sleeps before the release has ended.
    if event == "sleeps until 66.0" { event = await world.nextEvent() }
    #expect(event == "sleeps until 64.0", "a break after a second is a failure")
    #expect(acquires == 1)
  }

  @Test func `does not count toward the delegate's answer`() async {
    let world = World()
    world.delegate.answer = {
      #expect(await world.nextEvent() == "sleeps until 30.0")
      world.stop()
      #expect(await world.nextEvent() == "sleeps until 90.0")
      return .cancel
    }
    await world.application.handle(.launch)
    let report = await world.application.handle(.terminate)
    #expect(report.outcome == .ignored(reason: .refused))
  }

  @Test func `does not count toward background tasks before a suspension`() async {
    let world = World()
    await world.application.handle(.launch)
    let task = world.application.beginBackgroundTask(named: "upload")
    let suspension = world.application.suspend(cause: "Ctrl-Z")
    // Half of the time.
    #expect(await world.nextEvent() == "sleeps until 2.5")
    world.stop()
    #expect(await world.nextEvent() == "sleeps until 62.5")
    task.end()
    #expect(await suspension.value)
    #expect(world.overruns == [])
  }

  /// A release outside of a tear-down has the same time.
  @Test func `does not make a release late`() async throws {
    struct Broken: Error {}
    let world = World()
    let resource = try world.application.manage("connection", while: .running) {
    } release: { _ in
      #expect(await world.nextEvent() == "sleeps until 5.0")
      world.stop()
      #expect(await world.nextEvent() == "sleeps until 65.0")
      world.note("released")
    }
    await world.application.handle(.launch)
    await world.application.untilResourcesAreHeld()
    resource.invalidate(because: Broken())
    #expect(await world.nextNote() == "released")
    #expect(world.overruns == [])
  }

  @Test func `is remembered when the host has ended`() {
    let world = World()
    world.stop()
    world.application.processTime.endFollowing()
    #expect(world.application.processTime.lost == .seconds(60))
    world.stop()
    #expect(world.application.processTime.lost == .seconds(60))
  }
}

extension `A stop of the process`.Delegate: ApplicationDelegate {
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    await answer?() ?? .now
  }
}
