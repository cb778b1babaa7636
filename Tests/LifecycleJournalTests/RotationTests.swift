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

@Suite(.timeLimit(.hang)) struct RotationTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file()
  }

  private func journal(size: Int?, kept: Int, files: any FileCalls = SystemFiles()) -> Journal {
    var configuration = Journal.Configuration()
    configuration.maximumSize = size
    configuration.keptFiles = kept
    return Journal(at: path, configuration: configuration, bus: nil, instant: .zero, files: files, facts: .made())
  }

  @Test(arguments: [0, 1, 2, 5])
  func `as many files are kept as were asked for, the newest first, none too long`(kept: Int) throws {
    let journal = journal(size: 1_000, kept: kept)
    for number in 0..<100 { #expect(journal.append(numbered(number))) }
    let names = ["journal.jsonl"] + (1...5).prefix(kept).map { "journal.jsonl.\($0)" }
    #expect(directory.names == names)
    for name in names { #expect(bytes(of: directory.file(name)).count <= 1_000) }
    for name in names.dropFirst() { #expect(bytes(of: directory.file(name)).count > 900) }
    let entries = entries(of: path)
    let numbers = entries.records.compactMap { Int($0.name.dropFirst()) }
    #expect(entries.damage == [] && numbers.last == 99 && numbers == Array((numbers.first ?? 100)...99))
    // Each file can be read alone: it says whose it is.
    let parts = entries.headers.map(\.part)
    #expect(parts.count == kept + 1 && parts == Array((parts.first ?? 0)..<((parts.first ?? 0) + kept + 1)))
    #expect(Set(entries.headers.map(\.run)).count == 1)
  }

  @Test func `a file that another run has filled is put aside, and one record may be longer than a file`() throws {
    journal(size: nil, kept: 0).append(
      LifecycleRecord(
        instant: .zero, kind: .report, name: String(repeating: "x", count: 5_000), state: .active, cause: "test"))
    let journal = journal(size: 1_000, kept: 9)
    for number in 0..<3 {
      var record = numbered(number)
      record.cause = LifecycleCause(rawValue: String(repeating: "y", count: 2_000))
      #expect(journal.append(record))
    }
    #expect(directory.names.count == 4)
    #expect(entries(of: path).records.count == 4)
  }

  /// The limit that a file has passed belongs to that file: another program removes it, or cuts it.
  @Test(arguments: [true, false])
  func `a file that is begun anew is put aside in time, although the one before it could not be`(isRemoved: Bool)
    throws
  {
    let foreign = JournalFiles.kept(1, of: path)
    try write("not a journal\n", to: foreign)
    let journal = journal(size: 1_000, kept: 1)
    var number = 0
    while bytes(of: path).count < 4_000 {
      #expect(journal.append(numbered(number)))
      number += 1
    }
    try SystemFiles().remove(foreign)
    if isRemoved { try SystemFiles().remove(path) } else { try write("", to: path) }
    // That is noticed with a flush, or with an input.
    #expect(journal.append(numbered(number, isRemoved ? .state : .input, state: .suspended)))
    for number in (number + 1)...(number + 50) {
      #expect(journal.append(numbered(number)) && bytes(of: path).count <= 1_000)
    }
    #expect(directory.names == ["journal.jsonl", "journal.jsonl.1"])
  }

  @Test func `how the run before ended is found where its last file does not say it`() throws {
    do {
      let journal = journal(size: 1, kept: 9)
      journal.append(LifecycleRecord(instant: .zero, kind: .state, name: "inactive", state: .inactive, cause: "open"))
      for method in ["applicationWillFinishLaunching", "applicationWillTerminate"] {
        journal.append(
          LifecycleRecord(instant: .zero, kind: .delegate, name: method, state: .background, cause: "kill"))
      }
      journal.append(
        LifecycleRecord(instant: .zero, kind: .state, name: "notRunning", state: .notRunning, cause: "kill"))
    }
    #expect(journal(size: 1, kept: 9).previousExit.kind == .terminated)
  }

  @Test func `a program that dies while it makes room leaves one file, not two of the same`() throws {
    let dying = FaultyFiles { call in
      call.name == "rename" && call.path?.hasSuffix(".new") == true ? .dies(afterBytes: 0) : .works
    }
    let journal = journal(size: 1_000, kept: 3, files: dying)
    var kept = 0
    while journal.append(numbered(kept)) { kept += 1 }
    dying.die()
    #expect(directory.names == ["journal.jsonl", "journal.jsonl.1", "journal.jsonl.new"])
    #expect(entries(of: path).records.count == kept)
    let next = self.journal(size: 1_000, kept: 3)
    #expect(directory.names == ["journal.jsonl", "journal.jsonl.new"])
    for number in 0..<20 { next.append(numbered(number)) }
    #expect(entries(of: path).records.count == kept + 20)
    #expect(!directory.names.contains("journal.jsonl.new"))
  }

  @Test func `a kept file that cannot be opened is reported in its place`() throws {
    let journal = journal(size: 1_000, kept: 9)
    var number = 0
    while !directory.names.contains("journal.jsonl.2") {
      #expect(journal.append(numbered(number)))
      number += 1
    }
    let lost = Array(try JournalReader(path: path + ".1")).records.map(\.name)
    let files = FaultyFiles { [path] call in
      call.name == "openForReading" && call.path == path + ".1" ? .fails(EACCES) : .works
    }
    var all: [JournalEntry] = []
    var reader: JournalReader? = try .oldest(of: path, files: files)
    while let present = reader {
      all += Array(present)
      reader = try present.next(of: path, files: files)
    }
    #expect(all.damage == [.unreadable(FileError(number: EACCES))])
    #expect(all.records.map(\.name) == (0..<number).map { "n\($0)" }.filter { !lost.contains($0) })
  }

  @Test(arguments: [true, false])
  func `while the new file cannot take the journal's name, no kept file is lost`(hasLinks: Bool) throws {
    let isRefused = Shared(false)
    let files = FaultyFiles { call in
      if call.name == "link", !hasLinks { return .fails(EPERM) }
      return call.name == "rename" && call.path?.hasSuffix(".new") == true && isRefused.value ? .fails(EBUSY) : .works
    }
    let journal = journal(size: 1_000, kept: hasLinks ? 3 : 30, files: files)
    var number = 0
    func append() {
      #expect(journal.append(numbered(number)))
      number += 1
    }
    while !directory.names.contains("journal.jsonl.2") { append() }
    isRefused.value = true
    for _ in 0..<60 { append() }
    #expect(entries(of: path).records.map(\.name) == (0..<number).map { "n\($0)" })
    guard hasLinks else { return }
    isRefused.value = false
    while !directory.names.contains("journal.jsonl.3") { append() }
    #expect(entries(of: path).records.map(\.name) == (0..<number).map { "n\($0)" })
  }

  @Test func `a file that another program moves or removes is begun anew, and what went with it is told`() throws {
    let journal = journal(size: nil, kept: 0)
    journal.append(numbered(1))
    _ = try SystemFiles().rename(path, to: directory.file("moved.jsonl"))
    journal.append(numbered(2))
    journal.append(numbered(3, .state, state: .suspended))
    #expect(entries(of: directory.file("moved.jsonl")).records.map(\.name) == ["n1", "n2"])
    #expect(entries(of: path).records.map(\.name) == ["n3"] && entries(of: path).gaps == [])
    try SystemFiles().remove(path)
    journal.append(numbered(4, .state, state: .suspended))
    #expect(entries(of: path).records.map(\.name) == ["n4"])
    #expect(entries(of: path).gaps.map(\.lost) == [1])
    #expect(entries(of: path).headers.map(\.part) == [2])
  }

  /// As `: > FILE` does, or a program that copies a log and then cuts it; in the middle of a line, too.
  @Test(arguments: [0, 10] as [Int64])
  func `a file that another program cuts is begun anew, and what went with it is told`(length: Int64) throws {
    let journal = journal(size: nil, kept: 0)
    for number in 1...3 { journal.append(numbered(number)) }
    let files = SystemFiles()
    let other = try files.openForAppending(path, exclusively: false)
    defer { files.close(other) }
    try files.truncate(other, to: length)
    // With the next input that is noticed.
    #expect(journal.append(numbered(4, .input)) && journal.append(numbered(5)) && journal.failure == nil)
    let found = entries(of: path)
    #expect(found.headers.map(\.part) == [1] && found.gaps.map(\.lost) == [3])
    #expect(found.records.map(\.name) == ["n4", "n5"] && found.damage.count == (length == 0 ? 0 : 1))
    // Nothing but the line with which the run began: that line no reader misses.
    try files.truncate(other, to: 0)
    journal.close()
    let next = self.journal(size: nil, kept: 0)
    try files.truncate(other, to: 0)
    next.append(numbered(6, .input))
    #expect(entries(of: path).headers.map(\.part) == [1] && entries(of: path).gaps == [])
    #expect(entries(of: path).records.map(\.name) == ["n6"])
  }

  /// While the file of a number is opened, or after it; the oldest file gets one more number, or is not kept.
  @Test(arguments: [0, 1, 2], [(false, false), (false, true), (true, false), (true, true)])
  func `a reading of all files misses none, and reads none twice, if the program rotates meanwhile`(
    number: Int, _ rotation: (isAfter: Bool, drops: Bool)
  ) throws {
    let names = [path + ".2", path + ".1", path]
    var expected: [FileStatus.Identity] = []
    for name in names {
      #expect(creat(name, 0o600) >= 0)
      expected.append(try SystemFiles().status(at: name).identity)
    }
    let hasRotated = Shared(false)
    let rotate: @Sendable () -> Void = { [path] in
      guard !hasRotated.value else { return }
      hasRotated.value = true
      if rotation.drops { unlink(names[0]) } else { rename(names[0], path + ".3") }
      rename(names[1], names[0])
      rename(names[2], names[1])
      creat(names[2], 0o600)
    }
    let files = FaultyFiles { call in
      if !rotation.isAfter, call.name == "openForReading", call.path == names[number] { rotate() }
      return .works
    }
    // The oldest one is gone before it could be opened.
    if rotation.drops, !rotation.isAfter, number == 0 { expected.removeFirst() }
    var identities: [FileStatus.Identity?] = []
    var reader: JournalReader? = try JournalReader.oldest(of: path, files: files)
    while let present = reader {
      identities.append(present.identity)
      if rotation.isAfter, identities.count == number + 1 { rotate() }
      reader = try present.next(of: path, files: files)
    }
    #expect(hasRotated.value)
    expected.append(try SystemFiles().status(at: path).identity)
    #expect(identities == expected)
  }

  /// Before each look at a name in turn; the oldest file gets one more number, or is not kept.
  @Test(arguments: [false, true])
  func `a reading of all files misses none, whenever the program rotates between two looks at the names`(drops: Bool)
    throws
  {
    var looks = 0
    while try reading(rotatingBeforeLook: looks, drops: drops) { looks += 1 }
    #expect(looks > 30)
  }

  /// Reads three files, which are rotated before the look of a number; returns false if there is no such look.
  private func reading(rotatingBeforeLook number: Int, drops: Bool) throws -> Bool {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    let names = [path + ".2", path + ".1", path]
    for name in names { try write(name, to: name) }
    var expected = try names.map { try SystemFiles().status(at: $0).identity }
    let looks = Shared(0)
    let files = FaultyFiles { call in
      guard call.name == "statusAt" else { return .works }
      defer { looks.value += 1 }
      guard looks.value == number else { return .works }
      if drops { unlink(names[0]) } else { rename(names[0], path + ".3") }
      rename(names[1], names[0])
      rename(names[2], names[1])
      close(creat(names[2], 0o600))
      return .works
    }
    var found: [FileStatus.Identity] = []
    // Held open until the end, so that the system gives the identity of none to a new file.
    var readers = [try JournalReader.oldest(of: path, files: files)]
    while let last = readers.last {
      found.append(try #require(last.identity))
      guard let next = try last.next(of: path, files: files) else { break }
      readers.append(next)
    }
    guard looks.value > number else {
      #expect(found == expected)
      return false
    }
    // The oldest file may be gone before it is opened.
    if drops, found.first != expected[0] { expected.removeFirst() }
    expected.append(try SystemFiles().status(at: path).identity)
    #expect(found == expected, "before look \(number)")
    return true
  }

  /// As on a file system without hard links, in the middle of a rotation.
  @Test func `a reader waits out the moment in which there is no file under the path`() throws {
    let path = path
    try write("older", to: JournalFiles.kept(1, of: path))
    try write("newer", to: path)
    let tries = Shared(0)
    let files = FaultyFiles { call in
      guard call.name == "openForReading", call.path == path else { return .works }
      tries.value += 1
      return tries.value == 1 ? .fails(ENOENT) : .works
    }
    let oldest = try JournalReader.oldest(of: path, files: files)
    #expect(try oldest.next(of: path, files: files)?.path == path && tries.value == 2)
    // A file that stays away is not waited for.
    try SystemFiles().remove(path)
    #expect(throws: FileError.noSuchFile) { try oldest.next(of: path, files: files) }
  }

  /// A journal of four files, and a reader that has read up to the end of one of them; 0 is the oldest.
  private func readHalf(upTo place: Int) throws -> (journal: Journal, reader: JournalReader, seen: [String]) {
    let journal = journal(size: 1_000, kept: 3)
    var count = 0
    while directory.names.count < 4 {
      journal.append(numbered(count))
      count += 1
    }
    var reader = try JournalReader.oldest(of: path, ending: .isAwaited)
    var seen = Array(reader).records.map(\.name)
    for _ in 0..<place {
      reader = try #require(try reader.next(of: path, ending: .isAwaited))
      seen += Array(reader).records.map(\.name)
    }
    return (journal, reader, seen)
  }

  /// What a reader finds as it reads on.
  private func rest(of reader: JournalReader) throws -> [String] {
    var found = Array(reader).records.map(\.name)
    var present = reader
    while let next = try present.next(of: path, ending: .isAwaited) {
      found += Array(next).records.map(\.name)
      present = next
    }
    return found
  }

  /// As in a pipe whose reader waits: meanwhile the program drops the file that was read, and all before it.
  @Test(arguments: 0...3, 0...9)
  func `a reader that stood still finds all that is still kept, in order, and nothing twice`(
    place: Int, rotations: Int
  ) throws {
    let (journal, reader, seen) = try readHalf(upTo: place)
    var number = 1_000
    for _ in 0..<rotations {
      let written = try SystemFiles().status(at: path).identity
      while try SystemFiles().status(at: path).identity == written {
        #expect(journal.append(numbered(number)))
        number += 1
      }
    }
    let found = try rest(of: reader)
    let numbers = (seen + found).compactMap { Int($0.dropFirst()) }
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    let kept = entries(of: path).records.map(\.name)
    #expect(Set(kept).isSubset(of: seen + found))
  }

  /// Such a reader has what it has open; what it has not is dropped under it.
  @Test(arguments: 0...3)
  func `a reader reads on as files of a time when more were kept are dropped`(place: Int) throws {
    let (former, reader, seen) = try readHalf(upTo: place)
    former.close()
    let journal = journal(size: 1_000, kept: 1)
    for number in 1_000..<1_010 { #expect(journal.append(numbered(number))) }
    let found = try rest(of: reader)
    let numbers = (seen + found).compactMap { Int($0.dropFirst()) }
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } && numbers.last == 1_009)
    #expect(Set(entries(of: path).records.map(\.name)).isSubset(of: seen + found))
  }

  /// Another program removes the file that was read, of a journal that is not rotated meanwhile.
  @Test(arguments: 0...3)
  func `a reader whose file was removed reads no other one twice`(place: Int) throws {
    let (journal, reader, seen) = try readHalf(upTo: place)
    let expected = entries(of: path).records.map(\.name).filter { !seen.contains($0) } + ["n5000"]
    try SystemFiles().remove(directory.names.map(directory.file).sorted(by: >)[place])
    #expect(journal.append(numbered(5_000, .state, state: .suspended)))
    #expect(try rest(of: reader) == expected)
  }
}
