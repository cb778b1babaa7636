/// A line of a journal, and its place in the file.
public struct JournalEntry: Sendable, Hashable {
  /// The contents of the line, or the kind of its damage.
  public enum Content: Sendable, Hashable {
    /// A readable line.
    case line(JournalLine)
    /// A line that cannot be read.
    case damaged(JournalDamage)
  }

  /// The line's number, from 1.
  public var number: Int
  /// The offset of the line, in bytes from the beginning of the file.
  public var offset: Int64
  /// The contents of the line, or the kind of its damage.
  public var content: Content
}
