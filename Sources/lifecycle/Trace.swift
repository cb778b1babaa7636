import AppLifecycle
import LifecycleJournal

/// A recorded run in the record's format: one JSON object a line.
struct Trace {
  private(set) var records: [LifecycleRecord] = []
  /// The number of each record's line.
  private(set) var lines: [Int] = []

  /// Reads the records of a file, or of standard input for `-`; skips empty lines.
  init(_ path: String) throws {
    let bytes =
      path == "-" ? try StandardStreams.readAll(of: 0, "standard input") : try StandardStreams.readFile(path)
    // The last line may lack its line feed.
    for entry in JournalReader(source: MemorySource(bytes + [UInt8(ascii: "\n")])) {
      guard case .line(.record(let record)) = entry.content else {
        throw Complaint("\(entry.number):1: not a record of a run", .badScript)
      }
      if let last = records.last, Self.beginsRun(record, after: last) {
        throw Complaint(
          "\(entry.number):1: another run begins here; choose one with 'lifecycle log --session'", .badScript)
      }
      records.append(record)
      lines.append(entry.number)
    }
  }

  /// Returns whether a record cannot follow another one in the same run.
  ///
  /// No time in a run is earlier than the one before, and no process ends without a commit.
  private static func beginsRun(_ record: LifecycleRecord, after last: LifecycleRecord) -> Bool {
    record.instant < last.instant
      || record.kind == .input && record.state == .notRunning && last.state != .notRunning
  }
}
