import AppLifecycle
import AppLifecycleTesting
import LifecycleJournal
import PubSub
import TestFiles
import TestTraits
import Testing

/// The code that spent the time, in a journal.
@MainActor @Suite(.timeLimit(.hang)) struct EntryTests {
  private let directory: TemporaryDirectory
  private let system = SimulatedSystem()
  private var path: String { directory.file() }

  init() throws { directory = try TemporaryDirectory() }

  private func play(_ script: String, entries: Journal.EntryPolicy = .notable) async throws -> [JournalEntry] {
    var configuration = Journal.Configuration()
    configuration.entries = entries
    let journal = Journal(at: path, of: system.application, configuration: configuration)
    try await system.play(script)
    journal.close()
    let all = LifecycleJournalTests.entries(of: path)
    #expect(all.damage == [] && all.gaps == [])
    return all
  }

  private struct Offline: Error {}

  @Test func `resources, background tasks and slow handlers stand there with their time and their position`()
    async throws
  {
    let (application, bus, clock) = (system.application, system.bus, system.clock)
    try application.manage("feed", while: .foreground) {
      try await clock.sleep(for: .milliseconds(420))
    } release: {
      try await clock.sleep(for: .milliseconds(60))
      throw Offline()
    }
    let line = #line + 2
    let subscriptions = [
      bus.receive(Application.DidEnterBackground.self) { _ in try await clock.sleep(for: .milliseconds(300)) },
      bus.subscribe(to: Application.DidEnterBackground.self, label: "quick") { _ in },
      bus.subscribe(to: Application.WillResignActive.self) { _ in
        application.performBackgroundTask(named: "upload") { try? await clock.sleep(for: .seconds(12)) }
      },
    ]
    let all = try await play("launch; wait:1s; home; wait:20s")
    withExtendedLifetime(subscriptions) {}
    #expect(
      all.spent.map { "\($0.kind) \($0.name) \($0.step) \($0.began) \($0.duration) \($0.outcome)" } == [
        "resource feed acquire 0.0 seconds 0.42 seconds completed",
        "subscriber LifecycleJournalTests/EntryTests.swift:\(line) applicationDidEnterBackground 1.0 seconds 0.3 seconds completed",
        "resource feed release 1.3 seconds 0.06 seconds failed(\"Offline()\")",
        "task upload backgroundTask 1.0 seconds 12.0 seconds completed",
      ])
    // What is read is what the ledger says, and the run's length knows of it.
    let ledger = Set(application.ledger.entries)
    #expect(all.spent.allSatisfy(ledger.contains) && all.spent[1].source?.hasSuffix("EntryTests.swift:\(line)") == true)
    #expect(all.records == LifecycleJournalTests.entries(of: path).records && all.records.violations == [])
  }

  @Test(arguments: Journal.EntryPolicy.allCases)
  func `as many stand there as were asked for`(policy: Journal.EntryPolicy) async throws {
    let subscription = system.bus.subscribe(to: Application.DidBecomeActive.self, label: "quick") { _ in }
    try system.application.manage("database", while: .running) {
    } release: {
    }
    let all = try await play("launch; home; kill", entries: policy)
    withExtendedLifetime(subscription) {}
    let names = all.spent.map(\.name)
    switch policy {
    case .none: #expect(names.isEmpty)
    case .notable: #expect(names == ["database", "database"])
    case .all: #expect(Set(names).isSuperset(of: ["database", "quick", "applicationDidBecomeActive"]))
    }
  }

  @Test func `the code that overran is there before the process is gone`() async throws {
    let clock = system.clock
    let subscription = system.bus.receive(Application.DidEnterBackground.self, label: "slow") { _ in
      try await clock.sleep(for: .seconds(9))
    }
    let all = try await play("launch; home")
    withExtendedLifetime(subscription) {}
    #expect(all.spent.map(\.outcome) == [.overran] && all.spent.first?.isLate == true)
    #expect(all.records.last?.name == "notRunning" && all.last?.content == all.records.last.map { .line(.record($0)) })
  }

  @Test(arguments: [
    LedgerEntry(.task, "up\"load\n", step: "backgroundTask", began: .zero, duration: .milliseconds(1)),
    LedgerEntry(.resource, "", step: "", began: .seconds(-1), duration: .seconds(3), outcome: .failed("\u{0}é😀")),
    LedgerEntry(
      .runBody, label: nil, source: ("A:B/C.swift", 7), step: "run", began: .seconds(1), duration: .zero,
      outcome: .usedAfterRelease),
    LedgerEntry(
      .subscriber, label: "a", source: ("M/F.swift", 12), step: "s", began: .nanoseconds(1), duration: .nanoseconds(1),
      outcome: .neverEnded),
  ])
  func `an entry is read as it was written`(entry: LedgerEntry) throws {
    let journal = Journal(at: path)
    #expect(journal.append(entry))
    let read = entries(of: path)
    #expect(read.spent == [entry] && read.damage == [])
    #expect(read.spent.first?.name == entry.name && read.spent.first?.source == entry.source)
  }

  @Test func `an entry beyond all measure is cut`() throws {
    let journal = Journal(at: path)
    let long = String(repeating: "x", count: 2 << 20)
    #expect(journal.append(LedgerEntry(.task, long, step: "s", began: .zero, duration: .zero, outcome: .failed(long))))
    let read = entries(of: path)
    #expect(read.damage == [] && read.spent.first?.name.count == 40_000)
  }
}
