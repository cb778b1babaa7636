import AppLifecycle
import Foundation
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

/// A journal at a symbolic link is the file that the link leads to.
@Suite(.timeLimit(.hang)) struct LinkTests {
  private let directory: TemporaryDirectory
  private let files = FileManager.default
  /// The link, and the file that it leads to, in another directory.
  private let link: String
  private let file: String

  init() throws {
    directory = try TemporaryDirectory()
    try files.createDirectory(atPath: directory.file("data"), withIntermediateDirectories: true)
    link = directory.file("current.jsonl")
    file = directory.file("data/trips.jsonl")
  }

  private func journal(_ path: String) -> Journal {
    var configuration = Journal.Configuration()
    configuration.maximumSize = 1_000
    configuration.keptFiles = 2
    return Journal(at: path, configuration: configuration)
  }

  private var dataNames: [String] {
    ((try? files.contentsOfDirectory(atPath: directory.file("data"))) ?? []).sorted()
  }

  /// `target` is what the link says: a whole path, one from where the link is, a link again.
  @Test(arguments: ["whole", "relative", "chain"], [true, false])
  func `the file is put aside where it is, and the link goes on leading to the one that is written`(
    target: String, exists: Bool
  ) throws {
    switch target {
    case "whole": try files.createSymbolicLink(atPath: link, withDestinationPath: file)
    case "relative": try files.createSymbolicLink(atPath: link, withDestinationPath: "./data/../data/trips.jsonl")
    default:
      try files.createSymbolicLink(atPath: directory.file("data/latest"), withDestinationPath: "trips.jsonl")
      try files.createSymbolicLink(atPath: link, withDestinationPath: "data/latest")
    }
    if exists { Journal(at: file).append(numbered(1_000)) }
    let journal = journal(link)
    for number in 0..<60 { #expect(journal.append(numbered(number))) }
    journal.close()
    #expect(directory.names == ["current.jsonl", "data"])
    let names = ["trips.jsonl", "trips.jsonl.1", "trips.jsonl.2"]
    #expect(dataNames.filter { $0 != "latest" } == names)
    #expect((try? files.destinationOfSymbolicLink(atPath: link)) != nil)
    #expect((try? files.destinationOfSymbolicLink(atPath: file)) == nil)
    #expect(text(of: link) == text(of: file) && text(of: link).contains("n59"))
    // A reader at the link reads all of the files.
    let all = entries(of: link).records.map(\.name)
    #expect(all == entries(of: file).records.map(\.name) && all.count > 10 && all.last == "n59")
    // And so does the next run.
    #expect(self.journal(link).previousExit.run.lastRecord == numbered(59))
  }

  @Test func `a link to nothing makes the file, with the directories that it needs`() throws {
    try files.createSymbolicLink(atPath: link, withDestinationPath: "data/deep/er/trips.jsonl")
    #expect(journal(link).append(numbered(1)))
    #expect(entries(of: directory.file("data/deep/er/trips.jsonl")).records == [numbered(1)])
    #expect(try files.destinationOfSymbolicLink(atPath: link) == "data/deep/er/trips.jsonl")
  }

  /// In a shared directory, another user's link could lead to any file of this user.
  @Test(arguments: [false, true])
  func `another user's link in a directory of this user is not followed`(exists: Bool) throws {
    guard geteuid() == 0 else { return print("skipped: only root can make a link of another user") }
    if exists { try write("", to: file) }
    try files.createSymbolicLink(atPath: link, withDestinationPath: file)
    #expect(lchown(link, 65_534, 65_534) == 0)
    let journal = journal(link)
    #expect(journal.failure?.operation == .open && journal.failure?.error == FileError(number: EPERM))
    #expect(!journal.append(numbered(1)) && text(of: file).isEmpty && dataNames == (exists ? ["trips.jsonl"] : []))
    // Its owner may decide where a link in a directory of their own leads.
    #expect(chown(directory.path, 65_534, 65_534) == 0)
    #expect(journal.append(numbered(2)) && entries(of: file).records == [numbered(2)])
  }

  @Test func `links in a circle are refused, with the system's words; the program goes on once they lead somewhere`()
    throws
  {
    try files.createSymbolicLink(atPath: link, withDestinationPath: "other")
    try files.createSymbolicLink(atPath: directory.file("other"), withDestinationPath: "current.jsonl")
    let journal = journal(link)
    #expect(journal.failure?.operation == .open && journal.failure?.error == FileError(number: ELOOP))
    #expect(journal.failure?.path == link && journal.previousExit.kind == .unknown)
    #expect(!journal.append(numbered(1)))
    try SystemFiles().remove(directory.file("other"))
    try files.createSymbolicLink(atPath: directory.file("other"), withDestinationPath: "data/trips.jsonl")
    for number in 2..<60 { #expect(journal.append(numbered(number))) }
    #expect(dataNames == ["trips.jsonl", "trips.jsonl.1", "trips.jsonl.2"])
    #expect(directory.names == ["current.jsonl", "data", "other"])
  }

  @Test func `a link that is changed while the program runs changes nothing for it`() throws {
    try files.createSymbolicLink(atPath: link, withDestinationPath: file)
    try write("milk\n", to: directory.file("notes.txt"))
    let journal = journal(link)
    #expect(journal.append(numbered(0)))
    try SystemFiles().remove(link)
    try files.createSymbolicLink(atPath: link, withDestinationPath: "notes.txt")
    for number in 1..<60 { #expect(journal.append(numbered(number, .state, state: .suspended))) }
    #expect(entries(of: file).gaps == [] && entries(of: file).records.last?.name == "n59")
    #expect(text(of: directory.file("notes.txt")) == "milk\n")
    #expect(directory.names == ["current.jsonl", "data", "notes.txt"])
  }

  @Test func `what a link leads to has to be a journal`() throws {
    try write("milk\n", to: directory.file("notes.txt"))
    try files.createSymbolicLink(atPath: link, withDestinationPath: "notes.txt")
    for path in [link, directory.file("to-directory"), directory.file("to-null")] {
      if path != link {
        try files.createSymbolicLink(
          atPath: path, withDestinationPath: path.hasSuffix("null") ? "/dev/null" : directory.file("data"))
      }
      let journal = Journal(at: path)
      #expect(
        journal.failure?.operation == (path == link ? .recognize : .open) && !journal.append(numbered(1)), "\(path)")
    }
    #expect(text(of: directory.file("notes.txt")) == "milk\n" && dataNames == [])
  }
}
