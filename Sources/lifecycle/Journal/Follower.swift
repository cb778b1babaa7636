import LifecycleJournal

/// Goes on reading a journal as it grows, and each new file of it, until the output is closed.
///
/// It looks ten times a second. The system reports only some of the changes: not those in a directory that the user may not
/// read, nor those of another machine on a network file system.
struct Follower {
  private let path: String
  private var reader: JournalReader
  private var identity: FileStatus.Identity?
  private let files = SystemFiles()
  /// The time between two looks, in milliseconds.
  private static let pause: Int32 = 100

  init(path: String, reader: JournalReader) {
    (self.path, self.reader) = (path, reader)
    identity = reader.identity
  }

  /// Calls a closure with each reader that may have new lines, again and again.
  consuming func run(_ read: (JournalReader) throws -> Void) throws {
    var output = pollfd(fd: 1, events: 0, revents: 0)
    repeat {
      try read(reader)
      while let next = nextFile() {
        // No program writes to the old file any more, so it is complete.
        try read(reader)
        reader = next
        identity = next.identity
        try read(reader)
      }
      _ = poll(&output, 1, Self.pause)
    } while output.revents & Int16(POLLERR | POLLHUP) == 0
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
