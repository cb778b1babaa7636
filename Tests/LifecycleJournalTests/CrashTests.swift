import AppLifecycle
import Foundation
import JournalWorkload
import LifecycleJournal
import PubSub
import Scheduling
import TestFiles
import TestTraits
import Testing

/// Programs that are killed, held up, or refused the room to write: what they have acknowledged is there.
@Suite(.serialized, .timeLimit(.hang)) struct CrashTests {
  /// What the workload of a seed leads to, input after input.
  private struct Expectation: Sendable {
    let records: [LifecycleRecord]
    /// How many records there are when the input with a number has been worked off.
    let counts: [Int]

    /// What it has led to once there are so many records, of so many inputs.
    @MainActor static func of(_ seed: UInt64, records: Int, inputs: Int) async -> Expectation {
      var counts: [Int] = []
      var workload = JournalWorkload(seed: seed)
      let application = Application(delegate: BareDelegate())
      let recorded = Recorded()
      let token = application.observe { if let new = $0.record { recorded.records.append(new) } }
      defer { token.cancel() }
      while recorded.records.count < records || counts.count < inputs, let input = workload.next() {
        await application.handle(input, cause: JournalWorkload.cause(counts.count))
        counts.append(recorded.records.count)
      }
      return Expectation(records: recorded.records, counts: counts)
    }

    @MainActor private final class Recorded { var records: [LifecycleRecord] = [] }

    /// How a run ends that has written so many records and no more.
    func exit(after count: Int) -> String {
      let written = records.prefix(count)
      let launch = written.lastIndex { $0.name == "applicationWillFinishLaunching" } ?? 0
      switch written.last?.state {
      case .active, .inactive: return "killed in the foreground"
      case .background: return "killed in the background"
      case .suspended: return "killed while suspended"
      case .notRunning, nil:
        if written[launch...].contains(where: { $0.name == "applicationWillTerminate" }) { return "terminated" }
        // The workload ends a process by `kill` and by `reclaim`; both without a word only if it is suspended.
        return written.contains { $0.kind == .state } ? "killed while suspended" : "unknown"
      }
    }
  }

  /// One life of the program, killed when it has said so many bytes.
  private func life(_ seed: UInt64, random: inout SplitMix64) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    let size = [4_000_000, 100_000, 3_000].randomElement(using: &random) ?? 0
    let flush = Bool.random(using: &random)
    let probe = try Probe(path, seed: seed, size: size, flush: flush)
    let bytes = Int.random(in: 0...(flush ? 400 : 4_000), using: &random)
    probe.read(until: "previous firstRun\n".utf8.count + bytes)
    probe.kill()
    #expect(probe.ending == -SIGKILL && probe.lines.first == "previous firstRun")
    #expect(!probe.lines.contains { $0.hasPrefix("failed") })
    let acknowledged = probe.lines.last.flatMap(Int.init)

    let entries = entries(of: path)
    let found = entries.records
    let note = "seed \(seed), size \(size), flush \(flush), \(bytes) bytes, acknowledged \(acknowledged ?? -1)"
    #expect(entries.damage.allSatisfy { $0 == .unfinished } && entries.damage.count <= 1, "\(note): \(entries.damage)")
    #expect(entries.gaps == [], "\(note)")
    let expected = await Expectation.of(seed, records: found.count, inputs: (acknowledged ?? -1) + 1)
    let isSame = zip(found, expected.records).allSatisfy { found, expected in
      var found = found
      found.instant = expected.instant
      return found == expected
    }
    #expect(isSame && found.count <= expected.records.count, "\(note): a record was invented, lost or changed")
    if let acknowledged { #expect(found.count >= expected.counts[acknowledged], "\(note): records were lost") }
    // It could not begin the next input but one before it had acknowledged this one.
    let begun = expected.counts.dropFirst((acknowledged ?? -1) + 1).first ?? .max
    #expect(found.count <= begun, "\(note)")
    let exit = Journal(at: path).previousExit
    #expect(exit.text == expected.exit(after: found.count), "\(note): \(exit)")
    #expect(exit.run.lastRecord == found.last, "\(note)")
  }

  /// Kills sixty, or as many as it is told.
  ///
  /// A thousand lives: `JOURNAL_KILLS=1000 swift test --filter CrashTests`. One of them again: `SEED=… JOURNAL_KILLS=1`.
  @Test(.longRunning)
  func `killed at random moments, nothing acknowledged is lost, nothing invented, and the end is named`()
    async throws
  {
    let environment = ProcessInfo.processInfo.environment
    let kills = environment["JOURNAL_KILLS"].flatMap(Int.init) ?? 60
    let seed = environment["SEED"].flatMap(UInt64.init) ?? .random(in: 0...(.max / 2))
    print("\(kills) lives, each killed: SEED=\(seed)")
    for number in 0..<kills {
      let seed = seed + UInt64(number)
      var random = SplitMix64(seed: seed ^ 0x5EED)
      try await life(seed, random: &random)
    }
  }

  /// It shares the open file with its parent, and so the lock and the room that is reserved.
  @Test func `a forked child that closes the journal leaves it to its parent`() throws {
    let directory = try TemporaryDirectory()
    let probe = try Probe(directory.file(), seed: 1, size: .max, flush: false, count: 4, end: "fork")
    probe.finish()
    #expect(probe.lines.suffix(2) == ["room kept", "lock kept"])
  }

  /// Ways in which a process ends itself, with the signals that may be named for it.
  @Test(arguments: [
    ("fatalError", ["SIGILL", "SIGTRAP"]), ("abort", ["SIGABRT"]), ("null", ["SIGSEGV"]),
    ("overflow", ["SIGILL", "SIGTRAP"]),
    ("stack", ["SIGSEGV", "SIGBUS"]), ("signal", ["SIGFPE"]), ("thread", ["SIGILL", "SIGTRAP"]),
    ("child", []), ("kill", []), ("exit", []),
  ])
  func `a process that dies of a fatal signal says so in its journal, without a host`(way: String, signals: [String])
    throws
  {
    let seed = UInt64.random(in: 0...(.max / 2))
    print("\(way): SEED=\(seed)")
    for seed in seed..<(seed + 4) {
      let directory = try TemporaryDirectory()
      // Files so small that most are put aside once at least.
      // The stack that a handler has is that of the main thread, where an asynchronous program runs until its first await.
      let probe = try Probe(
        directory.file(), seed: seed, size: [3_000, .max][Int(seed % 2)], flush: false, count: way == "stack" ? 0 : 40,
        end: way)
      probe.finish()
      let entries = entries(of: directory.file())
      let exit = Journal(at: directory.file()).previousExit
      let last = entries.records.last
      #expect(entries.damage == [] && exit.run.lastRecord == last, "\(exit)")
      if signals.isEmpty {
        #expect(exit.run.crash == nil && exit.kind != .crashed, "\(exit)")
      } else {
        #expect(exit.kind == .crashed && exit.state == last?.state ?? .notRunning, "\(exit)")
        let crash = try #require(exit.run.crash)
        #expect(signals.contains(crash.signal), "\(crash)")
        let least = last?.instant ?? .zero
        #expect((least...(least + .seconds(60))).contains(crash.instant), "\(crash)")
        #expect(probe.ending < 0, "\(probe.ending)")
      }
    }
  }

  @Test func `a line of another thread after that of the crash hides nothing`() throws {
    let directory = try TemporaryDirectory()
    let probe = try Probe(directory.file(), seed: 1, size: .max, flush: false, count: 4, end: "beside")
    probe.finish()
    #expect(probe.ending == -SIGFPE)
    let exit = Journal(at: directory.file()).previousExit
    #expect(exit.run.lastRecord?.name == "beside", "\(exit)")
    #expect(exit.kind == .crashed && exit.run.crash?.signal == "SIGFPE", "\(exit)")
  }

  @Test func `a program whose journal another one writes says so, and both go on`() throws {
    let directory = try TemporaryDirectory()
    let first = try Probe(directory.file(), seed: 1, size: 1_000_000, flush: false, count: 5)
    first.line { $0 == "done" }
    let second = try Probe(directory.file(), seed: 2, size: 1_000_000, flush: false, count: 5)
    second.line { $0 == "done" }
    #expect(second.lines.contains("previous stillRunning"))
    // Said when its turn comes, which may be after the work.
    #expect(second.line { $0.hasPrefix("failed cannot lock") && $0.hasSuffix("(JournalProbe) writes it") } != nil)
    first.kill()
    second.kill()
    #expect(entries(of: directory.file()).headers.count == 1)
    let third = try Probe(directory.file(), seed: 3, size: 1_000_000, flush: false, count: 0)
    third.line { $0 == "done" }
    third.kill()
    #expect(third.lines.first != "previous stillRunning")
  }

  /// Where files are written under a limit on their size: on a disk, and in memory, where reserved room counts, too.
  private static let limitedPlaces = [NSTemporaryDirectory(), "/dev/shm"].filter {
    FileManager.default.isWritableFile(atPath: $0)
  }

  @Test(arguments: limitedPlaces)
  func `where files must not grow beyond a limit, the program lives on without its journal`(place: String) throws {
    let path = URL(filePath: place).appending(path: "test-\(UUID().uuidString)").path
    defer { unlink(path) }
    let probe = try Probe(path, seed: 7, size: .max, flush: true, count: 2_000, limit: 16)
    #expect(probe.line { $0 == "done" } == "done")
    probe.kill()
    #expect(probe.ending == -SIGKILL)
    #expect(
      probe.lines.filter { $0.hasPrefix("failed") } == ["failed cannot write \(path): File too large"])
    let entries = entries(of: path)
    #expect(entries.damage == [] && entries.records.count > 50)
    #expect((15_000...16_384).contains(bytes(of: path).count))
    // What precedes the missing lines, and the reason, stand in the journal.
    let exit = Journal(at: path).previousExit
    #expect(exit.run.stop != nil || exit.run.lost > 0, "\(exit)")
  }

  @Test(arguments: ["terminate", "kill", "null"], limitedPlaces)
  func `where files must not grow beyond a limit, the journal says how the run ended, or that it does not know`(
    way: String, place: String
  ) throws {
    let path = URL(filePath: place).appending(path: "test-\(UUID().uuidString)").path
    defer { unlink(path) }
    let probe = try Probe(
      path, seed: 7, size: .max, flush: true, count: 0, limit: 16, end: "full \(way)")
    probe.finish()
    #expect(way != "terminate" || probe.ending == 0)
    #expect((12_000...16_384).contains(bytes(of: path).count))
    let exit = Journal(at: path).previousExit
    switch way {
    case "terminate": #expect(exit.kind == .terminated && exit.run.lost > 100, "\(exit)")
    case "kill": #expect(exit.kind == .unknown && exit.run.stop?.error.hasSuffix("File too large") == true, "\(exit)")
    default: #expect(exit.kind == .crashed && exit.state == .active && exit.run.stop != nil, "\(exit)")
    }
  }

  @Test func `a program that lowers the limit below the beginning of a file lives on, and keeps its journal`() throws {
    let directory = try TemporaryDirectory()
    let probe = try Probe(directory.file(), seed: 7, size: 3_000, flush: true, count: 4, end: "shrunk")
    probe.finish()
    #expect(probe.ending == 0 && directory.names == ["journal.jsonl"])
    #expect(entries(of: directory.file()).damage == [] && entries(of: directory.file()).records.count >= 4)
  }

  #if os(Linux)
    /// Else a message of the program, or of Swift's runtime when it crashes, would stand in the journal.
    @Test func `where standard error is closed, the journal does not take its place`() throws {
      let directory = try TemporaryDirectory()
      let probe = try Probe(directory.file(), seed: 7, size: 3_000, flush: true, count: 50, hasStandardError: false)
      probe.line { $0 == "done" }
      #expect(probe.descriptor(1) != nil && probe.descriptor(2)?.hasSuffix("jsonl") != true)
      probe.kill()
      #expect(entries(of: directory.file()).damage == [])
    }

    @Test func `on a disk that is full the program lives on, and the journal goes on when there is room again`() throws
    {
      let directory = try TemporaryDirectory()
      guard mount("none", directory.path, "tmpfs", 0, "size=64k") == 0 else {
        return print("skipped: a file system of 64 KiB cannot be mounted here: \(String(cString: strerror(errno)))")
      }
      defer { umount(directory.path) }
      let hog = directory.file("hog")
      try Data(repeating: 0, count: 32 * 1_024).write(to: URL(filePath: hog))
      let bus = EventBus()
      let failures = Shared<[String]>([])
      let subscription = bus.subscribe(to: Journal.DidFail.self) { event in
        failures.append(event.failure.description)
      }
      defer { subscription.cancel() }
      let journal = Journal(at: directory.file(), bus: bus)
      let kept = (0..<1_000).count { journal.append(numbered($0)) }
      #expect((100..<999).contains(kept) && journal.failure != nil)
      try FileManager.default.removeItem(atPath: hog)
      #expect(journal.append(numbered(1_000)) && journal.failure == nil)
      #expect(failures.value == ["cannot write \(directory.file()): No space left on device"])
      let entries = entries(of: directory.file())
      #expect(entries.damage == [] && entries.records.count == kept + 1)
      #expect(entries.gaps.map(\.lost) == [1_000 - kept])
    }

    @Test(arguments: ["terminate", "kill", "null"])
    func `on a full disk the journal says how the run ended, or that it does not know`(way: String) throws {
      let directory = try TemporaryDirectory()
      guard mount("none", directory.path, "tmpfs", 0, "size=32k") == 0 else {
        return print("skipped: a file system of 32 KiB cannot be mounted here: \(String(cString: strerror(errno)))")
      }
      defer { umount(directory.path) }
      let probe = try Probe(directory.file(), seed: 7, size: .max, flush: true, count: 0, end: "full \(way)")
      probe.finish()
      let run = entries(of: directory.file()).reduce(into: RunSummary()) { run, entry in
        if case .line(let line) = entry.content { run.take(line) }
      }
      let exit = PreviousExit(of: run, bootID: run.header?.bootID)
      switch way {
      case "terminate": #expect(exit.kind == .terminated && exit.run.lost > 100, "\(exit)")
      case "kill":
        #expect(exit.kind == .unknown && exit.run.stop?.error.hasSuffix("No space left on device") == true, "\(exit)")
      default: #expect(exit.kind == .crashed && exit.state == .active && exit.run.stop != nil, "\(exit)")
      }
    }

    @Test func `in a directory that cannot be written the program lives on, and what is there is still read`() throws {
      let directory = try TemporaryDirectory()
      Journal(at: directory.file()).append(numbered(1))
      let content = bytes(of: directory.file())
      guard mount("none", directory.path, "tmpfs", 0, "size=64k") == 0 else {
        return print("skipped: a file system cannot be mounted here: \(String(cString: strerror(errno)))")
      }
      defer { umount(directory.path) }
      try Data(content).write(to: URL(filePath: directory.file()))
      guard mount("none", directory.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
        return print("skipped: a file system cannot be made read-only here: \(String(cString: strerror(errno)))")
      }
      let journal = Journal(at: directory.file())
      #expect(!journal.append(numbered(2)))
      #expect(journal.failure?.description == "cannot open \(directory.file()): Read-only file system")
      #expect(journal.previousExit.text == "killed in the foreground" && bytes(of: directory.file()) == content)
      #expect(Journal(at: directory.file("a/b.jsonl")).failure?.operation == .open)
    }
  #endif
}
