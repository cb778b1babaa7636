import LifecycleJournal

/// Goes on reading a journal as it grows, and each new file of it, until the output is closed.
struct Follower {
  private let path: String
  private var reader: JournalReader
  private var identity: FileStatus.Identity?
  private let files = SystemFiles()

  init(path: String, reader: JournalReader) {
    (self.path, self.reader) = (path, reader)
    identity = reader.identity
  }

  /// Calls a closure with each reader that may have new lines, again and again.
  consuming func run(_ read: (JournalReader) throws -> Void) throws {
    var changes = DirectoryChanges(of: path)
    repeat {
      try read(reader)
      while let next = nextFile() {
        // No program writes to the old file any more, so it is complete.
        try read(reader)
        reader = next
        identity = next.identity
        try read(reader)
      }
    } while changes.wait()
  }

  /// The file after the one that is being read, if there is one.
  private func nextFile() -> JournalReader? {
    guard let present = try? files.status(at: path).identity else { return nil }
    guard present != identity else {
      // Another program has cut the file, so its present contents are new.
      let isCut = reader.size ?? .max < reader.position
      return isCut ? reader.restarted() : nil
    }
    return try? reader.next(of: path, ending: .isAwaited)
  }
}
