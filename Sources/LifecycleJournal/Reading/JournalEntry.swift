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

extension JournalEntry.Content {
  /// Returns whether a run begins with this line.
  ///
  /// With the header of a newer version begins a run of which nothing is known. It lasts up to the next header of a
  /// known version.
  ///
  /// - Parameter run: the run up to this line.
  /// - Returns: false if the line belongs to that run.
  package func beginsRun(after run: RunSummary) -> Bool {
    switch self {
    case .line(.run(let header)): run.isOfNewerVersion || header.begins(after: run.header)
    case .damaged(.newerVersion): !run.isOfNewerVersion
    case .line, .damaged: false
    }
  }
}
