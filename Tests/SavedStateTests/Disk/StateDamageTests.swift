import AppLifecycle
import Foundation
import LifecycleJournal
import Scheduling
import TestFiles
import TestTraits
import Testing

@testable import SavedState

/// Damaged files are put beside and reported, and the generation before is used; files of others stay as they are.
@MainActor @Suite(.timeLimit(.hang)) struct StateDamageTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func isDamaged(_ bytes: [UInt8]) -> Bool {
    do {
      _ = try StateDocument(bytes, of: Life.program)
      return false
    } catch {
      if case .damaged = error { return true }
      return false
    }
  }

  /// A process finds a damaged state, uses the one before, and saves; returns whether all of it is as promised.
  private func check(_ bytes: [UInt8], _ note: @autoclosure () -> String) async throws {
    let directory = try TemporaryDirectory()
    try directory.keep(current: bytes, previous: Life.file(1))
    let life = try await Life.launched(in: directory.path)
    let aside = directory.file("saved-state.damaged")
    #expect(life.number == 1, "\(note())")
    guard case .setAside(aside, let reason, usesPrevious: true) = life.outcome else {
      Issue.record("\(note()): \(String(describing: life.outcome))")
      return
    }
    #expect(life.errors == [.setAside(path: aside, reason: reason)] && life.state.problem == life.errors.last)
    #expect(TestFiles.bytes(of: aside) == bytes, "\(note())")
    #expect(await life.save(2))
    #expect(life.state.problem == nil)
    await life.end()
    let next = try await Life.launched(in: directory.path)
    #expect(next.number == 2 && next.outcome == .restored)
    await next.end()
  }

  @Test func `no file with a changed bit is taken for state`() throws {
    let bytes = try Life.file(2)
    #expect(!isDamaged(bytes))
    for place in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[place] ^= 1 << bit
        #expect(isDamaged(changed), "bit \(bit) of byte \(place), \(String(decoding: changed, as: UTF8.self))")
      }
    }
  }

  /// JSONDecoder traps where the input ends with the bracket that is one too many, or with a carriage return behind it.
  @Test func `no depth of brackets breaks the reader`() throws {
    for (level, last) in [("[", "["), ("{\"a\":", "{"), ("[", "[ "), ("[", "[]"), ("[", "[\r")] {
      for depth in 505...520 {
        let body = Array((String(repeating: level, count: depth - 1) + last + "\n").utf8)
        #expect(isDamaged(StateDocument.firstLine(for: body) + body), "\(depth) × \(level)")
      }
    }
  }

  @Test(.longRunning) func `whichever byte is changed, the generation before is used`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    print("SEED=\(seed)")
    var random = SplitMix64(seed: seed)
    let bytes = try Life.file(2)
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= .random(in: 1...255, using: &random)
      try await check(changed, "seed \(seed), byte \(place)")
    }
  }

  @Test(.longRunning) func `wherever a file is cut, the generation before is used`() async throws {
    let bytes = try Life.file(2)
    for count in bytes.indices { try await check(Array(bytes.prefix(count)), "\(count) bytes") }
  }

  @Test func `whatever else stands in the file, the generation before is used`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    print("SEED=\(seed)")
    var random = SplitMix64(seed: seed)
    let bytes = try Life.file(2)
    let garbage = (0..<300).map { _ in UInt8.random(in: 0...255, using: &random) }
    for (name, damaged) in [
      ("zeros", [UInt8](repeating: 0, count: bytes.count)), ("many zeros", [UInt8](repeating: 0, count: 70_000)),
      ("garbage, seed \(seed)", garbage), ("an appended byte", bytes + [10]), ("an appended page", bytes + garbage),
      ("twice the same", bytes + bytes), ("zeros at the end", bytes.dropLast(20) + [UInt8](repeating: 0, count: 20)),
      ("JSON", Array(#"{"work":1}"#.utf8)), ("a byte order mark", [0xEF, 0xBB, 0xBF] + bytes),
      ("lines of Windows", Array(String(decoding: bytes, as: UTF8.self).replacing("\n", with: "\r\n").utf8)),
      (
        "the largest numbers",
        Array("saved-state 9223372036854775807 ffffffffffffffff 922337203685477580 \n".utf8) + bytes
      ),
    ] { try await check(damaged, name) }
  }

  @Test func `two damaged generations are both put beside, and reported`() async throws {
    let (one, other) = (Array("one".utf8), Array("other".utf8))
    try directory.keep(current: one, previous: other)
    let life = try await Life.launched(in: directory.path)
    #expect(life.number == nil || life.number == 0)
    let (first, second) = (directory.file("saved-state.damaged"), directory.file("saved-state.damaged-2"))
    guard case .setAside(first, _, usesPrevious: false) = life.outcome else {
      Issue.record("\(String(describing: life.outcome))")
      return
    }
    let paths = life.errors.map { if case .setAside(let path, _) = $0 { path } else { "" } }
    #expect(paths == [first, second])
    #expect(bytes(of: first) == one && bytes(of: second) == other)
    #expect(await life.save(1))
    await life.end()
  }

  @Test func `the newest twenty of the files that are put beside are kept`() async throws {
    for number in 1...25 {
      try directory.keep(current: Array("damage \(number)".utf8))
      let life = try await Life.launched(in: directory.path)
      #expect(life.errors.count == 1)
      await life.end()
    }
    let aside = directory.names.filter { $0.contains("damaged") }
    #expect(aside.count == 20 && text(of: directory.file("saved-state.damaged")) == "damage 1")
    #expect(text(of: directory.file("saved-state.damaged-20")) == "damage 25")
  }

  /// Else the damaged file would become the generation before, in the place of the good one.
  @Test func `a damaged file that cannot be renamed at first is put beside before the next save`() async throws {
    try directory.keep(current: Array("damage".utf8), previous: Life.file(1))
    let fails = Switch(true)
    let files = FaultyFiles { $0.name == "rename" && fails.isOn ? .fails(EIO) : .works }
    let life = try await Life.launched(in: directory.path, files)
    #expect(life.number == 1)
    #expect(await !life.save(2))
    #expect(text(of: directory.file("saved-state")) == "damage")
    fails.isOn = false
    #expect(await life.save(3))
    #expect(text(of: directory.file("saved-state.damaged")) == "damage")
    #expect(bytes(of: directory.file("saved-state.previous")) == (try Life.file(1)))
    await life.end()
  }

  @Test func `a state that cannot be read stays until the next save, which puts it beside first`()
    async throws
  {
    for generation in ["saved-state", "saved-state.previous"] {
      let directory = try TemporaryDirectory()
      try write(Life.file(1), to: directory.file(generation))
      let files = FaultyFiles {
        $0.name == "openForReading" && $0.path?.hasSuffix(generation) == true ? .fails(EIO) : .works
      }
      let life = try await Life.launched(in: directory.path, files)
      guard case .unreadable = life.outcome else {
        Issue.record("\(String(describing: life.outcome))")
        continue
      }
      #expect(life.work.value.number == 0 && life.errors.count == 1)
      await life.end()
      #expect(bytes(of: directory.file(generation)) == (try Life.file(1)))
      let again = try await Life.launched(in: directory.path, files)
      #expect(await again.save(2))
      #expect(bytes(of: directory.file("saved-state.unread")) == (try Life.file(1)))
      await again.end()
    }
  }

  // MARK: Files of others

  /// What a newer version of this package, and what another program would write.
  private func foreign() throws -> [(name: String, bytes: [UInt8])] {
    let body = Array("what a newer version has\n".utf8)
    let checksum = body.withUnsafeBytes { Checksum(of: $0, version: 2) }
    let first = "saved-state 2 \(String(checksum.value, radix: 16)) \(body.count)"
    let newer = Array((first + String(repeating: " ", count: 63 - first.utf8.count) + "\n").utf8) + body
    return [("a newer version", newer), ("another program", try Life.file(7, of: "another"))]
  }

  @Test func `a file of a newer version or another program stays as it is, and nothing is saved over it`() async throws
  {
    for (name, bytes) in try foreign() {
      for isPrevious in [false, true] {
        let directory = try TemporaryDirectory()
        try directory.keep(current: isPrevious ? nil : bytes, previous: isPrevious ? bytes : Life.file(1))
        let life = try await Life.launched(in: directory.path)
        guard case .leftAlone(let reason) = life.outcome else {
          Issue.record("\(name): \(String(describing: life.outcome))")
          continue
        }
        #expect(life.errors == [.notKept(reason: reason)] && life.work.value.number == 0, "\(name)")
        #expect(await life.saves(2, 3) == [false, false], "\(name)")
        life.work.value = Work(4)
        life.state.saveAtOnce()
        await life.end()
        let file = directory.file(isPrevious ? "saved-state.previous" : "saved-state")
        #expect(TestFiles.bytes(of: file) == bytes, "\(name)")
        #expect(directory.names.filter { !$0.hasSuffix("lock") }.count == (isPrevious ? 1 : 2), "\(directory.names)")
      }
    }
  }

  @Test func `behind a whole state, too, a generation of another program is not replaced`() async throws {
    for (name, bytes) in try foreign() {
      let directory = try TemporaryDirectory()
      try directory.keep(current: Life.file(1), previous: bytes)
      let life = try await Life.launched(in: directory.path)
      #expect(life.number == 1 && life.errors == [])
      #expect(await !life.save(2), "\(name)")
      #expect(life.errors.contains { if case .notKept = $0 { true } else { false } }, "\(life.errors)")
      await life.end()
      #expect(TestFiles.bytes(of: directory.file("saved-state.previous")) == bytes, "\(name)")
      #expect(TestFiles.bytes(of: directory.file("saved-state")) == (try Life.file(1)), "\(name)")
    }
  }

  @Test func `a generation before that cannot be read is put beside first, or the save fails`() async throws {
    // What is larger than the limit may be anything, too.
    for (aside, largest) in [("unread", 1 << 28), ("damaged", 2_000)] {
      for (name, foreign) in try foreign() {
        let directory = try TemporaryDirectory()
        let other = foreign + (aside == "damaged" ? [UInt8](repeating: 0, count: 2_000) : [])
        try directory.keep(current: Life.file(1), previous: other)
        let fails = Switch(true)
        let files = FaultyFiles { call in
          switch call.name {
          case "openForReading": aside == "unread" && call.path?.hasSuffix("previous") == true ? .fails(EIO) : .works
          case "rename": fails.isOn ? .fails(EIO) : .works
          default: .works
          }
        }
        let life = try await Life.launched(in: directory.path, files, .init(largestFile: largest))
        #expect(await !life.save(2), "\(name)")
        #expect(TestFiles.bytes(of: directory.file("saved-state.previous")) == other, "\(name)")
        fails.isOn = false
        #expect(await life.save(3), "\(name)")
        let path = directory.file("saved-state.\(aside)")
        #expect(TestFiles.bytes(of: path) == other, "\(name)")
        #expect(TestFiles.bytes(of: directory.file("saved-state.previous")) == (try Life.file(1)))
        #expect(life.errors.contains { if case .setAside(path, _) = $0 { true } else { false } }, "\(life.errors)")
        await life.end()
      }
    }
  }

  @Test func `what is found to be another program's once it can be read stays where it is`() async throws {
    let target = directory.file("target")
    let cases: [(String, (String) throws -> Void)] =
      try foreign().map { name, bytes in (name, { try write(bytes, to: $0) }) } + [
        ("a link", { try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: target) }),
        ("a directory", { try FileManager.default.createDirectory(atPath: $0, withIntermediateDirectories: false) }),
      ]
    for (name, make) in cases {
      let directory = try TemporaryDirectory()
      try directory.keep(current: Life.file(1))
      let fails = Switch(true)
      let files = FaultyFiles { $0.name == "openForReading" && fails.isOn ? .fails(EIO) : .works }
      let life = try await Life.launched(in: directory.path, files)
      guard case .unreadable = life.outcome else {
        Issue.record("\(name): \(String(describing: life.outcome))")
        continue
      }
      fails.isOn = false
      let file = directory.file("saved-state")
      try SystemFiles().remove(file)
      try make(file)
      let before = try SystemFiles().status(ofName: file)
      #expect(await life.saves(2, 3) == [false, false], "\(name)")
      await life.end()
      #expect(try SystemFiles().status(ofName: file) == before, "\(name)")
      #expect(directory.names == ["saved-state", "saved-state.lock"], "\(name): \(directory.names)")
    }
  }

  @Test func `after a crash a file of another program stays where it is`() async throws {
    for (name, bytes) in try foreign() {
      let directory = try TemporaryDirectory()
      try directory.keep(current: bytes)
      try write(
        "restored\n\n{\"journal\":\"crash\",\"t\":0.1,\"signal\":\"SIGILL\"}\n", to: directory.file("saved-state.lock"))
      let life = try await Life.launched(in: directory.path)
      #expect(TestFiles.bytes(of: directory.file("saved-state")) == bytes, "\(name)")
      await life.end()
    }
  }
}
