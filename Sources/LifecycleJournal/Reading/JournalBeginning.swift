/// Recognizes a journal by the beginning of its file.
///
/// A journal begins with a complete line of the format. Before that line there may be blank lines and incomplete lines:
/// a program that is killed in the middle of its first line leaves an incomplete one, and the next run ends it. A file
/// with nothing else also counts as a journal.
enum JournalBeginning {
  /// Returns whether the file is empty or begins like a journal.
  ///
  /// - Complexity: linear in the length of the first lines, up to the first complete one; a line of a mebibyte or more
  ///   ends the check.
  static func isJournal(_ path: String, files: any FileCalls) throws(FileError) -> Bool {
    let source = try FileSource(path, files: files)
    for entry in JournalReader(source: source) {
      switch entry.content {
      // Other formats may also have objects with the key `journal`.
      case .line(.unknown): return false
      case .line, .damaged(.newerVersion): return true
      case .damaged(.unreadable(let error)): throw error
      case .damaged:
        switch Likeness(of: try source.read(64, at: entry.offset).prefix { $0 != 0x0A }) {
        case .run: return true
        case .beginning: continue
        case .none: return false
        }
      }
    }
    return true
  }

  /// What a damaged line may be.
  private enum Likeness {
    /// The header of a run, damaged somewhere after the words with which every version begins it.
    case run
    /// The beginning of a journal's line.
    case beginning
    case none

    init(of line: ArraySlice<UInt8>) {
      if line.starts(with: Self.firstWords) {
        self = .run
      } else {
        let isOwn = Self.own.contains { line.starts(with: $0) || $0.starts(with: line) }
        self = isOwn || Self.isBeginningOfRecord(line) ? .beginning : .none
      }
    }

    private static let firstWords = Array("{\"journal\":\"run\",\"version\":".utf8)
    private static let own = ["run", "entry", "gap", "clock", "alive", "crash", "stopped"].map {
      Array("{\"journal\":\"\($0)\",".utf8)
    }

    /// Returns whether a line is the beginning of, or begins with, a text such as `{"t":12.5,"kind":"`.
    private static func isBeginningOfRecord(_ line: ArraySlice<UInt8>) -> Bool {
      let (first, second) = (Array("{\"t\":".utf8), Array(",\"kind\":\"".utf8))
      guard line.starts(with: first) else { return first.starts(with: line) }
      let rest = line.dropFirst(first.count).drop {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
      }
      return rest.starts(with: second) || second.starts(with: rest)
    }
  }
}
