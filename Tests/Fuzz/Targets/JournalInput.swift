import AppLifecycle
import AppLifecycleTesting
import LifecycleJournal

/// A file with any bytes, read as a journal.
enum JournalInput {
  static func run(_ bytes: [UInt8]) throws {
    var choices = Choices(bytes)
    let step = [Int.max, 1, 7, 64][choices.next(below: 4)]
    let lineLimit = [1 << 20, 300][choices.next(below: 2)]
    let file = Array(choices.rest)
    let entries = Array(JournalReader(source: MemorySource(file, step: step), lineLimit: lineLimit))
    try check(entries, of: file)
    let again = Array(JournalReader(source: MemorySource(file), lineLimit: lineLimit))
    try promise(entries == again, "the entries depend on the sizes of the reads")

    var (all, run) = (RunSummary(), RunSummary())
    var records: [LifecycleRecord] = []
    for entry in entries {
      switch entry.content {
      case .line(let line):
        if case .run(let header) = line, header.run != run.header?.run { run = RunSummary() }
        if case .record(let record) = line { records.append(record) }
        all.take(line)
        run.take(line)
      case .damaged(let damage):
        all.take(damage)
        run.take(damage)
        _ = damage.description
      }
    }
    for summary in [all, run] {
      _ = (summary.length, summary.wallTime(at: summary.lastInstant), summary.hasEnded)
      _ = PreviousExit(of: summary, bootID: "boot-1").description
    }
    let last = LastRun(files: MemoryFile(bytes: file), path: "journal").summary()
    _ = PreviousExit(of: last, bootID: nil).description
    if lineLimit == 1 << 20, let header = last.header {
      try promise(header.run == run.header?.run, "the last run is not the one that a whole reading finds")
    }

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
}

/// A file system with one file, which cannot be written.
private struct MemoryFile: FileCalls {
  let bytes: [UInt8]

  private var status: FileStatus {
    FileStatus(identity: .init(device: 1, number: 1), size: Int64(bytes.count), isRegular: true, names: 1)
  }

  func openForReading(_ path: String) throws(FileError) -> Int32 {
    guard path == "journal" else { throw FileError(number: 2) }
    return 3
  }

  func read(into target: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64) throws(FileError)
    -> Int
  {
    MemorySource(bytes).read(into: target, at: offset)
  }

  func status(of descriptor: Int32) throws(FileError) -> FileStatus { status }
  func status(at path: String) throws(FileError) -> FileStatus { status }
  func status(ofName path: String) throws(FileError) -> FileStatus { status }
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
}
