/// The reason why a line cannot be read.
public enum JournalDamage: Sendable, Hashable {
  /// The last line has no line feed: the program died in the middle of it, or is still writing it.
  case unfinished
  /// The line is longer than any line that a journal writes.
  case tooLong
  /// The line is not a JSON object, or not UTF-8.
  case notJSON
  /// The line is a JSON object, but not in this format.
  case notInFormat
  /// A number is too large or too small for its field; the column of the number in its line, in bytes from 1.
  case outOfRange(field: String, column: Int)
  /// The line is the header of a run in a format version that is newer than this program.
  case newerVersion(Int)
  /// The rest of the file could not be read.
  case unreadable(FileError)
}

extension JournalDamage: CustomStringConvertible {
  /// The damage in words.
  public var description: String {
    switch self {
    case .unfinished: "a line without an end"
    case .tooLong: "a line too long to be one of a journal"
    case .notJSON: "not a JSON object"
    case .notInFormat: "not in the journal's format"
    case .outOfRange(let field, let column): "the number of \"\(field)\" is out of range, in column \(column)"
    case .newerVersion(let version): "format version \(version), which is newer than this program"
    case .unreadable(let error): "cannot be read: \(error)"
    }
  }
}
