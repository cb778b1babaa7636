import LifecycleJournal

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads a journal on as it grows, into each new file, until the output is closed.
struct Follower {
  private let path: String
  private var reader: JournalReader
  private var identity: FileStatus.Identity?
  private let files = SystemFiles()

  init(path: String, reader: JournalReader) {
    (self.path, self.reader) = (path, reader)
    identity = reader.identity
  }

  /// Calls for every reader that may have something new, again and again.
  consuming func run(_ read: (JournalReader) throws -> Void) throws {
    var changes = DirectoryChanges(of: path)
    repeat {
      try read(reader)
      while let next = nextFile() {
        // No program writes the old file any longer: now it is complete.
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
      // Another program has cut it: its present contents came afterwards.
      let isCut = reader.size ?? .max < reader.position
      return isCut ? try? JournalReader(path: path, ending: .isAwaited) : nil
    }
    let names = JournalFiles.all(of: path, files: files)
    let old = names.lastIndex { (try? files.status(at: $0))?.identity == identity }
    // Where the old one is no longer kept, the oldest that is may be long past: go on with the newest.
    let next = old.map { names[($0 + 1)...].first ?? path } ?? path
    return try? JournalReader(path: next, ending: .isAwaited)
  }
}
