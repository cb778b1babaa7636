import AppLifecycle
import AppLifecycleTesting
import Dispatch
import Foundation
import PubSub
import Scheduling
import TestTraits
import Testing

private final class EmptyDelegate: ApplicationDelegate {}

@globalActor private actor Storage { static let shared = Storage() }

/// Lines that code on any thread adds.
private final class Log: Sendable {
  private let lines = Guarded<[String]>([])

  func note(_ line: String) { lines.withLock { $0.append(line) } }

  func take() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}

/// Counts what code on any thread has begun.
private final class Counter: Sendable {
  private let count = Guarded(0)

  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}

/// A component that is an actor: a connection with its own queue of work.
private actor Connection {
  private let log: Log
  private let name: String

  init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }

  func open() -> Connection {
    note("open")
    return self
  }
  func serve() async {
    note("serve")
    await phaseCloses()
    note("drained")
  }
  func ping() { note("ping") }
  func close() { note("close") }

  private func note(_ what: String) { log.note("\(what) \(name)") }
}

@Suite(.timeLimit(.hang)) @MainActor struct `Components off the main actor` {
  private let log = Log()

  @Test func `are acquired, served, checked and released on their actors, in order`() async throws {
    let system = SimulatedSystem()
    let application = system.application
    let (database, pool) = (Connection("database", log), Connection("pool", log))
    let held = try application.manage("database", while: .running) {
      await database.open()
    } release: {
      await $0.close()
    }
    try application.manage("pool", while: .foreground, after: held, checkEvery: .seconds(1)) { _ in
      await pool.open()
    } run: {
      await $0.serve()
    } check: {
      await $0.ping()
    } release: {
      await $0.close()
    }
    try await system.play("launch; wait:1500ms; kill")
    #expect(
      log.take() == [
        "open database", "open pool", "serve pool", "ping pool", "drained pool", "close pool", "close database",
      ])
    #expect(system.record.violations.isEmpty)
  }

  @Test func `run in closures of their own isolation`() async throws {
    let application = Application(delegate: EmptyDelegate(), configuration: .unhurried)
    let (log, done) = (log, OneShot<Bool>())
    // The main actor of a program is the main thread.
    let main = pthread_self()
    let onMain: @Sendable () -> Bool = { pthread_equal(pthread_self(), main) != 0 }
    let isolated: @Sendable (Int) async -> Void = { @Storage number in
      Storage.assertIsolated()
      log.note("run \(number), main \(onMain())")
      done.settle(true)
    }
    let resource = try application.manage("resource", while: .running) { @concurrent in
      log.note("acquire, main \(onMain())")
      return 1
    } release: { @concurrent _ in
      log.note("release, main \(onMain())")
    }
    application.run(Storage.shared, while: .running, after: resource) { @concurrent _, number in
      await isolated(number)
    }
    await application.handle(.launch)
    _ = await done.value
    await application.handle(.shutDown)
    #expect(log.take() == ["acquire, main false", "run 1, main false", "release, main false"])
  }

  @Test func `do their work while the main actor is busy`() async throws {
    let application = Application(delegate: EmptyDelegate())
    let (began, allBegan, worked) = (Counter(), OneShot<Bool>(), DispatchSemaphore(value: 0))
    let gates = (0..<200).map { _ in OneShot<Bool>() }
    for (number, gate) in gates.enumerated() {
      try application.manage("resource \(number)", while: .running) { @concurrent in
        if began.next() == gates.count { allBegan.settle(true) }
        _ = await gate.value
        worked.signal()
      }
    }
    await application.handle(.launch)
    _ = await allBegan.value
    openAndWaitBusily(gates, worked)
    #expect(application.resources.allSatisfy { $0.status == .acquiring }, "the main actor had no turn")
    #expect(await application.untilResourcesAreHeld().isEmpty)
    await application.handle(.shutDown)
  }

  /// The check and the wait behind it must be one step: with an executor preference, a hop of the task lets other jobs of
  /// the main actor run in between.
  @Test func `are awaited, however closely the last acquire follows the question`() async throws {
    for _ in 1...2000 {
      let application = Application(delegate: EmptyDelegate())
      let gate = OneShot<Bool>()
      try application.manage("resource", while: .running) { _ = await gate.value }
      await application.handle(.launch)
      async let failed = application.untilResourcesAreHeld()
      await Task.yield()
      gate.settle(true)
      #expect(await failed.isEmpty)
    }
  }

  /// Blocks the main actor's thread until all acquires have done their work.
  private func openAndWaitBusily(_ gates: [OneShot<Bool>], _ worked: DispatchSemaphore) {
    for gate in gates { gate.settle(true) }
    for _ in gates { worked.wait() }
  }
}
