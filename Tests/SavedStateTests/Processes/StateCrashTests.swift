import Foundation
import LifecycleJournal
import Scheduling
import TestFiles
import TestTraits
import Testing

@testable import SavedState

/// Programs that are killed or crash: what they have acknowledged is there, and what made them crash is not used again.
@Suite(.serialized, .timeLimit(.hang)) struct StateCrashTests {
  /// Kills forty, or as many as it is told: `REPETITIONS=10000 swift test --filter StateCrashTests`.
  @Test(.longRunning) func `killed at random moments, no acknowledged state is lost, and none is a mixture`() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["SEED"].flatMap(UInt64.init) ?? .random(in: 0...(.max / 2))
    let rounds = repetitions(default: 40)
    print("\(rounds) programs, each killed: SEED=\(seed)")
    var random = SplitMix64(seed: seed)
    let directory = try TemporaryDirectory()
    var acknowledged = 0
    var (restored, saved) = (0, 0)
    // Microseconds. Longer after a life in which nothing was saved, as a slow or busy machine needs it.
    var longest = 60_000.0
    for round in 0..<rounds {
      let probe = try StateProbe(directory.path, "save", "\(Int(Double.random(in: 0...longest, using: &random)))")
      let note = "seed \(seed), round \(round): \(probe.lines) after \(acknowledged)"
      #expect(probe.ending == -SIGKILL && !probe.lines.contains { $0.hasPrefix("refused") }, "\(note)")
      // Without a line it was killed before it had restored.
      longest *= probe.acknowledged == nil ? 1.2 : 0.95
      guard !probe.lines.isEmpty else { continue }
      restored += 1
      let found = try #require(probe.found, "\(note)")
      // One that it had not said yet may be there.
      #expect((acknowledged...(acknowledged + 1)).contains(found), "\(note)")
      acknowledged = max(found, probe.acknowledged ?? 0)
      saved += acknowledged - found
    }
    print("\(restored) had restored, and \(saved) saves were acknowledged")
    #expect(saved > rounds / 4)
    let names = Set(directory.names)
    #expect(
      names.isSubset(of: ["saved-state", "saved-state.previous", "saved-state.new", "saved-state.lock"]), "\(names)")
    let last = try StateProbe(directory.path, "keep", "1")
    #expect(last.ending == 0 && last.found.map { $0 >= acknowledged } == true)
    #expect(!directory.names.contains("saved-state.new"))
  }

  @Test(arguments: ["fatalError", "null"], [false, true])
  func `the state with which a program crashes at its launch is put beside, once`(way: String, hasJournal: Bool) throws
  {
    let directory = try TemporaryDirectory()
    let journal = hasJournal ? "journal" : "none"
    #expect(try StateProbe(directory.path, "keep", "3", journal).ending == 0)
    #expect(try StateProbe(directory.path, "keep", "7", journal).ending == 0)
    let state = bytes(of: directory.file("saved-state"))
    let crashed = try StateProbe(directory.path, "crash", way, journal)
    #expect(crashed.found == 7)
    #expect((way == "null" ? [-SIGSEGV] : [-SIGILL, -SIGTRAP]).contains(crashed.ending), "\(crashed.ending)")
    let next = try StateProbe(directory.path, "crash", way, journal)
    #expect(next.lines == ["found 0", "aside \(directory.file("saved-state.crashed"))"] && next.ending == 0)
    #expect(bytes(of: directory.file("saved-state.crashed")) == state)
    let third = try StateProbe(directory.path, "crash", way, journal)
    #expect(third.lines == ["found 0"] && third.ending == 0)
    // The generation before is beside, too: it might be as bad.
    let aside = directory.names.filter { $0.contains("crashed") }
    #expect(aside == ["saved-state.crashed", "saved-state.crashed-2"])
    #expect(try StateProbe(directory.path, "keep", "8", journal).found == 0)
    #expect(try StateProbe(directory.path, "keep", "9", journal).lines == ["found 8"])
    if hasJournal {
      let signals = text(of: directory.file("journal.jsonl")).components(separatedBy: "\"journal\":\"crash\"").count - 1
      #expect(signals == 1)
    }
  }

  @Test func `state that was set aside after a crash can be tried again, by its old name`() throws {
    let directory = try TemporaryDirectory()
    #expect(try StateProbe(directory.path, "keep", "7").ending == 0)
    #expect(try StateProbe(directory.path, "crash", "null").ending == -SIGSEGV)
    // It saves nothing.
    #expect(try StateProbe(directory.path, "crash", "null").lines.first == "found 0")
    let (aside, state) = (directory.file("saved-state.crashed"), directory.file("saved-state"))
    try FileManager.default.moveItem(atPath: aside, toPath: state)
    #expect(try StateProbe(directory.path, "crash", "kill").lines == ["found 7"])
  }

  @Test(arguments: ["kill", "exit"])
  func `a program that is killed or exits at its launch finds its state again`(way: String) throws {
    let directory = try TemporaryDirectory()
    #expect(try StateProbe(directory.path, "keep", "7").ending == 0)
    for _ in 0..<3 {
      let probe = try StateProbe(directory.path, "crash", way)
      #expect(probe.lines == ["found 7"] && probe.ending == (way == "kill" ? -SIGKILL : 0))
    }
    #expect(directory.names == ["saved-state", "saved-state.lock"])
  }

  @Test func `a program that exits while it saves leaves the state before or after`() throws {
    let directory = try TemporaryDirectory()
    #expect(try StateProbe(directory.path, "keep", "1").ending == 0)
    for length in [10, 100_000, 3_000_000, 20_000_000, 20_000_000] {
      let probe = try StateProbe(directory.path, "exit", "\(length)")
      #expect(probe.found != nil && probe.ending == 0, "\(probe.lines)")
    }
    let last = try StateProbe(directory.path, "keep", "1")
    #expect(last.found.map { (1...6).contains($0) } == true, "\(last.lines)")
  }

  /// It shares the lock with its parent.
  @Test func `a forked child does not save`() throws {
    let directory = try TemporaryDirectory()
    #expect(try StateProbe(directory.path, "keep", "1").ending == 0)
    #expect(try StateProbe(directory.path, "fork").lines == ["found 1", "child refused", "parent saved"])
    #expect(try StateProbe(directory.path, "keep", "4").lines == ["found 3"])
  }

  @Test func `where files must not grow beyond a limit, the program lives on with the state before`() throws {
    let directory = try TemporaryDirectory()
    #expect(try StateProbe(directory.path, "keep", "3").ending == 0)
    // Number 2 has 200,000 bytes, more than 16 KiB.
    #expect(try StateProbe(directory.path, "keep", "2", fileLimit: 16).ending == 0)
    #expect(try StateProbe(directory.path, "keep", "4").lines == ["found 3"])
  }

  /// There is a crash to be taken back, by a write.
  @Test func `where no file may grow, a program that finds a crash lives on, and deals with it`() throws {
    let directory = try TemporaryDirectory()
    #expect(try StateProbe(directory.path, "keep", "3").ending == 0)
    #expect(try StateProbe(directory.path, "crash", "null").ending == -SIGSEGV)
    let limited = try StateProbe(directory.path, "keep", "1", fileLimit: 0)
    #expect(limited.ending == 0 && limited.lines.first == "found 0")
    // Dealt with: the user renames it back.
    try FileManager.default.moveItem(
      atPath: directory.file("saved-state.crashed"), toPath: directory.file("saved-state"))
    #expect(try StateProbe(directory.path, "keep", "4").lines == ["found 3"])
  }
}
