import AppLifecycle
import LifecycleJournal

/// A recorded run in the record's format: one JSON object a line.
enum Trace {
  /// Reads the records of a file, or of standard input for `-`; skips empty lines.
  static func read(_ path: String) throws -> [LifecycleRecord] {
    let bytes =
      path == "-" ? try StandardStreams.readAll(of: 0, "standard input") : try StandardStreams.readFile(path)
    // The last line may lack its line feed.
    return try JournalReader(source: MemorySource(bytes + [UInt8(ascii: "\n")])).map { entry in
      guard case .line(.record(let record)) = entry.content else {
        throw Complaint("\(entry.number):1: not a record of a run", .badScript)
      }
      return record
    }
  }
}
