import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// What ends late belongs to what began it, and not to what has its place by now.
@MainActor @Suite(.timeLimit(.hang)) struct `An end that comes late` {
  private struct DiskIsFull: Error {}
  private typealias Wait = AsyncStream<Never>

  /// Keeps state as the real keeper does, but a save ends only when the test says so.
  @MainActor private final class Keeper: StateKeeper {
    private(set) var completions: [@MainActor () -> Void] = []
    private(set) var endedSessions: [SceneIdentifier] = []
    private(set) var endedWithProcess: [SceneIdentifier] = []
    /// Called when a save is requested, with the number of earlier ones.
    var whenRequested: ((Int) -> Void)?
    /// Called when a save must end before the call returns.
    var whenSavedAtOnce: (() -> Void)?

    func restore() {}
    func saveBeforeLeaving(_ completion: @escaping @MainActor () -> Void) {
      completions.append(completion)
      whenRequested?(completions.count - 1)
    }
    func saveAtOnce() { whenSavedAtOnce?() }
    func sessionDidEnd(_ identifier: SceneIdentifier, endsProcess: Bool) {
      if endsProcess { endedWithProcess.append(identifier) } else { endedSessions.append(identifier) }
    }
    func processDidEnd() {}
  }

  /// A simulated system that goes on after an overrun, as a real host does.
  private func system() -> SimulatedSystem {
    var configuration = Application.Configuration()
    configuration.retry.jitter = 0
    let system = SimulatedSystem(configuration: configuration)
    system.application.enforcesBudgets = false
    return system
  }

  /// Waits for the end of a stream whatever happens to the task.
  private func outlast(_ wait: Wait) async { await Task { @MainActor in for await _ in wait {} }.value }

  @Test func `of a save can be seen by the host's thread, which waits for it`() async throws {
    let (system, keeper) = (system(), Keeper())
    try await system.play("launch")
    let application = system.application
    application.stateKeeper = keeper
    var isSaving: [Bool] = []
    keeper.whenSavedAtOnce = { isSaving.append(application.isSavingAtOnce) }
    // The save does not end within its budget, so it is performed at once, before and after the rest is given up. The
    // suspension saves once more.
    try await system.play("home")
    #expect(isSaving == [true, true, true])
    #expect(!application.isSavingAtOnce)
  }

  @Test func `of a save is not the end of the next step's save`() async throws {
    let (system, keeper) = (system(), Keeper())
    try await system.play("launch")
    system.application.stateKeeper = keeper
    keeper.whenRequested = { number in
      // The save of the step before ends while that of this step runs.
      if number == 1 { keeper.completions[0]() }
    }
    try await system.play("kill")
    let overruns = system.application.ledger.overruns
    #expect(keeper.completions.count == 2)
    #expect(overruns.map(\.callback) == [.didEnterBackground, .willTerminate])
    #expect(overruns.map(\.culprits) == [["saved state"], ["saved state"]])
  }

  @Test func `of a check says nothing of the resource that has the place of the one that was checked`() async throws {
    let system = system()
    let (wait, end) = Wait.makeStream()
    try await system.play("launch")
    let first = try system.application.manage("first", while: .running, readiness: .checked) {
    } check: {
      await outlast(wait)
    }
    try await system.play("wait:1s")
    try system.application.unmanage(first)
    try await system.play("wait:10s")
    let second = try system.application.manage("second", while: .running, readiness: .checked) {
    } check: {
      try await system.clock.sleep(for: .seconds(20))
    }
    try await system.play("wait:1s")
    let before = second.status
    end.finish()
    try await system.play("wait:1s")
    #expect(second.status == before && before != .held)
    try await system.play("wait:20s")
    #expect(second.status == .held)
  }

  @Test func `of a loop whose resource was released without it may be an error, which is told`() async throws {
    let system = system()
    let (wait, end) = Wait.makeStream()
    let told = Guarded<[String]>([])
    let tokens = [
      system.bus.subscribe(to: EventBus.HandlerFailure.self) { (_: EventBus.HandlerFailure) in
        told.withLock { $0.append("failure") }
      },
      system.bus.subscribe(to: Application.RunDidEnd.self) { event in
        told.withLock { $0.append(event.error ?? "no error") }
      },
    ]
    try await system.play("launch")
    var runs = 0
    let resource = try system.application.manage("resource", while: .running) {
    } run: { _ in
      runs += 1
      guard runs == 1 else { return try await system.clock.sleep(for: .seconds(1_000)) }
      await outlast(wait)
      throw DiskIsFull()
    }
    try await system.play("wait:1s")
    resource.invalidate(because: DiskIsFull())
    try await system.play("wait:20s")
    #expect(resource.status == .held, "acquired again, without the loop")
    told.withLock { $0 = [] }
    end.finish()
    try await system.play("wait:1s")
    withExtendedLifetime(tokens) {}
    #expect(told.withLock { $0 } == ["DiskIsFull()", "failure"])
    let entries = system.application.ledger.entries.filter { $0.name == "resource" && $0.step == "run" }
    #expect(entries.map(\.outcome) == [.failed("DiskIsFull()")])
  }

  @Test func `of the last run breaks the resource and its lease at once`() async throws {
    let system = system()
    var lease: ResourceLease?
    try await system.play("launch")
    let server = try system.application.manage(
      "server", while: .running, retry: RetryPolicy(jitter: 0, maximumRetries: 0), onReturn: .again
    ) {
      lease = .current
    } run: {
      try await system.clock.sleep(for: .seconds(1))
    }
    try system.application.manage("client", while: .running, after: server) { _ in
    } release: { _ in
      try await system.clock.sleep(for: .seconds(3))
    }
    try await system.play("wait:2s")
    #expect(system.application.resources.first?.isBroken == true)
    #expect(lease?.isValid == false)
    server.invalidate(because: DiskIsFull())
    try await system.play("wait:500ms")
    let entries = system.application.ledger.entries.filter { $0.step == "invalidate" }
    #expect(entries.count == 1 && system.application.resources.first?.lastError != "DiskIsFull()")
  }

  /// On a real clock a timer may wake a check before the host has said that the process runs again.
  @Test func `of a suspension has a check that was due follow at once`() async throws {
    let (sleeps, asked) = AsyncStream.makeStream(of: Duration.self)
    let (checks, checked) = AsyncStream.makeStream(of: Duration.self)
    let clock = HandClock { asked.yield($0.offset) }
    let application = Application(delegate: EmptyDelegate(), clock: clock)
    try application.manage("connection", while: .running, checkEvery: .seconds(30)) {
    } check: {
      checked.yield(clock.now.offset)
    }
    var sleep = sleeps.makeAsyncIterator()
    var check = checks.makeAsyncIterator()
    await application.handle(.launch)
    while await sleep.next() != .seconds(30) {}
    await application.handle(.home)
    await application.handle(.suspend)
    clock.advance(by: .seconds(40))
    while await sleep.next() != .seconds(41) {}
    await application.handle(.open)
    clock.advance(by: .seconds(1))
    #expect(await check.next() == .seconds(41))
  }

  @Test func `of a wait for background tasks leaves the causes of other waits alone`() async throws {
    let system = system()
    try await system.play("launch; home")
    let task = system.application.beginBackgroundTask(named: "upload")
    let isWanted = Guarded(true)
    async let first = system.application.finishBackgroundTasks(
      within: .seconds(1), cause: "first", while: { isWanted.withLock { $0 } })
    async let second = system.application.finishBackgroundTasks(within: .seconds(2), cause: "second")
    try await system.play("wait:1500ms")
    #expect(await first == ["upload"])
    #expect(system.application.transitions.waitCauses == ["second"])
    task.end()
    #expect(await second == [])
    #expect(system.application.transitions.waitCauses == [])
  }

  @Test func `of a window, too late for its budget, still ends its session's state`() async throws {
    let keeper = Keeper()
    let system = SimulatedSystem(profile: .scenes)
    let token = system.bus.receive(Application.Scene.DidEnterBackground.self) { event in
      if event.scene.identifier == "right" { try await system.clock.sleep(for: .seconds(60)) }
    }
    try await system.play("launch; scene:open:right")
    system.application.stateKeeper = keeper
    try await system.play("scene:close:right")
    withExtendedLifetime(token) {}
    #expect(system.application.state == .notRunning)
    #expect(keeper.endedSessions == [] && keeper.endedWithProcess == ["right"])
  }
}

/// The delegate that has nothing to do.
@MainActor private final class EmptyDelegate: ApplicationDelegate {}
