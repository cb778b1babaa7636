import AppLifecycle

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A recorded run in the record's format: one JSON object a line.
enum Trace {
  /// An error: a line that is no record.
  struct Damage: Error, CustomStringConvertible {
    let line: Int
    var description: String { "\(line):1: not a record of a run" }
  }

  /// Reads the records of a file, or of standard input for `-`; skips empty lines.
  static func read(_ path: String) throws -> [LifecycleRecord] {
    let bytes =
      path == "-" ? try StandardStreams.readAll(of: 0, "standard input") : try StandardStreams.readFile(path)
    let decoder = JSONDecoder()
    var records: [LifecycleRecord] = []
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      guard !line.isEmpty else { continue }
      do {
        records.append(try decoder.decode(LifecycleRecord.self, from: Data(line)))
      } catch {
        throw Damage(line: index + 1)
      }
    }
    return records
  }
}
