import AppLifecycle
import AppLifecycleTesting
import Foundation
import LifecycleJournal
import PubSub
import Scheduling
import Testing
import UnixHost

// The samples of the README and of the pages on resources, services and journals, but for those of the examples.
// DocumentationTests compares them word for word.

@MainActor final class DueDateModel {
  private(set) var label = ""
  private let today: () -> Int

  init(bus: EventBus, today: @escaping () -> Int) {
    self.today = today
    // Held weakly and passed in: nothing to store, nothing to cancel, no cycle.
    bus.subscribe(to: Application.WillEnterForeground.self, for: self) { model, _ in
      model.refresh()
    }
    bus.subscribe(to: Application.SignificantTimeChange.self, for: self) { model, _ in
      model.refresh()
    }
    refresh()
  }

  private func refresh() { label = "day \(today()) of 280" }
}

private let log = Guarded<[String]>([])
private func note(_ line: String) { log.withLock { $0.append(line) } }
private func save() { note("save") }

private struct Database {
  static func open() async throws -> Database {
    note("open database")
    return Database()
  }
  func close() async { note("close database") }
}

private struct Feed {
  init(for database: Database) async throws { note("open feed") }
  func close() async { note("close feed") }
}

@MainActor private func hold(_ application: Application) throws {
  let database = try application.manage("database", while: .running) {
    try await Database.open()
  } release: {
    await $0.close()
  }
  let feed = try application.manage("feed", while: .foreground, after: database) {
    try await Feed(for: $0)
  } release: {
    await $0.close()
  }
  #expect(database.current == nil && feed.current == nil)
}

private actor Pool {
  init(connections: Int) async throws { note("open \(connections)") }
  func serve() async {
    note("serve")
    await phaseCloses()
  }
  func close() { note("close pool") }
}

@MainActor private func holdPool(_ application: Application) throws {
  try application.manage("pool", while: .running) { @concurrent in
    try await Pool(connections: 20)
  } run: { pool in
    await pool.serve()  // an actor's method
  } release: { @concurrent pool in
    await pool.close()
  }
}

private struct NoAnswer: Error {}

private struct Client {
  static func connect(to address: String) async throws -> Client {
    note("connect to \(address)")
    return Client()
  }
  func run() async throws {
    for await _ in AsyncStream<Never>.makeStream().stream {}
    note("run ends")
  }
  func ping() async throws {
    note("ping")
    if log.withLock({ $0 }).count(where: { $0 == "ping" }) == 2 { throw NoAnswer() }
  }
  func close() async { note("close client") }
}

@MainActor private func connect(_ application: Application, to address: String) throws {
  let client = try application.manage(
    "client", while: .running, checkEvery: .seconds(5)
  ) {
    try await Client.connect(to: address)
  } run: { client in
    try await client.run()
  } check: { client in
    try await client.ping()
  } release: { client in
    await client.close()
  }
  #expect(client.status == .idle)
}

private struct Server {
  let port: Int
  func run(onBound: () -> Void) async throws { onBound() }
}

@MainActor private func serve(_ application: Application) throws {
  let server = try application.manage(
    "server", while: .running, retry: .failFast(), readiness: .declared()
  ) {
    Server(port: 8080)
  } run: { server in
    try await server.run(onBound: { declareReady() })
  }
  #expect(server.status == .idle)
}

@MainActor private func poll(_ application: Application) async {
  func refresh() { note("refresh") }
  await application.run(while: .active) {
    while !Task.isCancelled {
      refresh()
      try? await application.clock.sleep(for: .seconds(60))
    }
  }
}

@MainActor private final class Board {
  private(set) var shown = 0

  func appear(in application: Application) {
    application.run(self, while: .foreground) { [clock = application.clock] board in
      while true {
        board.show(try await board.load())
        try await clock.sleep(for: .seconds(10))
      }
    }
  }

  private func load() async throws -> Int { 1 }
  private func show(_ count: Int) { shown += count }
}

@MainActor private func finish(_ application: Application) {
  func upload() async { note("upload") }
  application.performBackgroundTask(named: "upload") { await upload() }
}

@MainActor private final class Prices {
  private(set) var loads = 0

  init(_ application: Application) {
    application.task(self, every: .seconds(60)) { prices in
      try await prices.load()
    }
  }

  private func load() async throws { loads += 1 }
}

/// A component that does the same in a way that no test can follow.
@MainActor private final class StrayPrices {
  static let sleep = #line + 5

  init(_ application: Application) {
    Task {
      while true {
        try await application.clock.sleep(for: .seconds(60))
      }
    }
  }
}

@MainActor private func record(_ application: Application, at path: String) -> Journal {
  func offerToSendReport() { note("offer to send a report") }
  let journal = Journal(at: path, of: application)
  if journal.previousExit.kind == .crashed { offerToSendReport() }
  let bus = application.bus
  let failing = bus.receive(Journal.DidFail.self, replay: .latest) { event in
    print("\(event.failure); \(event.failure.advice); \(event.missing)")
  }
  withExtendedLifetime(failing) {}
  return journal
}

private final class SavingDelegate {}

extension SavingDelegate: ApplicationDelegate {
  func applicationDidEnterBackground(_ application: Application) { save() }
}

@MainActor @Suite(.serialized) struct `The samples of the README` {
  @Test func `keep the label fresh`() async throws {
    let system = SimulatedSystem()
    let model = DueDateModel(bus: system.bus) {
      142 + Int(system.clock.now.offset / .seconds(86_400))
    }
    try await system.play("launch; home; wait:1d; open")
    #expect(model.label == "day 143 of 280")
  }

  @Test func `run while active, and finish out of sight`() async throws {
    log.withLock { $0 = [] }
    let system = SimulatedSystem()
    let polling = system.application.task { await poll(system.application) }
    try await system.play("launch; wait:90s; home")
    finish(system.application)
    try await system.play("wait:1h; open; kill")
    polling.cancel()
    try await polling.value
    #expect(log.withLock { $0 } == ["refresh", "refresh", "upload", "refresh"])
    #expect(system.record.violations.isEmpty)
  }

  @Test func `run while in the foreground`() async throws {
    let system = SimulatedSystem()
    let board = Board()
    board.appear(in: system.application)
    try await system.play("launch; wait:15s; home; wait:1h")
    #expect(board.shown == 2)
    try await system.play("open; wait:5s; kill")
    #expect(board.shown == 3)
    #expect(system.record.violations.isEmpty)
  }

  @Test func `load as long as the owner lives`() async throws {
    let system = SimulatedSystem()
    var prices: Prices? = Prices(system.application)
    try await system.play("launch; wait:150s")
    #expect(prices?.loads == 3)
    weak let weakly = prices
    prices = nil
    #expect(weakly == nil)
    try await system.play("wait:1m")
    #expect(system.clock.sleepers == 0)
  }

  @Test func `be told what to write instead of a plain task`() async throws {
    let system = SimulatedSystem()
    withExtendedLifetime(StrayPrices(system.application)) {}
    let error = await #expect(throws: EscapedWork.self) { try await system.play("launch") }
    let page = try Documentation.text(of: "Sources/AppLifecycle/AppLifecycle.docc/HoldingResources.md")
    let line = "DocumentationTests/ReadmeSamples.swift:\(StrayPrices.sleep)"
    #expect(page.contains(error?.description.replacing(line, with: "MyApp/Prices.swift:14") ?? "no violation"))
  }

  @Test func `hold and save in order`() async throws {
    log.withLock { $0 = [] }
    let system = SimulatedSystem { SavingDelegate() }
    try hold(system.application)
    try await system.play("launch; wait:1s; home; kill")
    #expect(
      log.withLock { $0 } == ["open database", "open feed", "save", "close feed", "close database"])
  }

  @Test func `hold an actor off the main actor`() async throws {
    log.withLock { $0 = [] }
    let system = SimulatedSystem()
    try holdPool(system.application)
    try await system.play("launch; wait:1s; kill")
    #expect(log.withLock { $0 } == ["open 20", "serve", "close pool"])
  }

  @Test func `acquire again what breaks`() async throws {
    log.withLock { $0 = [] }
    let system = SimulatedSystem()
    try connect(system.application, to: "a")
    try await system.play("launch; wait:11s")
    // The second check fails ten seconds after the acquire: that is long enough to be tried again at once.
    #expect(log.withLock { $0 } == ["connect to a", "ping", "ping", "run ends", "close client", "connect to a"])
  }

  @Test func `keep a journal, and learn of a crash from it`() async throws {
    log.withLock { $0 = [] }
    let path = FileManager.default.temporaryDirectory.appending(path: "trips-\(UUID().uuidString).jsonl").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    for script in ["launch; crash", "launch; kill", "launch"] {
      let system = SimulatedSystem()
      let journal = record(system.application, at: path)
      try await system.play(script)
      journal.close()
    }
    #expect(log.withLock { $0 } == ["offer to send a report"])
  }
}
