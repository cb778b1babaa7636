import LifecycleJournal

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads a journal on as it grows, into each new file, until nobody reads what is written about it any more.
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
    let changes = DirectoryChanges(of: path)
    repeat {
      try read(reader)
      while let next = nextFile() {
        // Nobody writes the old file any longer: now all of it is there.
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
      // Somebody has cut it: what is there now came afterwards.
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

/// Waits until something changes in the directory of a file.
private struct DirectoryChanges {
  private let descriptor: Int32

  init(of path: String) {
    #if os(Linux)
      let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
      descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
      let events = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)
      if descriptor >= 0 { inotify_add_watch(descriptor, directory, events) }
    #else
      descriptor = -1
    #endif
  }

  /// Waits; false once nobody reads standard output.
  func wait() -> Bool {
    var waiting = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: 1, events: 0, revents: 0),
    ]
    // Where nothing tells of changes, a look once a second has to do.
    _ = poll(&waiting, 2, descriptor >= 0 ? -1 : 1_000)
    var events = [UInt8](repeating: 0, count: 4_096)
    while descriptor >= 0, read(descriptor, &events, events.count) > 0 {}
    return waiting[1].revents & Int16(POLLERR | POLLHUP) == 0
  }
}
