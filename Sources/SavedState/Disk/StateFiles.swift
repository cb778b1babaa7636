import AppLifecycle
import LifecycleJournal
import Scheduling

/// Saved state in files: the state, the generation before, and the lock, in which a process notes how it fares.
///
/// A save writes `saved-state.new`, flushes it, renames `saved-state` to `saved-state.previous`, and the new file to `saved-state`. So there is
/// a whole state at each instant; between the two renames it is the generation before.
final class StateFiles: StateStorage {
  /// The most processes that may have states of their own at one time.
  static let mostProcesses = 64
  /// The most files that are set aside for one reason; a further one replaces the last.
  private static let mostSetAside = 20

  struct State: Sendable {
    /// The path of the state; the first one's until the lock is this process's.
    var path: String
    var lock: Int32?
    var crashLine: Int32?
    /// Whether the lock's file says that the process before crashed, which this one has not dealt with yet.
    var hasOldMarks = false
    /// Locks whose files were removed; they stay open, as another thread may be about to write to them.
    var lost: [Int32] = []
    /// Whether a file is being replaced or renamed, which needs the lock until that has ended.
    var isChanging = false
    var isClosed = false
    /// Whether the directories above may be new, so that their names must be flushed: a process that made them may have been killed.
    var mustFlushParents = true
    /// What this process has last seen as its state; nil before that, or if the look failed.
    var known: Standing?
  }

  /// What stands at the path of the state.
  enum Standing: Sendable, Hashable {
    case nothing
    /// A file. The system may give the identity of a removed file to a new one, but not its time, too.
    case file(FileStatus.Identity, size: Int64, modified: Duration)

    init(_ status: FileStatus?) {
      self = status.map { .file($0.identity, size: $0.size, modified: $0.modified) } ?? .nothing
    }
  }

  let configuration: SavedState.Configuration
  let files: any FileCalls
  private let user: UInt32
  /// The path of the state of a process that is alone.
  let first: String
  let state: Guarded<State>

  /// Makes the storage in a directory, which need not exist, for files that belong to a user.
  init(
    in directory: String, _ configuration: SavedState.Configuration, files: any FileCalls = SystemFiles(),
    user: UInt32 = SystemFiles.user
  ) {
    (self.configuration, self.files, self.user) = (configuration, files, user)
    first = "\(directory)/saved-state"
    state = Guarded(State(path: first))
  }

  deinit { close() }

  var path: String { state.withLock { $0.path } }

  // MARK: The two generations

  private func path(of generation: StateGeneration) -> String {
    switch generation {
    case .current: path
    case .previous: "\(path).previous"
    }
  }

  func read(_ generation: StateGeneration) throws(StateStorageError) -> [UInt8]? {
    // Before the file is opened: should another process replace it in between, this one has not seen the new one.
    // Nor has it if it reads once more, late, to set aside what it could not use.
    if generation == .current, state.withLock({ $0.known == nil }) { noteStanding() }
    return try read(path(of: generation), limit: configuration.largestFile)
  }

  /// Notes what stands at the path of the state.
  private func noteStanding() {
    let path = path
    // Not `try?`, which makes no difference between no file and a failed look.
    var standing: Standing?
    do throws(StateStorageError) { standing = Standing(try check(path)) } catch {}
    state.withLock { [standing] in $0.known = standing }
  }

  /// Reads a whole file, or the end of one that is longer than the limit; returns nil if there is none.
  func read(_ path: String, limit: Int, readsEnd: Bool = false) throws(StateStorageError) -> [UInt8]? {
    guard try check(path) != nil else { return nil }
    let source: FileSource
    do throws(FileError) {
      source = try FileSource(path, files: files)
    } catch {
      // A process that writes it renames it between two calls of one that only reads.
      guard error != .noSuchFile else { return nil }
      throw StateStorageError(place: path, reason: error.description)
    }
    // Another process may have replaced the file since it was checked, so what is open counts.
    let status = try naming(path) { () throws(FileError) in try source.status() }
    try check(status, at: path)
    guard status.size <= limit || readsEnd else {
      throw StateStorageError(place: path, reason: "it has \(status.size) bytes, more than \(limit)", .damaged)
    }
    return try naming(path) { () throws(FileError) in
      let size = min(Int(status.size), limit)
      return try source.read(size, at: status.size - Int64(size))
    }
  }

  /// Looks at what stands at a path; returns nil if nothing does.
  @discardableResult func check(_ path: String) throws(StateStorageError) -> FileStatus? {
    let status = try naming(path) { () throws(FileError) in try files.standing(at: path) }
    if let status { try check(status, at: path) }
    return status
  }

  /// Throws if something is not the user's own file: that is not read, written through, or replaced, as a link may lead anywhere.
  private func check(_ status: FileStatus, at path: String) throws(StateStorageError) {
    if status.isLink { throw StateStorageError(place: path, reason: "it is a symbolic link", .foreign) }
    if !status.isRegular { throw StateStorageError(place: path, reason: "it is not a file", .foreign) }
    if status.owner != user { throw StateStorageError(place: path, reason: "it belongs to another user", .foreign) }
  }

  func setAside(_ generation: StateGeneration, as reason: SetAsideReason) throws(StateStorageError) -> String {
    state.withLock { $0.isChanging = true }
    defer { didChange() }
    try holdLock()
    defer { noteStanding() }
    let path = path(of: generation)
    let first = "\(self.path).\(reason.rawValue)"
    let names = [first] + (2...Self.mostSetAside).map { "\(first)-\($0)" }
    return try naming(path) { () throws(FileError) in
      var name = names[names.count - 1]
      for candidate in names.dropLast() where try files.standing(at: candidate) == nil {
        name = candidate
        break
      }
      try files.rename(path, to: name)
      return name
    }
  }

  // MARK: Replacing

  func replace(with bytes: [UInt8]) throws(StateStorageError) {
    state.withLock { $0.isChanging = true }
    defer { didChange() }
    try holdLock()
    defer { noteStanding() }
    let (path, previous, new) = (path, path(of: .previous), "\(path).new")
    // What is larger would count as damaged, and a write beyond the process's limit would end it by a signal.
    let limit = min(Int64(configuration.largestFile), files.sizeLimit() ?? .max)
    guard bytes.count <= limit else {
      throw StateStorageError(place: path, reason: "the state has \(bytes.count) bytes, more than \(limit)")
    }
    let hasPresent = try check(path) != nil
    try check(previous)
    clearMarks()
    try naming(new) { () throws(FileError) in
      do throws(FileError) { try files.remove(new) } catch { if error != .noSuchFile { throw error } }
      try write(bytes, to: new)
    }
    do throws(StateStorageError) {
      if hasPresent { try naming(path) { () throws(FileError) in try files.rename(path, to: previous) } }
      do throws(StateStorageError) {
        try naming(path) { () throws(FileError) in try files.rename(new, to: path) }
      } catch {
        // Should that fail, too, the next process finds it as the generation before.
        if hasPresent { try? files.rename(previous, to: path) }
        throw error
      }
    } catch {
      try? files.remove(new)
      throw error
    }
    try flushNames(of: JournalFiles.directory(of: path))
  }

  /// Flushes the names in the directory and, once, those of the directories that a process of the program may have made.
  private func flushNames(of directory: String) throws(StateStorageError) {
    try flush(directory)
    guard state.withLock({ $0.mustFlushParents }) else { return }
    var directory = directory
    // Another user's was not made by this program, and may be on another disk, which fails.
    while case let parent = JournalFiles.directory(of: directory), parent != directory, try isUsers(directory) {
      try flush(parent)
      directory = parent
    }
    state.withLock { $0.mustFlushParents = false }
  }

  private func flush(_ directory: String) throws(StateStorageError) {
    try naming(directory) { () throws(FileError) in try files.flushNames(in: directory) }
  }

  private func isUsers(_ directory: String) throws(StateStorageError) -> Bool {
    try naming(directory) { () throws(FileError) in
      try files.standing(at: directory, followingLinks: true)?.owner == user
    }
  }

  /// Writes and flushes a new file; leaves none if that fails.
  private func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    let descriptor = try inDirectory(of: path) { () throws(FileError) in try files.makeFile(path, mode: 0o600) }
    do throws(FileError) {
      defer { files.close(descriptor) }
      try bytes.withUnsafeBufferPointer { (bytes) throws(FileError) in
        var written = 0
        try files.writeAll(UnsafeRawBufferPointer(bytes), to: descriptor, &written)
      }
      try files.flush(descriptor)
    } catch {
      try? files.remove(path)
      throw error
    }
  }

  /// Opens a file, and makes its directory if that is missing.
  func inDirectory(of path: String, _ open: () throws(FileError) -> Int32) throws(FileError) -> Int32 {
    // Also if the last one fails: the names of those that were made are flushed.
    try files.makingDirectory(of: path, willMake: { state.withLock { $0.mustFlushParents = true } }, open)
  }

  /// Performs calls of the file system whose errors name a path.
  func naming<Result>(
    _ path: String, _ body: () throws(FileError) -> Result
  ) throws(StateStorageError) -> Result {
    do throws(FileError) { return try body() } catch {
      throw StateStorageError(place: path, reason: error.description)
    }
  }
}
