import AppLifecycle
import AppLifecycleTesting
import Dispatch
import PubSub
import Scheduling
import Synchronization
import TestTraits
import Testing

/// `Application.shared` in tests: each has its own.
@MainActor @Suite struct SharedApplicationTests {
  private final class NoDelegate: ApplicationDelegate {}
  private struct Tick: MainActorEvent {}

  private func application() -> Application { Application(delegate: NoDelegate()) }

  @Test(arguments: 0..<8) func `Tests that run in parallel see their own`(_: Int) async {
    let mine = application()
    await Application.withShared(mine) {
      for _ in 0..<200 {
        #expect(Application.shared === mine)
        await Task.yield()
      }
    }
  }

  @Test func `Two bodies that take turns see their own`() async {
    let (one, other) = (application(), application())
    // Each goes on only after the other has: so both are open at once.
    let (turns, next) = AsyncStream.makeStream(of: Void.self)
    async let first: Void = Application.withShared(one) {
      #expect(Application.shared === one)
      for await _ in turns { break }
      #expect(Application.shared === one)
    }
    await Application.withShared(other) {
      #expect(Application.shared === other)
      await Task.yield()
      next.yield()
      #expect(Application.shared === other)
    }
    await first
  }

  @Test func `A body without await, one within another, and one that throws`() {
    let (outer, inner) = (application(), application())
    struct Failure: Error {}
    let result = Application.withShared(outer) {
      #expect(throws: Failure.self) {
        try Application.withShared(inner) {
          #expect(Application.shared === inner && Application.current === inner)
          throw Failure()
        }
      }
      return Application.shared
    }
    #expect(result === outer)
  }

  @Test func `Handlers and tasks of the body see it`() async {
    let mine = application()
    var seen: [Application] = []
    let subscription = mine.bus.subscribe(to: Tick.self) { _ in seen.append(.shared) }
    let task = Application.withShared(mine) {
      mine.bus.post(Tick())
      return Task { seen.append(.shared) }
    }
    await task.value
    subscription.cancel()
    #expect(seen.count == 2 && seen.allSatisfy { $0 === mine })
  }

  @Test func `An asynchronous handler sees the one of the code that subscribed it`() async {
    let (mine, other) = (application(), application())
    var seen: [Application] = []
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let subscription = Application.withShared(mine) {
      mine.bus.receive(Tick.self) { _ async in
        seen.append(.shared)
        end.yield()
      }
    }
    var calls = ends.makeAsyncIterator()
    Application.withShared(other) { mine.bus.post(Tick()) }
    await calls.next()
    mine.bus.post(Tick())
    await calls.next()
    subscription.cancel()
    #expect(seen.count == 2 && seen.allSatisfy { $0 === mine })
  }

  @Test(.longRunning) func `It comes before the adopted one, which comes back after it`() async {
    await #expect(processExitsWith: .success) {
      await MainActor.run {
        let (adopted, mine) = (Application(delegate: NoDelegate()), Application(delegate: NoDelegate()))
        Application.adopt(adopted)
        precondition(Application.shared === adopted)
        Application.withShared(mine) { precondition(Application.shared === mine) }
        precondition(Application.shared === adopted)
      }
    }
  }

  @Test(.longRunning) func `The adopted one does not begin again when it has ended, and keeps its exit status`() async {
    await #expect(processExitsWith: .success) {
      let application = await Application(delegate: NoDelegate())
      await Application.adopt(application)
      await application.handle(.launch)
      await application.shutDown(status: 3)
      application.send(.open)
      let report = await application.handle(.fetch)
      let (state, status) = await MainActor.run { (application.state, application.exitStatus) }
      precondition(report.outcome == .ignored(reason: .notRunning))
      precondition(state == .notRunning && status == 3)
    }
  }

  /// A block on a queue belongs to no task.
  private nonisolated static func seenOnQueue() -> Application? {
    let seen = Mutex<Application?>(nil)
    let done = DispatchSemaphore(value: 0)
    DispatchQueue(label: "queue").async {
      seen.withLock { $0 = Application.current }
      done.signal()
    }
    done.wait()
    return seen.withLock { $0 }
  }

  @Test(.longRunning) func `Code on a queue sees the one of the only system that plays a script`() async {
    await #expect(processExitsWith: .success) {
      let (system, other) = await (SimulatedSystem(), SimulatedSystem())
      let isSeen = Mutex(false)
      await system.addAction("ask") { [application = system.application] in
        isSeen.withLock { $0 = Self.seenOnQueue() === application }
      }
      try await system.play("launch; do:ask")
      precondition(isSeen.withLock { $0 } && Application.current == nil)
      // Two systems exist, and none plays.
      precondition(Self.seenOnQueue() == nil)
      withExtendedLifetime(other) {}
    }
  }

  @Test func `A task of the test sees none while another one plays, whose detached tasks see it`() async throws {
    let system = SimulatedSystem()
    let (plays, mayEnd) = (OneShot<Bool>(), OneShot<Bool>())
    try system.application.manage("gate", while: .running) { [application = system.application] in
      let seen = await Task.detached { Application.current }.value
      await application.external {
        plays.settle(seen === application)
        _ = await mayEnd.value
      }
    }
    async let playing: Void = { _ = try await system.play("launch") }()
    #expect(await plays.value)
    #expect(Application.current == nil)
    mayEnd.settle(true)
    try await playing
  }

  @Test(.longRunning) func `Code on a queue sees the one of the only system that exists, between scripts`() async {
    await #expect(processExitsWith: .success) {
      do {
        let system = await SimulatedSystem()
        let application = await system.application
        precondition(Self.seenOnQueue() === application)
        try await system.play("launch; home")
        precondition(Self.seenOnQueue() === application)
        // A task of the test says which application it means.
        precondition(Application.current == nil)
      }
      precondition(Self.seenOnQueue() == nil)
    }
  }

  @Test(.longRunning) func `Without one the message says what to do`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        guard Application.current == nil else { return }
        _ = Application.shared
      }
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let advice = [
      "there is no shared application", "`main`", "adopt(_:)", "Application.withShared(application)", "Code on a queue",
    ]
    for advice in advice {
      #expect(message.contains(advice), "\(message)")
    }
  }
}
