import AppLifecycle
import AppLifecycleTesting
import PubSub
import Synchronization
import Testing
import UnixHost

// The listing of Sources/UnixHost/UnixHost.docc/ASystemdService.md, word for word, around doubles.

typealias Job = Int

@MainActor private var log: [String] = []

@MainActor final class JobStore {
  /// How long a job takes.
  static var clock: (any Clock<Duration>)?

  static func open() async throws -> JobStore {
    log.append("open")
    return JobStore()
  }

  func perform(_ job: Job) async {
    log.append("job \(job) begins")
    try? await Self.clock?.sleep(for: .milliseconds(200))
    log.append("job \(job) ends")
  }

  func save(_ count: Int) async throws { log.append("\(count) saved") }
  func close() async { log.append("close") }
}

@MainActor final class JobService {
  fileprivate var worker: ManagedResource<Worker>?

  fileprivate func readSettings() { log.append("settings") }
}

/// Performs one job after another; asked to end, it finishes the one that has begun.
@MainActor final class Worker {
  private let database: JobStore
  private let jobs = AsyncStream.makeStream(of: Job.self)
  private let isClosing = Atomic(false)
  private(set) var count = 0

  init(_ database: JobStore) { self.database = database }

  func add(_ job: Job) { jobs.continuation.yield(job) }

  func work() async {
    await withPhaseClosingHandler {
      for await job in jobs.stream {
        if isClosing.load(ordering: .relaxed) { break }
        await database.perform(job)
        count += 1
      }
    } onClose: {
      self.stop()
    }
  }

  // Called on any thread. A worker that waits for a job wakes up.
  private nonisolated func stop() {
    isClosing.store(true, ordering: .relaxed)
    jobs.continuation.finish()
  }
}

extension JobService: ServiceApplicationDelegate {
  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.willTerminateBudget = .seconds(10)
    return configuration
  }

  func applicationDidFinishLaunching(_ application: Application) {
    application.bus.subscribe(to: ServiceHost.Reload.self, for: self) { service, _ in
      service.readSettings()
    }
    do {
      let database = try application.manage("database", while: .running) {
        try await JobStore.open()
      } release: {
        await $0.close()
      }
      worker = try application.manage(
        "worker", while: .running, after: database, onReturn: .rest
      ) { store in
        Worker(store)
      } run: { worker in
        await worker.work()
      } release: { worker in
        try await database.value.save(worker.count)
      }
    } catch {
      // A mistake in the program, such as two resources of one name.
      preconditionFailure("\(error)")
    }
  }
}

@Suite @MainActor struct `The service of the page on services` {
  /// What the service does that gets so many jobs.
  private func play(jobs: Int) async throws -> SimulatedSystem {
    log = []
    let service = JobService()
    let system = SimulatedSystem { service }
    JobStore.clock = system.clock
    defer { JobStore.clock = nil }
    try await system.play("launch:background; wait:1s")
    let worker = try #require(service.worker?.current)
    for job in 0..<jobs { worker.add(job + 1) }
    try await system.play("wait:300ms; kill")
    return system
  }

  @Test func `finishes its job, saves, and closes the database, in this order`() async throws {
    let system = try await play(jobs: 3)
    #expect(
      log == ["open", "job 1 begins", "job 1 ends", "job 2 begins", "job 2 ends", "2 saved", "close"])
    #expect(system.record.violations.isEmpty)
    // A worker that waits for a job ends at once.
    _ = try await play(jobs: 0)
    #expect(log == ["open", "0 saved", "close"])
  }
}
