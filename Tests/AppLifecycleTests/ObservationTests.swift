@testable import AppLifecycle
import AppLifecycleTesting
import Observation
import Scheduling
import Testing

/// What `Observations`, SwiftUI and `withObservationTracking` follow.
@Suite @MainActor struct `Observation of an application` {
  private final class Delegate: ApplicationDelegate {}

  private static func application(_ profile: LifecycleProfile = .application) -> Application {
    var configuration = Application.Configuration()
    configuration.profile = profile
    return Application(delegate: Delegate(), configuration: configuration, clock: StillClock())
  }

  /// Which of some inputs lead to a change that is told, where something is read before each of them.
  private func changes(
    of read: () -> Void, during inputs: SystemInput..., then actions: DeviceInput..., in application: Application
  )
    async -> [Bool]
  {
    var told: [Bool] = []
    for input in inputs.map(LifecycleInput.system) + actions.map(LifecycleInput.device) {
      let count = Counter()
      withObservationTracking(read) { count.add() }
      await application.handle(input)
      await application.untilResourcesAreHeld()
      told.append(count.value > 0)
      #expect(count.value <= 1)
    }
    return told
  }

  private final class Counter: Sendable {
    private let guarded = Guarded(0)
    var value: Int { guarded.withLock { $0 } }
    func add() { guarded.withLock { $0 += 1 } }
  }

  /// After the first read each change costs more.
  @Test func `does not begin with reads of the package itself`() async throws {
    let application = Self.application()
    let database = try application.manage("database", while: .foreground) {}
    let feed = try application.manage("feed", while: .foreground, after: database) { _ in }
    let owner = Counter()
    application.run(owner, while: .foreground, after: feed) { owner, _ in owner.add() }
    for input in [SystemInput.launch, .home, .open, .memoryWarning] {
      await application.handle(input)
      await application.untilResourcesAreHeld()
    }
    #expect(owner.value == 2)
    #expect(!application.isObserved && !database.holding.isObserved && !feed.holding.isObserved)
    #expect(feed.status == .held && application.state == .active && application.isObserved && feed.holding.isObserved)
  }

  @Test func `tells of a change before it, while the old value stands`() async {
    let application = Self.application()
    let seen = Guarded<[ApplicationState]>([])
    withObservationTracking {
      _ = application.state
    } onChange: {
      let state = MainActor.assumeIsolated { application.state }
      seen.withLock { $0.append(state) }
    }
    await application.handle(.launch)
    #expect(seen.withLock { $0 } == [.notRunning])
    #expect(application.state == .active)
  }

  @Test func `tells of what was read, and of nothing else`() async {
    let application = Self.application()
    let states = await changes(
      of: { _ = application.state }, during: .launch, .memoryWarning, .beginInterruption(.call), .home, .terminate,
      in: application)
    #expect(states == [true, false, true, true, true])
    let reasons = await changes(
      of: { _ = application.deactivationReasons }, during: .endInterruption(.call), .launch, .beginInterruption(.call),
      .home,
      in: application)
    #expect(reasons == [true, true, true, false])
    let causes = await changes(
      of: { _ = application.launchCause }, during: .open, .terminate, .launchInBackground, in: application)
    #expect(causes == [false, false, true])
  }

  @Test func `follows scenes and each of them`() async throws {
    let application = Self.application(.scenes)
    let lists = await changes(
      of: { _ = application.scenes }, during: .launch, .home, .openScene("second"), .closeScene("second"), then: .crash,
      in: application)
    #expect(lists == [true, false, true, true, true])
    await application.handle(.launch)
    let scene = try #require(application.scenes.first)
    let states = await changes(
      of: { _ = scene.state }, during: .unfocusScene(.main), .memoryWarning, .home, .reclaimScene(.main),
      in: application)
    #expect(states == [true, false, true, true])
    await application.handle(.open)
    let next = try #require(application.scenes.first)
    let focus = await changes(of: { _ = next.hasFocus }, during: .home, .unfocusScene(.main), in: application)
    #expect(focus == [false, true])
  }

  @Test func `follows resources`() async throws {
    let application = Self.application()
    let resource = try application.manage("connection", while: .foreground) {
      "handle"
    } release: { _ in
    }
    let list = await changes(of: { _ = application.resources }, during: .launch, .memoryWarning, .home, in: application)
    #expect(list == [true, false, true])
    let status = await changes(of: { _ = resource.status }, during: .open, .memoryWarning, .home, in: application)
    #expect(status == [true, false, true])
    let handles = await changes(of: { _ = resource.current }, during: .open, .memoryWarning, .home, in: application)
    #expect(handles == [true, false, true])
    let values = await changes(of: { _ = try? resource.value }, during: .open, .home, in: application)
    #expect(values == [true, true])
  }

  @Test(arguments: [RunEnd.again, .rest]) func `tells of the error of a loop after which the resource stays held`(
    onError: RunEnd
  ) async throws {
    struct Failure: Error {}
    let system = SimulatedSystem()
    let clock = system.clock
    try system.application.manage("feed", while: .running, onError: onError) {
    } run: {
      try await clock.sleep(for: .seconds(1))
      throw Failure()
    }
    try await system.play("launch")
    let count = Counter()
    withObservationTracking({ _ = system.application.resources }) { count.add() }
    try await system.play("wait:1s")
    #expect(count.value == 1 && system.application.resources.first?.lastError == "Failure()")
  }

  @Test func `tells of resources that come and go`() async throws {
    let application = Self.application()
    let count = Counter()
    withObservationTracking({ _ = application.resources }) { count.add() }
    let resource = try application.manage("connection", while: .foreground) {
      "handle"
    } release: { _ in
    }
    #expect(count.value == 1)
    withObservationTracking({ _ = application.resources }) { count.add() }
    try application.unmanage(resource)
    #expect(count.value == 2)
  }

  @Test(arguments: [LifecycleInput.device(.crash), .system(.terminate)])
  func `may read anything inside a change`(end: LifecycleInput) async throws {
    let application = Self.application(.scenes)
    await application.handle(.launch)
    let scene = try #require(application.scenes.first)
    let seen = Guarded<[Int]>([])
    for read in [{ _ = scene.state }, { _ = application.scenes }, { _ = application.state }] as [@MainActor () -> Void]
    {
      withObservationTracking(read) {
        let count = MainActor.assumeIsolated {
          _ = (application.state, application.deactivationReasons, application.openSessions, application.resources)
          return application.scenes.count
        }
        seen.withLock { $0.append(count) }
      }
    }
    await application.handle(end)
    #expect(seen.withLock { $0.count } == 3)
  }

  @Test func `of a resource may be on any thread`() async throws {
    let application = Self.application()
    let resource = try application.manage("connection", while: .foreground) {
      "handle"
    } release: { _ in
    }
    let count = Counter()
    await Task.detached { withObservationTracking({ _ = resource.current }) { count.add() } }.value
    await application.handle(.launch)
    await application.untilResourcesAreHeld()
    #expect(count.value == 1)
  }

  @Test func `may send inputs from inside a change`() async {
    let application = Self.application()
    withObservationTracking {
      _ = application.state
    } onChange: {
      application.send(.home)
    }
    await application.handle(.launch)
    // Behind the one that was sent.
    await application.handle(.memoryWarning)
    #expect(application.state == .background)
  }

  @Test func `is a sequence of states`() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let application = Self.application()
    var states = Observations { application.state }.makeAsyncIterator()
    var seen = [await states.next()]
    for input in [SystemInput.launch, .beginInterruption(.call), .home, .open] {
      application.send(input)
      seen.append(await states.next())
    }
    #expect(seen == [.notRunning, .active, .inactive, .background, .inactive])
  }
}
