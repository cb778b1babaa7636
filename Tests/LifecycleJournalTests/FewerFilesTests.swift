import AppLifecycle
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A journal that keeps fewer files than there are of a run before.
@Suite(.timeLimit(.hang)) struct FewerFilesTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file()
  }

  private func journal(kept: Int, files: any FileCalls = SystemFiles()) -> Journal {
    var configuration = Journal.Configuration()
    configuration.maximumSize = 1_000
    configuration.keptFiles = kept
    configuration.flush = .never
    return Journal(at: path, configuration: configuration, bus: nil, instant: .zero, files: files, facts: .made())
  }

  /// Leaves the files of a run that kept five, or of one that kept four and died while it made room, so that two is free;
  /// returns how many records the run had.
  private func fill(freeingTwo: Bool) throws -> Int {
    let journal = journal(kept: freeingTwo ? 4 : 5)
    let count = 60
    for number in 0..<count { #expect(journal.append(numbered(number))) }
    guard freeingTwo else { return count }
    for number in (2...4).reversed() {
      try SystemFiles().rename(JournalFiles.kept(number, of: path), to: JournalFiles.kept(number + 1, of: path))
    }
    return count
  }

  /// The numbers of the records that a reader finds; nil if one is missing between two others.
  private var numbers: ClosedRange<Int>? {
    let found = entries(of: path).records.compactMap { Int($0.name.dropFirst()) }
    guard let first = found.first, let last = found.last, found == Array(first...last) else { return nil }
    return first...last
  }

  @Test(arguments: [0, 1, 2], [false, true])
  func `files of a time when more were kept are dropped as the next one is put aside`(kept: Int, freeingTwo: Bool)
    throws
  {
    var number = try fill(freeingTwo: freeingTwo)
    let identity = try SystemFiles().status(at: path).identity
    let journal = journal(kept: kept)
    #expect(directory.names.count == (freeingTwo ? 5 : 6))
    while try SystemFiles().status(at: path).identity == identity {
      #expect(journal.append(numbered(number)))
      number += 1
    }
    #expect(directory.names == ["journal.jsonl"] + (1...5).prefix(kept).map { "journal.jsonl.\($0)" })
    #expect(numbers?.upperBound == number - 1)
  }

  @Test func `a journal that another program writes under such a name stays`() throws {
    var number = try fill(freeingTwo: false)
    let other = Journal(at: JournalFiles.kept(4, of: path))
    #expect(other.append(numbered(0)))
    let identity = try SystemFiles().status(at: path).identity
    let journal = journal(kept: 1)
    while try SystemFiles().status(at: path).identity == identity {
      #expect(journal.append(numbered(number)))
      number += 1
    }
    #expect(directory.names == ["", ".1", ".4"].map { "journal.jsonl\($0)" })
    withExtendedLifetime(other) {}
  }

  @Test(arguments: [1, 2])
  func `whenever a program dies while it drops files of a time when more were kept, no line is missing between others`(
    kept: Int
  ) throws {
    var hasDied = true
    for dying in 0..<200 where hasDied {
      let one = try FewerFilesTests()
      let path = one.path
      let first = try one.fill(freeingTwo: false)
      // The call with which the rotation begins.
      let beginning = Shared<Int?>(nil)
      let files = FaultyFiles { call in
        if call.path == path + ".new", beginning.value == nil { beginning.value = call.number }
        return beginning.value.map { $0 + dying } == call.number ? .dies(afterBytes: 0) : .works
      }
      let journal = one.journal(kept: kept, files: files)
      // Enough for one rotation.
      let written = (first..<(first + 12)).prefix { journal.append(numbered($0)) }
      hasDied = written.count < 12
      files.die()
      #expect(one.numbers?.upperBound == written.endIndex - 1, "call \(dying)")
      let next = one.journal(kept: kept)
      for number in written.endIndex..<(written.endIndex + 20) { #expect(next.append(numbered(number))) }
      #expect(one.directory.names == ["journal.jsonl"] + (1...5).prefix(kept).map { "journal.jsonl.\($0)" })
      #expect(one.numbers?.upperBound == written.endIndex + 19, "call \(dying)")
    }
    #expect(!hasDied)
  }

  /// What is not to be kept must not keep the journal from a file that is.
  @Test func `a foreign file, and one that cannot be removed, stay beyond the number of files that are kept`() throws {
    let count = try fill(freeingTwo: false)
    let (foreign, stuck) = (JournalFiles.kept(4, of: path), JournalFiles.kept(5, of: path))
    try write("not a journal\n", to: foreign)
    let before = bytes(of: stuck)
    let journal = journal(
      kept: 2, files: FaultyFiles { $0.name == "remove" && $0.path == stuck ? .fails(EPERM) : .works })
    for number in count..<(count + 100) { #expect(journal.append(numbered(number))) }
    #expect(directory.names == ["", ".1", ".2", ".4", ".5"].map { "journal.jsonl\($0)" })
    #expect(text(of: foreign) == "not a journal\n" && bytes(of: stuck) == before && journal.failure == nil)
    #expect(bytes(of: path).count <= 1_000)
  }

  @Test(arguments: [Int.max, Int.max - 1, Int.min])
  func `any number of files may be asked for`(kept: Int) throws {
    let journal = journal(kept: kept)
    for number in 0..<30 { #expect(journal.append(numbered(number))) }
    #expect(numbers == (kept > 0 ? 0...29 : numbers) && (directory.names.count > 2) == (kept > 0))
  }
}
