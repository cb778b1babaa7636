import AppLifecycle
import LifecycleJournal
import PubSub
import TestFiles
import TestTraits
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Without its name on the disk, and those of its directories, a flushed file is lost with the machine.
@Suite(.timeLimit(.hang)) struct NamesOnDiskTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file()
  }

  private func journal(_ path: String, _ files: FaultyFiles, bus: EventBus? = nil) -> Journal {
    var configuration = Journal.Configuration()
    configuration.flush = .everyRecord
    return Journal(at: path, configuration: configuration, bus: bus, instant: .zero, files: files, facts: .made())
  }

  private func flushedDirectories(_ files: FaultyFiles) -> [String?] {
    files.calls.filter { $0.name == "flushDirectory" }.map(\.path)
  }

  /// A directory and all above it.
  private func above(_ directory: String) -> [String] {
    let parent = JournalFiles.directory(of: directory)
    return [directory] + (parent == directory ? [] : above(parent))
  }

  @Test func `the names of directories that were made are on the disk with the first record that is flushed`() {
    let path = directory.file("a/b/journal.jsonl")
    let files = FaultyFiles { _ in .works }
    let journal = journal(path, files)
    for number in 1...3 { #expect(journal.append(numbered(number))) }
    #expect(flushedDirectories(files) == above(directory.file("a/b")))
    let made = files.calls.lastIndex { $0.name == "makeDirectory" } ?? 0
    #expect(files.calls[..<made].allSatisfy { $0.name != "flushDirectory" })
  }

  /// A directory above may be another user's, or in a file system that has failed.
  @Test(arguments: [EACCES, EINVAL, EIO])
  func `a directory above that cannot be flushed costs no record`(error: Int32) {
    let path = directory.file("a/b/journal.jsonl")
    let own = directory.file("a/b")
    let files = FaultyFiles { $0.name == "flushDirectory" && $0.path != own ? .fails(error) : .works }
    let journal = journal(path, files)
    #expect(journal.append(numbered(1)) && journal.append(numbered(2)) && journal.failure == nil)
    #expect(flushedDirectories(files) == above(own))
  }

  @Test func `the name of a file that another process left is on the disk with the first record that is flushed`() {
    Journal(at: path).append(numbered(0))
    let files = FaultyFiles { _ in .works }
    let journal = journal(path, files)
    for number in 1...3 { #expect(journal.append(numbered(number))) }
    #expect(flushedDirectories(files) == [directory.path])
  }

  @Test func `a new file's name, and the file put aside, are on the disk with the next record that is flushed`() throws
  {
    var configuration = Journal.Configuration()
    configuration.maximumSize = 600
    configuration.flush = .when { $0.name.hasSuffix("9") }
    let files = FaultyFiles { _ in .works }
    let journal = Journal(
      at: path, configuration: configuration, bus: nil, instant: .zero, files: files, facts: .made())
    for number in 0..<30 { #expect(journal.append(numbered(number))) }
    var isNameOnDisk = false
    for (index, call) in files.calls.enumerated() {
      switch call.name {
      case "flushDirectory" where call.path == directory.path: isNameOnDisk = true
      case "rename" where call.path?.hasSuffix(".new") == true:
        // The lines of the old file precede the next record that is flushed.
        let before = files.calls[..<index].last { $0.name == "flush" || $0.name == "write" && $0.path == path }
        #expect(before?.name == "flush")
        isNameOnDisk = false
      // That of a record, after which the scenario goes on with the next one.
      case "write" where call.path == path && files.calls[..<index].last?.name == "flush": #expect(isNameOnDisk)
      default: break
      }
    }
    #expect(isNameOnDisk)
    #expect((1...3).contains(flushedDirectories(files).count { $0 == directory.path }))
  }

  @Test(arguments: [(EIO, 1), (EINVAL, 0), (EACCES, 0)] as [(Int32, Int)])
  func `a directory that cannot be flushed is told, unless its file system has no such call`(error: Int32, count: Int)
    throws
  {
    let bus = EventBus()
    let told = Shared<[JournalFailure]>([])
    let subscription = bus.subscribe(to: Journal.DidFail.self) { told.append($0.failure) }
    defer { withExtendedLifetime(subscription) {} }
    let journal = journal(path, FaultyFiles { $0.name == "flushDirectory" ? .fails(error) : .works }, bus: bus)
    #expect(journal.append(numbered(1)) == (count == 0))
    #expect(told.value.map(\.operation) == Array(repeating: .flush, count: count))
    #expect(entries(of: path).records.map(\.name) == ["n1"])
  }
}
