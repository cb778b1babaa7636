import AppLifecycle
import AppLifecycleTesting
import LifecycleJournal
import PubSub
import TestFiles
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) struct JournalTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file()
  }

  private struct Subject: JournalContract.Subject {
    let directory: TemporaryDirectory
    let configuration: Journal.Configuration
    var journal: Journal

    init(_ configuration: Journal.Configuration) throws {
      directory = try TemporaryDirectory()
      self.configuration = configuration
      journal = Journal(at: directory.file(), configuration: configuration)
    }

    func append(_ record: LifecycleRecord) { journal.append(record) }
    mutating func reopen() {
      journal.close()
      journal = Journal(at: directory.file(), configuration: configuration)
    }
    func read() throws -> [LifecycleRecord] {
      let entries = entries(of: directory.file())
      #expect(entries.damage == [] && entries.gaps == [])
      return entries.records
    }
  }

  @Test(.longRunning, arguments: [nil, 1_000_000, 3_000, 1] as [Int?])
  func `keeps the contract of journals, whatever the length of its files`(maximumSize: Int?) throws {
    var configuration = Journal.Configuration()
    configuration.maximumSize = maximumSize
    configuration.keptFiles = 10_000
    configuration.flush = .never
    #expect(try JournalContract.violations { try Subject(configuration) } == [])
  }

  @Test @MainActor func `reads no observable property, after which each change would cost more`() async throws {
    let system = SimulatedSystem()
    let journal = Journal(at: path, of: system.application)
    try await system.play("launch; home; wait:1s; open")
    journal.close()
    #expect(entries(of: path).records.count > 4)
    #expect(!system.application.isObserved)
  }

  @Test func `the first line says which program runs, and when`() throws {
    let before = RunFacts.ofThisProcess()
    Journal(at: path).append(numbered(1))
    let header = try #require(entries(of: path).headers.first)
    #expect(header.program == before.program && !header.program.contains("/"))
    #expect(header.processID == before.processID && header.bootID == before.bootID && header.version == 1)
    #expect((.zero ... .seconds(60)).contains(header.wallTime - header.start))
    #expect(header.start >= .seconds(1_700_000_000))
    #expect(header.part == 0 && header.instant == .zero && header.state == .notRunning)
    #expect(text(of: path).hasPrefix(#"{"journal":"run","version":1,"run":""#))
    #if os(Linux)
      #expect(
        header.bootID
          == text(of: "/proc/sys/kernel/random/boot_id").trimmingPrefix(" ").split(separator: "\n").first.map(
            String.init))
    #endif
  }

  // MARK: Recording an application

  @Test(
    arguments: [
      "launch; home; wait:5s; open; kill", "launch:background; fetch; home; open; interrupt:call; end:call; crash",
      "passcode:on; launch; lock; lock; wait:1m; unlock; memory; time; switcher; switcher:kill; open",
    ])
  @MainActor func `records all that happens, inputs and what was ignored included`(script: String) async throws {
    let system = SimulatedSystem()
    let journal = Journal(at: path, of: system.application)
    try await system.play(script)
    let entries = entries(of: path)
    #expect(entries.damage == [] && journal.failure == nil)
    let records = entries.records
    #expect(records.violations == [])
    func outcome(_ records: [LifecycleRecord]) -> [LifecycleRecord] {
      // The simulator's waits are its own, and what its clock does no input of its record.
      records.filter { $0.kind != .input }
    }
    #expect(outcome(records) == outcome(system.record))
    let tokens = system.record.filter { $0.kind == .input && !$0.name.hasPrefix("wait:") }.map(\.name)
    #expect(records.filter { $0.kind == .input && $0.name != "suspend" }.map(\.name) == tokens)
  }

  @Test @MainActor func `a journalled run can be replayed`() async throws {
    let system = SimulatedSystem()
    _ = Journal(at: path, of: system.application)
    try await system.play("launch; home; suspend; wait:2s; open; interrupt:call; wait:700ms; end:call; memory; kill")
    let replayed = try await SimulatedSystem().play(try Script(replaying: entries(of: path).records))
    #expect(replayed.callbacks == system.record.callbacks && replayed.states == system.record.states)
    #expect(replayed.last?.instant == system.record.last?.instant)
  }

  @Test @MainActor func `several observers do not disturb each other`() async throws {
    let application = Application(delegate: Delegate())
    var recorded: [LifecycleRecord] = []
    let token = application.observe { if let new = $0.record { recorded.append(new) } }
    defer { token.cancel() }
    let other = directory.file("other.jsonl")
    _ = Journal(at: path, of: application)
    _ = Journal(at: other, of: application)
    await application.handle(.launch, cause: "finger")
    await application.handle(.launch, cause: "finger")
    let (first, second) = (entries(of: path).records, entries(of: other).records)
    #expect(first.map(\.name) == second.map(\.name))
    #expect(first == recorded)
    #expect(first.filter { $0.kind == .input }.map(\.name) == ["launch", "launch"])
    #expect(first.first?.cause == "launch" && first[1].cause == "finger")
    #expect(first.last?.reason == IgnoredReason.alreadyRunning.rawValue)
  }

  // MARK: Flushing

  @Test @MainActor func `what precedes suspension or death is on the disk before the next call of the delegate`() async
  {
    let delegate = Delegate()
    let application = Application(delegate: delegate)
    let files = FaultyFiles { _ in .works }
    let journal = Journal(at: path, of: application, configuration: .init(), files: files, facts: .made())
    func unflushed() -> Int { files.calls.reversed().prefix { $0.name != "flush" }.count { $0.name == "write" } }
    var seen: [String: Int] = [:]
    delegate.happened = { seen[$0] = unflushed() }
    await application.handle(.launch)
    #expect(!files.calls.contains { $0.name == "flush" })
    await application.handle(.home)
    #expect(unflushed() == 0)
    await application.handle(.suspend)
    #expect(unflushed() == 0)
    await application.handle(.open)
    // Of the records since the suspension none is worth waiting for.
    #expect(seen["willEnterForeground"] == 3)
    await application.handle(.terminate)
    #expect(seen["willTerminate"] == 1)
    #expect(unflushed() == 0 && journal.failure == nil)
    #expect(files.calls.count { $0.name == "flush" } == 5)
  }

  @Test(
    arguments: [
      (Journal.FlushPolicy.never, 0), (.everyRecord, 4), (.when { $0.kind == .input }, 1),
      (.beforeSuspensionOrDeath, 2),
    ] as [(Journal.FlushPolicy, Int)])
  func `the policy says which records are flushed`(policy: Journal.FlushPolicy, count: Int) {
    let files = FaultyFiles { _ in .works }
    var configuration = Journal.Configuration()
    configuration.flush = policy
    let journal = Journal(
      at: path, configuration: configuration, bus: nil, instant: .zero, files: files, facts: .made())
    journal.append(numbered(1, .input))
    journal.append(numbered(2, .state, state: .suspended))
    var report = numbered(3, .report)
    report.name = "watchdog:feed"
    journal.append(report)
    journal.append(numbered(4))
    #expect(files.calls.count { $0.name == "flush" } == count)
    #expect(files.calls.count { $0.name == "write" } == 5)
  }

  /// The condition of a flush policy is the program's code.
  @Test func `a condition may use the journal that asks it`() throws {
    let bus = EventBus()
    let shared = Shared<Journal?>(nil)
    var configuration = Journal.Configuration()
    configuration.flush = .when { record in
      guard record.kind == .state, let journal = shared.value else { return false }
      // As a logger does whose lines the journal records, too.
      journal.append(numbered(7))
      return journal.failure == nil && journal.path.isEmpty == false
    }
    let files = FaultyFiles { _ in .works }
    let journal = Journal(
      at: path, configuration: configuration, bus: bus, instant: .zero, files: files, facts: .made())
    shared.value = journal
    #expect(journal.append(numbered(8, .state)))
    #expect(entries(of: path).records.map(\.name) == ["n7", "n8"])
    #expect(files.calls.count { $0.name == "flush" } == 1)
    shared.value = nil
  }

  // MARK: Clocks

  @Test func `a wall clock that is not where it is expected to be is told`() throws {
    let wall = Shared(Duration.seconds(1_000))
    let journal = Journal(
      at: path, configuration: .init(), bus: nil, instant: .zero, files: SystemFiles(),
      facts: .made { wall.value })
    func append(_ seconds: Int, wall time: Int) {
      wall.value = .seconds(time)
      journal.append(numbered(seconds * 1_000))
    }
    append(1, wall: 1_001)
    append(2, wall: 1_003)  // a second is let pass
    append(3, wall: 5_000)  // an hour asleep
    append(4, wall: 5_001)
    append(5, wall: 900)  // set back
    let marks = entries(of: path).clocks
    #expect(
      marks == [
        JournalClockMark(instant: .seconds(3), wallTime: .seconds(5_000)),
        JournalClockMark(instant: .seconds(5), wallTime: .seconds(900)),
      ])
    var run = RunSummary()
    for case .line(let line) in entries(of: path).map(\.content) { run.take(line) }
    #expect(run.wallTime(at: .seconds(5)) == .seconds(900) && run.length == .seconds(5))
  }

  /// A run of five minutes of which the machine sleeps two; meanwhile the wall clock is set, by so many seconds.
  @Test(arguments: [0, -3_600, 86_400, -118, -120])
  func `a run is as long as it was, however the wall clock is set`(seconds: Int) throws {
    // The wall clock, and the time since the device's start.
    let clocks = Shared((wall: Duration.seconds(1_000), up: Duration.seconds(50)))
    var configuration = Journal.Configuration()
    configuration.maximumSize = 600
    let journal = Journal(
      at: path, configuration: configuration, bus: nil, instant: .zero, files: SystemFiles(),
      facts: .made(wallTime: { clocks.value.wall }, uptime: { clocks.value.up }))
    for second in 1...180 {
      clocks.value.wall += .seconds(1)
      clocks.value.up += .seconds(1)
      if second == 60 {
        clocks.value.wall += .seconds(120 + seconds)
        clocks.value.up += .seconds(120)
      }
      journal.append(numbered(second * 1_000))
    }
    var run = RunSummary()
    for case .line(let line) in entries(of: path).map(\.content) { run.take(line) }
    #expect(run.length == .seconds(300) && run.lastInstant == .seconds(180))
    #expect(run.wallTime(at: .seconds(180)) == .seconds(1_300 + seconds))
    // The last file alone says the same.
    let last = JournalReader(source: MemorySource(bytes(of: path)))
    let rest = last.reduce(into: RunSummary()) { run, entry in
      if case .line(let line) = entry.content { run.take(line) }
    }
    #expect(rest.header?.part ?? 0 > 2 && rest.length == .seconds(300))
  }
}

@MainActor private final class Delegate {
  var happened: @MainActor (String) -> Void = { _ in }
}

extension Delegate: ApplicationDelegate {
  func applicationDidEnterBackground(_: Application) { happened("didEnterBackground") }
  func applicationWillEnterForeground(_: Application) { happened("willEnterForeground") }
  func applicationWillTerminate(_: Application) { happened("willTerminate") }
}
