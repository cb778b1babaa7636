import AppLifecycle
import Foundation
import LifecycleJournal
import PubSub
import TestFiles
import TestTraits
import Testing

/// A journal writes to no file that begins with something else, moves none, and removes none.
@Suite(.timeLimit(.hang)) struct ForeignFileTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("notes.txt")
  }

  private static let header = RunHeader(
    run: "r", program: "trips", processID: 7, bootID: nil, start: .seconds(1), wallTime: .seconds(1)
  ).jsonLine

  private static let foreign: [[UInt8]] = [
    Array("milk, bread\n".utf8), Array("milk, bread".utf8), Array("\n\n \t\r\nmilk\n".utf8),
    Array("#!/bin/sh\nrm -rf everything\n".utf8), Array("{\n  \"name\": \"trips\"\n}\n".utf8), Array("{}\n".utf8),
    Array("{\"journal\":\"Nature\",\"title\":\"Trips\"}\n".utf8), Array("{\"journal\":7}\n".utf8), Array("[1, 2]".utf8),
    Array("{\"t\":1,\"msg\":\"started\"}\n".utf8), Array("{\"t\":{\"$date\":1}}\n".utf8),
    Array("{\"t\":1.0,\"kind\"}".utf8),
    Array("{\"journal\":\"ru\nmilk\n".utf8), [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0], [0, 0, 0, 0],
    [0xEF, 0xBB, 0xBF, 0x7B],
    [0x1F, 0x8B, 8, 0, 0x0A, 0xFF], [UInt8](repeating: 0x78, count: 3_000_000),
    // What an older version of this package left behind: the beginning counts.
    Array("milk\n\(header)\n".utf8),
  ]

  @Test(arguments: foreign.indices)
  func `a file that begins with something else is refused with a reason, and left as it is`(index: Int) throws {
    let content = Self.foreign[index]
    try Data(content).write(to: URL(filePath: path))
    let before = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    let bus = EventBus()
    let told = Shared<[Journal.DidFail]>([])
    let subscription = bus.subscribe(to: Journal.DidFail.self) { told.append($0) }
    defer { withExtendedLifetime(subscription) {} }
    let journal = Journal(at: path, bus: bus)
    let reason = "cannot recognize \(path): the file is not a journal, and is not changed"
    #expect(journal.failure?.description == reason && journal.failure?.operation == .recognize)
    #expect(told.value.map(\.failure.description) == [reason])
    #expect(journal.previousExit.kind == .unknown && journal.previousExit.evidence == "no run can be read")
    for number in 0..<3 { #expect(!journal.append(numbered(number, .state, state: .suspended))) }
    #expect(told.value.count == 1)
    journal.close()
    #expect(bytes(of: path) == content && directory.names == ["notes.txt"])
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date == before)
  }

  @Test func `a file that is refused is taken once it has made room`() throws {
    try write("milk\n", to: path)
    let journal = Journal(at: path)
    #expect(!journal.append(numbered(1)))
    _ = try SystemFiles().rename(path, to: directory.file("other.txt"))
    #expect(journal.append(numbered(2)))
    #expect(text(of: directory.file("other.txt")) == "milk\n")
    #expect(entries(of: path).records.map(\.name) == ["n2"] && entries(of: path).gaps.map(\.lost) == [1])
  }

  private func journalBeside(contention: Journal.Contention = .refuse) -> Journal {
    var configuration = Journal.Configuration()
    configuration.foreignFile = .beginBeside
    configuration.contention = contention
    return Journal(at: path, configuration: configuration)
  }

  @Test func `where the program asks for it, a journal is begun beside the file, and the next run goes on there`()
    throws
  {
    try write("milk\n", to: path)
    for run in 1...2 {
      let journal = journalBeside()
      #expect(journal.path == path + ".journal" && journal.failure == nil)
      #expect(journal.previousExit.text == (run == 1 ? "first run" : "killed in the foreground"))
      #expect(journal.append(numbered(run)))
    }
    // Where that is none either, the next.
    try write("bread\n", to: path + ".journal")
    let third = journalBeside()
    #expect(third.path == path + ".journal-2" && third.append(numbered(3)))
    #expect(directory.names == ["notes.txt", "notes.txt.journal", "notes.txt.journal-2"])
    #expect(text(of: path) == "milk\n" && text(of: path + ".journal") == "bread\n")
    // Another program at the same time: its own file, which may be taken by something else as well.
    #expect(journalBeside().failure?.operation == .lock)
    try write("eggs\n", to: directory.file("notes-2.txt"))
    let fourth = journalBeside(contention: .ownFile)
    #expect(fourth.path == directory.file("notes-2.txt.journal") && fourth.append(numbered(4)))
    #expect(text(of: directory.file("notes-2.txt")) == "eggs\n")
  }

  // MARK: What is a journal

  @Test func `a journal whose first line was never finished is gone on with, wherever its program died`() throws {
    for length in 0...Self.header.utf8.count {
      try write(String(Self.header.prefix(length)), to: path)
      let journal = Journal(at: path)
      #expect(journal.failure == nil && journal.append(numbered(length)), "\(length) bytes")
      journal.close()
      // Once more: now the torn line has an end.
      let next = Journal(at: path)
      #expect(next.failure == nil && next.append(numbered(length + 1)), "\(length) bytes, once more")
      next.close()
      #expect(entries(of: path).records.count == 2 && entries(of: path).damage.count <= 1, "\(length) bytes")
    }
  }

  @Test func `a journal that was cut in its first line twice is gone on with`() throws {
    try write("{\"jour\n\n{\"journal\":\"run\",\"ver\n{", to: path)
    #expect(Journal(at: path).append(numbered(1)))
  }

  @Test(
    arguments: [
      "\n\n\(header)\n", " \r\n\(header)\n", "\(header)\nmilk\n",
      // Of a newer version, with whatever it has to say.
      "{\"journal\":\"run\",\"version\":2,\"mood\":[1,{}]}\n", "{\"journal\":\"run\",\"version\":2,\"mo",
      // What stands first in a file that another program has cut while it was written.
      numbered(1).jsonLine + "\n", String(numbered(1).jsonLine.prefix(30)), String(numbered(1).jsonLine.prefix(3)),
      String(numbered(1).jsonLine.prefix(30)) + "\n\(header)\n", "{\"journal\":\"clock\",\"t\":1.0,\"wall\":2.0}\n",
      "{\"journal\":\"gap\",\"t\":1.0,\"since\":0.0,\"lost\":2,\"error\":\"full\"}\n",
      "{\"journal\":\"entry\",\"t\":1,\"began\":0,\"kind\":\"task\",\"name\":\"a\",\"step\":\"s\",\"outcome\":\"completed\"}\n",
      // As another writer of JSON may put it.
      "{ \"t\" : 1.5e0, \"kind\":\"input\",\"name\":\"a\",\"state\":\"active\",\"cause\":\"a\" }\n",
    ])
  func `a file that begins as a journal may is gone on with`(content: String) throws {
    try write(content, to: path)
    let journal = Journal(at: path)
    #expect(journal.failure == nil && journal.append(numbered(7)))
    #expect(text(of: path).hasPrefix(content) && entries(of: path).records.last == numbered(7))
  }

  // MARK: Names beside the file

  private func journal(size: Int, kept: Int, bus: EventBus? = nil) -> Journal {
    var configuration = Journal.Configuration()
    configuration.maximumSize = size
    configuration.keptFiles = kept
    return Journal(at: path, configuration: configuration, bus: bus)
  }

  @Test(arguments: [(".1", 1), (".1", 3), (".2", 2), (".3", 3), (".new", 3), (".new", 0)])
  func `a foreign file under a name that putting aside needs stays there, and the journal grows on`(
    suffix: String, kept: Int
  ) throws {
    try write("milk\n", to: path + suffix)
    let bus = EventBus()
    let told = Shared<[JournalFailure]>([])
    let subscription = bus.subscribe(to: Journal.DidFail.self) { told.append($0.failure) }
    defer { withExtendedLifetime(subscription) {} }
    let journal = journal(size: 1_000, kept: kept, bus: bus)
    for number in 0..<100 { #expect(journal.append(numbered(number))) }
    journal.close()
    #expect(text(of: path + suffix) == "milk\n")
    #expect(
      told.value.map(\.description) == [
        "cannot rotate \(path): \(path)\(suffix) is not a journal, and is not changed"
      ])
    let all = entries(of: path).records.map(\.name)
    #expect(all == (0..<100).map { "n\($0)" } && bytes(of: path).count > 1_000)
    // Once the name is free, the file is put aside.
    try SystemFiles().remove(path + suffix)
    let next = self.journal(size: 1_000, kept: kept)
    for number in 0..<50 { next.append(numbered(number)) }
    #expect(bytes(of: path).count <= 1_000)
  }

  /// Another program puts its file in the place of one of the journal's, between two rotations, by `mv` or by writing.
  @Test(arguments: ["", ".1", ".2", ".3"], [true, false])
  func `a foreign file that takes the place of a file of the journal during a run stays there`(
    suffix: String, isNew: Bool
  ) throws {
    let bus = EventBus()
    let told = Shared<[JournalFailure]>([])
    let subscription = bus.subscribe(to: Journal.DidFail.self) { told.append($0.failure) }
    defer { withExtendedLifetime(subscription) {} }
    let journal = journal(size: 1_000, kept: 3, bus: bus)
    var number = 0
    while directory.names.count < 4 {
      #expect(journal.append(numbered(number)))
      number += 1
    }
    if isNew { try SystemFiles().remove(path + suffix) }
    try write("milk\n", to: path + suffix)
    for _ in 0..<100 {
      journal.append(numbered(number))
      number += 1
    }
    #expect(text(of: path + suffix).hasPrefix("milk\n"))
    let reason =
      suffix.isEmpty
      ? "cannot recognize \(path): the file is not a journal, and is not changed"
      : "cannot rotate \(path): \(path)\(suffix) is not a journal, and is not changed"
    #expect(told.value.map(\.description) == [reason])
    #expect(directory.names.count == 4)
  }

  @Test func `a file that a program left behind while it put its journal aside is removed`() throws {
    for rest in ["", "{\"jour", Self.header, Self.header + "\n"] {
      try write(rest, to: path + ".new")
      let journal = journal(size: 1_000, kept: 1)
      for number in 0..<40 { journal.append(numbered(number)) }
      journal.close()
      #expect(directory.names == ["notes.txt", "notes.txt.1"] && bytes(of: path).count <= 1_000)
    }
  }
}
