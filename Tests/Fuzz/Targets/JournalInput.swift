import AppLifecycle
import AppLifecycleTesting
import LifecycleJournal

/// A file with any bytes, read as a journal.
enum JournalInput {
  static func run(_ bytes: [UInt8]) throws {
    var choices = Choices(bytes)
    let step = [Int.max, 1, 7, 64][choices.next(below: 4)]
    let choice = choices.next(below: 256)
    let lineLimit = [1 << 20, 300][choice % 2]
    let file = Array(choices.rest)
    let entries = Array(JournalReader(source: MemorySource(file, step: step), lineLimit: lineLimit))
    try check(entries, of: file)
    let again = Array(JournalReader(source: MemorySource(file), lineLimit: lineLimit))
    try promise(entries == again, "the entries depend on the sizes of the reads")

    var summary = RunSummary()
    var records: [LifecycleRecord] = []
    for entry in entries {
      if case .line(.record(let record)) = entry.content { records.append(record) }
      if case .damaged(let damage) = entry.content { _ = damage.description }
      summary.take(entry)
    }
    describe(summary)
    try check(cut(file, at: choice / 2), step: step)

    _ = records.table
    let lines = records.jsonLines
    let reread = JournalReader(source: MemorySource(Array(lines.utf8))).compactMap { entry -> LifecycleRecord? in
      if case .line(.record(let record)) = entry.content { record } else { nil }
    }
    try promise(reread == records, "the records that are written are not those that were read")
    if let script = try? Script(replaying: records) { _ = script.actions.count }
  }

  /// Entries have places in the order of the file.
  private static func check(_ entries: [JournalEntry], of file: [UInt8]) throws {
    var (number, offset) = (0, Int64(-1))
    for entry in entries {
      try promise(entry.number > number && entry.offset > offset, "an entry is out of order")
      try promise(entry.offset < file.count, "an entry is outside of the file")
      (number, offset) = (entry.number, entry.offset)
    }
  }

  // MARK: The last run

  /// The last run, read from the end of the journal, is the one that a reading from its beginning finds last.
  private static func check(_ files: [[UInt8]], step: Int) throws {
    let found = LastRun(files: MemoryFiles(files), path: "journal", chunk: min(step, 64 * 1_024)).summary()
    describe(found)
    // The newest file may suffice.
    let isWhole = found == lastRun(in: files) || found == lastRun(in: files.suffix(1))
    try promise(isWhole, "the last run is not the one that a whole reading finds")
  }

  private static func lastRun(in files: [[UInt8]]) -> RunSummary {
    var run = RunSummary()
    for entry in files.flatMap({ JournalReader(source: MemorySource($0)) }) {
      if entry.content.beginsRun(after: run) { run = RunSummary() }
      run.take(entry)
    }
    return run
  }

  private static func describe(_ run: RunSummary) {
    _ = (run.length, run.wallTime(at: run.lastInstant), run.hasEnded)
    for boot in [nil, "boot-1"] { _ = PreviousExit(of: run, bootID: boot).description }
  }

  /// Returns a kept file and the newest one, cut after so many 128ths and the rest of the line; one file for 0.
  private static func cut(_ file: [UInt8], at place: Int) -> [[UInt8]] {
    let index = file.count * place / 128
    guard index > 0 else { return [file] }
    let end = file[index...].firstIndex(of: 0x0A).map { $0 + 1 } ?? index
    return [Array(file[..<end]), Array(file[end...])]
  }
}

extension RunSummary {
  fileprivate mutating func take(_ entry: JournalEntry) {
    switch entry.content {
    case .line(let line): take(line)
    case .damaged(let damage): take(damage)
    }
  }
}

/// A file system with the files of a journal, which cannot be written.
private struct MemoryFiles: FileCalls {
  /// The files by their names; the index of one is its descriptor.
  private let files: [(name: String, bytes: [UInt8])]

  /// Takes the files of a journal, oldest first.
  init(_ files: [[UInt8]]) {
    self.files = files.reversed().enumerated().map { number, bytes in
      (number == 0 ? "journal" : JournalFiles.kept(number, of: "journal"), bytes)
    }
  }

  func openForReading(_ path: String) throws(FileError) -> Int32 {
    guard let index = files.firstIndex(where: { $0.name == path }) else { throw .noSuchFile }
    return Int32(index)
  }

  func read(into target: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64) throws(FileError)
    -> Int
  {
    MemorySource(files[Int(descriptor)].bytes).read(into: target, at: offset)
  }

  func status(of descriptor: Int32) throws(FileError) -> FileStatus {
    let size = Int64(files[Int(descriptor)].bytes.count)
    return FileStatus(
      identity: .init(device: 1, number: UInt64(descriptor)), size: size, isRegular: true, names: 1)
  }

  func status(at path: String) throws(FileError) -> FileStatus { try status(of: openForReading(path)) }
  func status(ofName path: String) throws(FileError) -> FileStatus { try status(at: path) }
  var isForked: Bool { false }
  func close(_ descriptor: Int32) {}
  func readLink(_ path: String) throws(FileError) -> String? { nil }
  func sizeLimit() -> Int64? { nil }
  func openForAppending(_ path: String, exclusively: Bool) throws(FileError) -> Int32 { throw .readOnly }
  func makeFile(_ path: String, mode: UInt32) throws(FileError) -> Int32 { throw .readOnly }
  func openStream(_ path: String) throws(FileError) -> Int32 { throw .readOnly }
  func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int { throw .readOnly }
  func flush(_ descriptor: Int32) throws(FileError) { throw .readOnly }
  func flushDirectory(_ path: String) throws(FileError) { throw .readOnly }
  func reserve(_ count: Int64, from offset: Int64, in descriptor: Int32) throws(FileError) { throw .readOnly }
  func armCrashLine(of descriptor: Int32, at instant: Duration, limit: Int64?) -> Int32? { nil }
  func disarmCrashLine(_ slot: Int32) {}
  func truncate(_ descriptor: Int32, to size: Int64) throws(FileError) { throw .readOnly }
  func lock(_ descriptor: Int32) throws(FileError) -> Bool { throw .readOnly }
  func link(_ path: String, as name: String) throws(FileError) { throw .readOnly }
  func rename(_ path: String, to name: String) throws(FileError) { throw .readOnly }
  func remove(_ path: String) throws(FileError) { throw .readOnly }
  func makeDirectory(_ path: String) throws(FileError) { throw .readOnly }
}

extension FileError {
  fileprivate static let readOnly = FileError(number: 30)
  fileprivate static let noSuchFile = FileError(number: 2)
}
