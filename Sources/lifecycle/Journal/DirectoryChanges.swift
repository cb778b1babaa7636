import LifecycleJournal

/// Waits until something changes in a file's directory, or in the directories above it, and for a second at most.
///
/// The system does not report every change: the user may lack the right to read a directory, or may have used up the
/// limit of watches; on a network file system another machine may write the file. So the caller looks once a second.
///
/// A directory that is removed or moved takes its watch along. So the directories above are watched, too, and each is found
/// again by its path before each wait. If the path is a symbolic link, the directories of the file behind it are watched, too.
struct DirectoryChanges {
  private let path: String
  private let descriptor: Int32
  /// The number of each watch, with the events that it waits for.
  private var watches: [Int32: UInt32] = [:]

  init(of path: String) {
    self.path = path
    #if os(Linux)
      descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    #else
      descriptor = -1
    #endif
  }

  /// Waits for a change, or for a second; returns false once standard output has no reader any more.
  mutating func wait() -> Bool {
    // A change before its directory was watched causes no event, so the caller checks once more.
    if watchDirectories() { return true }
    var waiting = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: 1, events: 0, revents: 0),
    ]
    _ = poll(&waiting, 2, 1_000)
    var events = [UInt8](repeating: 0, count: 4_096)
    while descriptor >= 0, read(descriptor, &events, events.count) > 0 {}
    return waiting[1].revents & Int16(POLLERR | POLLHUP) == 0
  }

  /// The directories on the way to a file, the outermost first, the file's own last.
  private static func directories(to path: String) -> [String] {
    let slashes = path.indices.filter { path[$0] == "/" && $0 > path.startIndex }
    return [path.hasPrefix("/") ? "/" : "."] + slashes.map { String(path[..<$0]) }
  }

  /// Watches the directories to which the paths lead now; returns true if these differ from the ones watched before.
  private mutating func watchDirectories() -> Bool {
    #if os(Linux)
      guard descriptor >= 0 else { return false }
      let ends = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
      let names = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM)
      // The directories above may change often. Names in them matter only while the file is missing, as one may lead back to it.
      let above = access(path, F_OK) == 0 ? ends : ends | names
      var next: [Int32: UInt32] = [:]
      let paths = Set([path, (try? JournalFiles.followed(path, files: SystemFiles())) ?? path])
      for directories in paths.map(Self.directories) {
        for directory in directories {
          let events = directory == directories.last ? ends | names | UInt32(IN_MODIFY) : above
          let watch = inotify_add_watch(descriptor, directory, events)
          // Two paths may lead to one directory, which has one watch.
          if watch >= 0, let others = next[watch] { inotify_add_watch(descriptor, directory, events | others) }
          if watch >= 0 { next[watch, default: 0] |= events }
        }
      }
      for watch in watches.keys where next[watch] == nil { inotify_rm_watch(descriptor, watch) }
      defer { watches = next }
      return next != watches
    #else
      return false
    #endif
  }
}
