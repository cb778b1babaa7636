import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// Tasks that belong to the application: followed by the simulation, named in the ledger, ended with the process.
@Suite(.timeLimit(.hang)) @MainActor struct `A task of the application` {
  private static let file = "AppLifecycleTests/ApplicationTaskTests.swift"

  private func entries(_ application: Application) -> [String] {
    application.ledger.entries.filter { $0.kind == .task }.map(\.description)
  }

  @Test func `is followed by the simulation, as often as it is repeated`() async throws {
    for number in 1...repetitions(default: 100) {
      let system = SimulatedSystem()
      let poller = Poller(system.application)
      try await system.play("launch; wait:150s; home; wait:4s; open; wait:60s; kill")
      #expect(poller.seen == [0, 60, 120, 180].map(Duration.seconds), "run \(number)")
      #expect(poller.readings == [0, 10, 20].map(Duration.seconds), "run \(number)")
      #expect(system.clock.sleepers == 0)
    }
  }

  @Test func `is in the ledger once it has ended, by its label or its line`() async throws {
    struct Failed: Error, CustomStringConvertible { var description: String { "no answer" } }
    let system = SimulatedSystem()
    let application = system.application
    try await system.play("launch")
    application.task(label: "first") { try await application.clock.sleep(for: .seconds(2)) }
    let line = #line + 1
    application.task { throw Failed() }
    let cancelled = application.task(label: "third") { try await application.clock.sleep(for: .seconds(60)) }
    application.task(label: "deaf") { await forever() }
    try await system.play("wait:2s")
    cancelled.cancel()
    try await system.play("wait:1s; kill")
    #expect(
      entries(application) == [
        "\(Self.file):\(line) (task, task) 0 s, failed: no answer", "first (task, task) 2 s",
        "third (task, task) 2 s, cancelled", "deaf (task, task) 3 s, cut short",
      ])
  }

  @Test(arguments: ["kill", "crash", "reboot", "home; wait:6s; kill"])
  func `is cancelled with the process, in the order of begin`(end: String) async throws {
    let system = SimulatedSystem()
    let application = system.application
    let log = Lines()
    try await system.play("launch")
    for name in ["a", "b", "c"] {
      application.task(label: name) {
        do { try await application.clock.sleep(for: .seconds(3_600)) } catch { log.add("\(name): \(type(of: error))") }
      }
    }
    try await system.play(end)
    await system.clock.settle()
    #expect(log.all == ["a", "b", "c"].map { "\($0): CancellationError" })
    try await system.play("launch; wait:2h")
    #expect(log.all.count == 3)
  }

  @Test func `gives its value, and its error, to the code that awaits it`() async throws {
    let system = SimulatedSystem()
    let application = system.application
    let task = application.task { () async throws -> Int in
      try await application.clock.sleep(for: .seconds(5))
      return 7
    }
    #expect(try await system.clock.running { () async throws -> Int in try await task.value } == 7)
    #expect(application.clock.now.offset == .seconds(5))
    let failing = application.task { throw CancellationError() }
    await #expect(throws: CancellationError.self) { try await failing.value }
  }

  @Test func `ends with its owner, which it does not keep alive in between`() async throws {
    let system = SimulatedSystem()
    var counter: Counter? = Counter()
    let log = Lines()
    if let counter {
      system.application.task(counter, every: .seconds(10), label: "counting") { counter in
        counter.count += 1
        log.add("\(counter.count)")
      }
    }
    try await system.play("launch; wait:25s")
    weak let weakly = counter
    counter = nil
    #expect(weakly == nil)
    try await system.play("wait:1h")
    #expect(log.all == ["1", "2", "3"])
    #expect(entries(system.application) == ["counting (task, task) 30 s"])
  }

  @Test func `does not begin for an owner that is gone`() async throws {
    let system = SimulatedSystem()
    let log = Lines()
    system.application.task(Counter()) { _ in log.add("begun") }
    try await system.play("launch")
    #expect(log.all.isEmpty)
  }

  @Test func `repeats no faster than once in a millisecond`() async throws {
    let system = SimulatedSystem()
    let counter = Counter()
    for interval in [Duration.zero, .seconds(-1)] {
      system.application.task(counter, every: interval) { $0.count += 1 }
    }
    try await system.play("launch; wait:3ms")
    #expect(counter.count == 8)
  }

  @Test func `is no part of the handler that starts it: no transition waits for it`() async throws {
    let system = SimulatedSystem()
    let application = system.application
    let log = Lines()
    let subscription = system.bus.receive(Application.DidEnterBackground.self) {
      (_: Application.DidEnterBackground) async in
      application.task {
        try await application.clock.sleep(for: .seconds(3_600))
        log.add("slept")
        // A handler's own input would only be queued.
        let report = await application.handle(.memoryWarning)
        log.add("\(report.outcome)")
      }
    }
    try await system.play("launch; home; open")
    #expect(application.clock.now.offset == .zero)
    try await system.play("wait:1h")
    #expect(log.all == ["slept", "completed"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `runs on a real clock as well`() async throws {
    let application = Application(delegate: Silent(), clock: ContinuousClock())
    let before = application.clock.now
    try await application.task { try await application.clock.sleep(for: .milliseconds(1)) }.value
    try await application.clock.sleep(until: before)
    try await Task.sleep(for: .milliseconds(1), clock: application.clock)
    #expect(before.duration(to: application.clock.now) >= .milliseconds(2))
    #expect(application.clock.minimumResolution == ContinuousClock().minimumResolution)
    await #expect(throws: CancellationError.self) {
      let task = application.task { try await application.clock.sleep(for: .seconds(1_000_000_000_000)) }
      task.cancel()
      try await task.value
    }
  }
}

/// A component as a user writes one.
@MainActor private final class Poller {
  private(set) var seen: [Duration] = []
  private(set) var readings: [Duration] = []

  init(_ application: Application) {
    application.task(self, every: .seconds(60)) { poller in
      poller.seen.append(application.clock.now.offset)
    }
    application.task { [weak self] in
      for _ in 0..<3 {
        self?.readings.append(application.clock.now.offset)
        try await (application.clock as any Clock<Duration>).sleep(for: .seconds(10))
      }
    }
  }
}

@MainActor private final class Counter {
  var count = 0
}

private final class Lines: Sendable {
  private let lines = Guarded<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

@MainActor private final class Silent: ApplicationDelegate {}

/// Ignores its cancellation, and never ends.
private func forever() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
