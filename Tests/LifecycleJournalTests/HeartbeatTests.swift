import AppLifecycle
import AppLifecycleTesting
import LifecycleJournal
import PubSub
import Scheduling
import TestFiles
import TestTraits
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The line once a minute that says that a program still runs.
@Suite(.timeLimit(.hang)) @MainActor struct HeartbeatTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file()
  }

  private func journal(
    of system: SimulatedSystem, heartbeat: Duration? = .seconds(60), files: any FileCalls = SystemFiles()
  ) -> Journal {
    var configuration = Journal.Configuration()
    configuration.heartbeat = heartbeat
    let clock = system.clock
    return Journal(
      at: path, of: system.application, configuration: configuration, files: files,
      facts: .made { .seconds(1_000) + clock.now.offset })
  }

  /// The times of the lines that say that the program still ran.
  private var beats: [Duration] { entries(of: path).alive }

  private var run: RunSummary {
    entries(of: path).reduce(into: RunSummary()) { run, entry in
      if case .line(let line) = entry.content { run.take(line) }
    }
  }

  @Test func `while nothing happens there is a line a minute, counted from the last record`() async throws {
    let system = SimulatedSystem()
    let journal = journal(of: system)
    try await system.play("launch; wait:90s; interrupt:call; wait:59s; end:call; wait:2m; memory; wait:30s")
    #expect(beats == [60, 209, 269].map { .seconds($0) })
    let before = run
    #expect(before.lastInstant == .seconds(269) && before.state == .active && !before.hasEnded)
    // The program vanishes two minutes later.
    try await system.play("wait:2m")
    journal.close()
    #expect(run.lastInstant == .seconds(389) && run.times[.active] == .seconds(389 - 59) && run.length == .seconds(389))
    #expect(run.records == before.records && run.lastRecord == before.lastRecord)
    #expect(text(of: path).contains("\n{\"journal\":\"alive\",\"t\":60.0}\n"))
    #expect(PreviousExit(of: run, bootID: "boot-1").text == "killed in the foreground")
  }

  @Test func `an entry of the ledger says as well that the program still runs`() async throws {
    let system = SimulatedSystem()
    let journal = journal(of: system)
    try await system.play("launch; wait:30s")
    journal.append(LedgerEntry(.task, "upload", step: "s", began: .seconds(10), duration: .seconds(20)))
    try await system.play("wait:59s")
    #expect(beats == [])
    try await system.play("wait:1s")
    #expect(beats == [.seconds(90)])
    journal.close()
  }

  @Test func `a program that records each second wakes up once a minute for it, and writes no such line`() async throws
  {
    let system = SimulatedSystem()
    let files = FaultyFiles { _ in .works }
    let journal = journal(of: system, files: files)
    try await system.play("launch")
    let deadline = system.clock.nextDeadline
    for second in 1..<60 {
      try await system.play("wait:1s; memory")
      #expect(system.clock.nextDeadline == deadline && system.clock.sleepers == 1, "\(second)")
    }
    try await system.play("wait:1s; memory")
    #expect(system.clock.nextDeadline == .init(offset: .seconds(119)))
    try await system.play("wait:58s")
    #expect(beats == [] && files.calls.count { $0.name == "write" } == entries(of: path).count)
    journal.close()
  }

  @Test func `nothing is written and nothing sleeps before the launch, while suspended, and after the end`()
    async throws
  {
    let system = SimulatedSystem()
    let journal = journal(of: system)
    #expect(system.clock.sleepers == 0)
    try await system.play("wait:5m; launch; home; wait:4s")
    #expect(system.clock.nextDeadline != nil && beats == [])
    try await system.play("wait:1s")
    #expect(system.application.state == .suspended && system.clock.sleepers == 0)
    try await system.play("wait:1d")
    #expect(beats == [])
    try await system.play("open; wait:61s")
    #expect(beats == [.seconds(86_400 + 5 * 60 + 5 + 60)] && system.clock.sleepers == 1)
    try await system.play("kill; wait:1d")
    #expect(beats.count == 1 && system.clock.sleepers == 0 && journal.failure == nil && run.hasEnded)
  }

  @Test func `it ends with the journal, and with the application`() async throws {
    let clock: ManualClock
    do {
      let system = SimulatedSystem()
      clock = system.clock
      let journal = journal(of: system)
      try await system.play("launch")
      #expect(clock.sleepers == 1)
      journal.close()
      await clock.settle()
      #expect(clock.sleepers == 0)
      try await system.play("wait:5m; home; open; wait:5m")
      #expect(beats == [] && clock.sleepers == 0)
      // Another one, which is never closed.
      _ = self.journal(of: system)
      try await system.play("memory")
      #expect(clock.sleepers == 1)
    }
    await clock.settle()
    #expect(clock.sleepers == 0)
    let size = bytes(of: path).count
    try await clock.advance(by: .seconds(600))
    #expect(bytes(of: path).count == size)
  }

  @Test(arguments: [nil, .seconds(10), .zero] as [Duration?])
  func `the program says how often, or never`(interval: Duration?) async throws {
    let system = SimulatedSystem()
    let journal = journal(of: system, heartbeat: interval)
    try await system.play("launch; wait:30s")
    journal.close()
    #expect(beats.count == (interval == nil ? 0 : interval == .zero ? 30 : 3))
  }

  @Test func `one that begins with an application that runs already begins at once`() async throws {
    let system = SimulatedSystem()
    try await system.play("launch; wait:10s")
    let journal = journal(of: system)
    try await system.play("wait:60s")
    #expect(beats == [.seconds(70)])
    journal.close()
  }

  @Test func `a run is replayed as without it, and a journal keeps its records to the byte`() async throws {
    let script = "launch; wait:10m; home; wait:5s; wait:2h; open; interrupt:call; wait:3m; end:call; wait:90s; kill"
    func records(_ heartbeat: Duration?) async throws -> String {
      let directory = try TemporaryDirectory()
      let system = SimulatedSystem()
      var configuration = Journal.Configuration()
      configuration.heartbeat = heartbeat
      let journal = Journal(
        at: directory.file(), of: system.application, configuration: configuration, files: SystemFiles(),
        facts: .made())
      try await system.play(script)
      journal.close()
      let entries = entries(of: directory.file())
      #expect(entries.alive.isEmpty == (heartbeat == nil))
      let replayed = try await SimulatedSystem().play(try Script(replaying: entries.records))
      #expect(replayed.callbacks == system.record.callbacks && replayed.last?.instant == system.record.last?.instant)
      return entries.records.jsonLines
    }
    #expect(try await records(.seconds(60)) == records(nil))
  }

  // MARK: Trouble

  @Test func `a machine that slept is told by its clock, before the line`() async throws {
    let system = SimulatedSystem()
    let asleep = Shared(Duration.zero)
    let clock = system.clock
    let journal = Journal(
      at: path, of: system.application, configuration: .init(), files: SystemFiles(),
      facts: .made { .seconds(1_000) + clock.now.offset + asleep.value })
    try await system.play("launch; wait:30s")
    asleep.value = .seconds(3_600)
    try await system.play("wait:31s")
    journal.close()
    #expect(entries(of: path).clocks == [JournalClockMark(instant: .seconds(60), wallTime: .seconds(4_660))])
    #expect(run.length == .seconds(3_660) && run.times[.active] == .seconds(60))
  }

  @Test func `a disk that is full is told once, counts no line as lost, and is tried again each minute`() async throws {
    let system = SimulatedSystem()
    let told = Shared<[JournalFailure]>([])
    let subscription = system.bus.subscribe(to: Journal.DidFail.self) { told.append($0.failure) }
    let recovered = Shared<[JournalGap]>([])
    let other = system.bus.subscribe(to: Journal.DidRecover.self) { recovered.append($0.gap) }
    defer { withExtendedLifetime((subscription, other)) {} }
    let isFull = Shared(false)
    let files = FaultyFiles { $0.name == "write" && isFull.value ? .fails(ENOSPC) : .works }
    let journal = journal(of: system, files: files)
    try await system.play("launch; wait:30s")
    isFull.value = true
    try await system.play("wait:3m")
    #expect(told.value.map(\.operation) == [.write] && journal.failure != nil && beats == [])
    isFull.value = false
    try await system.play("wait:1m")
    #expect(recovered.value.map(\.lost) == [0] && journal.failure == nil && told.value.count == 1)
    #expect(entries(of: path).gaps.map(\.lost) == [0] && beats == [.seconds(240)])
    journal.close()
  }

  @Test func `a file that was removed, or cut, is begun anew within a minute, with what was lost`() async throws {
    let system = SimulatedSystem()
    let journal = journal(of: system)
    try await system.play("launch; wait:30s")
    let count = entries(of: path).records.count
    try SystemFiles().remove(path)
    try await system.play("wait:31s")
    #expect(entries(of: path).headers.map(\.part) == [1] && entries(of: path).gaps.map(\.lost) == [count])
    #expect(beats == [.seconds(60)])
    let other = try SystemFiles().openForAppending(path, exclusively: false)
    try SystemFiles().truncate(other, to: 0)
    SystemFiles().close(other)
    try await system.play("wait:1m")
    #expect(entries(of: path).headers.map(\.part) == [2] && beats == [.seconds(120)])
    #expect(entries(of: path).gaps == [] && journal.failure == nil)
    journal.close()
  }

  @Test func `a file is put aside by it as by a record`() async throws {
    let system = SimulatedSystem()
    var configuration = Journal.Configuration()
    configuration.maximumSize = 1_000
    configuration.keptFiles = 100
    let clock = system.clock
    let journal = Journal(
      at: path, of: system.application, configuration: configuration, files: SystemFiles(),
      facts: .made { clock.now.offset })
    try await system.play("launch; wait:3h")
    journal.close()
    #expect(beats == (1...180).map { .seconds(60 * $0) })
    for name in directory.names { #expect(bytes(of: directory.file(name)).count <= 1_000) }
    #expect(directory.names.count > 4)
  }

  @MainActor private final class Bare: ApplicationDelegate {}

  @Test func `on a clock that cannot sleep there is no line, and no timer is set again and again`() async {
    let clock = SleeplessClock()
    let application = Application(delegate: Bare(), clock: clock)
    let journal = Journal(
      at: path, of: application, configuration: .init(), files: SystemFiles(), facts: .made { .zero })
    await application.handle(.launch)
    // The timers fire in the order of their times.
    let deadlines = application.deadlines
    await withCheckedContinuation { waiter in
      _ = deadlines.set(deadlines.instant(after: .seconds(3_600))) { waiter.resume() }
    }
    journal.close()
    #expect(clock.sleeps < 10 && beats == [])
  }
}
