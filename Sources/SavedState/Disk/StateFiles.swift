import AppLifecycle
import LifecycleJournal
import Scheduling

/// Saved state in files: the state, the generation before, and the lock, in which a process notes how it fares.
///
/// A save writes `saved-state.new`, flushes it, renames `saved-state` to `saved-state.previous`, and the new file to `saved-state`. So there is
/// a whole state at each instant; between the two renames it is the generation before.
final class StateFiles: StateStorage {
  /// The most processes that may have states of their own at one time.
  private static let mostProcesses = 64
  /// The most files that are set aside for one reason; a further one replaces the last.
  private static let mostSetAside = 20

  private struct State: Sendable {
    /// The path of the state; the first one's until the lock is this process's.
    var path: String
    var lock: Int32?
    var crashLine: Int32?
  }

  private let configuration: SavedState.Configuration
  private let files: any FileCalls
  private let user: UInt32
  private let state: Guarded<State>

  /// Makes the storage in a directory, which need not exist, for files that belong to a user.
  init(
    in directory: String, _ configuration: SavedState.Configuration, files: any FileCalls = SystemFiles(),
    user: UInt32 = StatePlace.user
  ) {
    (self.configuration, self.files, self.user) = (configuration, files, user)
    state = Guarded(State(path: "\(directory)/saved-state"))
  }

  deinit { close() }

  private var path: String { state.withLock { $0.path } }

  // MARK: The lock

  func open() throws(StateStorageError) -> StateOpening {
    let first = path
    for number in 1...Self.mostProcesses {
      let path = number == 1 ? first : "\(first).\(number)"
      if let lock = try lock(path) {
        let hasCrashed = takeMarks(of: lock, path)
        state.withLock { ($0.path, $0.lock) = (path, lock) }
        return StateOpening(place: path, hasCrashedAfterRestoring: hasCrashed)
      }
      if configuration.secondProcess == .readsOnly { return StateOpening(place: first, mayReplace: false) }
    }
    throw StateStorageError(place: first, reason: "\(Self.mostProcesses) other processes have state there")
  }

  /// Takes the lock of a state; returns nil if another process has it.
  private func lock(_ path: String) throws(StateStorageError) -> Int32? {
    let name = "\(path).lock"
    // Opening it by a link would let the link's owner choose a file to be truncated.
    try check(name)
    return try naming(name) { () throws(FileError) in
      var descriptor: Int32
      do throws(FileError) {
        descriptor = try files.openForAppending(name, exclusively: false)
      } catch {
        guard error == .noSuchFile else { throw error }
        try files.makeDirectories(JournalFiles.directory(of: name))
        descriptor = try files.openForAppending(name, exclusively: false)
      }
      do throws(FileError) {
        if try files.lock(descriptor) { return descriptor }
      } catch {
        files.close(descriptor)
        throw error
      }
      files.close(descriptor)
      return nil
    }
  }

  /// Takes what the process before has noted; returns whether it crashed after it had restored state and before it settled.
  private func takeMarks(of lock: Int32, _ path: String) -> Bool {
    let bytes = try? read("\(path).lock", limit: 65_536)
    try? files.truncate(lock, to: 0)
    let lines = String(decoding: bytes.flatMap(\.self) ?? [], as: UTF8.self).split(separator: "\n")
    func has(_ mark: StateMark) -> Bool { lines.contains { $0 == mark.rawValue } }
    return has(.restored) && !has(.settled) && lines.contains { $0.contains("\"crash\"") }
  }

  func note(_ mark: StateMark) {
    let (lock, crashLine) = state.withLock { ($0.lock, $0.crashLine) }
    guard let lock else { return }
    Array("\(mark.rawValue)\n".utf8).withUnsafeBytes { _ = try? files.write($0, to: lock) }
    switch mark {
    case .restored:
      let armed = files.armCrashLine(of: lock, at: .zero, limit: nil)
      state.withLock { $0.crashLine = armed }
    case .settled:
      if let crashLine { files.disarmCrashLine(crashLine) }
      state.withLock { $0.crashLine = nil }
    }
  }

  func close() {
    let (lock, crashLine) = state.withLock { state in
      defer { (state.lock, state.crashLine) = (nil, nil) }
      return (state.lock, state.crashLine)
    }
    if let crashLine { files.disarmCrashLine(crashLine) }
    if let lock { files.close(lock) }
  }

  // MARK: The two generations

  private func path(of generation: StateGeneration) -> String {
    switch generation {
    case .current: path
    case .previous: "\(path).previous"
    }
  }

  func read(_ generation: StateGeneration) throws(StateStorageError) -> [UInt8]? {
    try read(path(of: generation), limit: configuration.largestFile)
  }

  /// Reads a whole file; returns nil if there is none.
  private func read(_ path: String, limit: Int) throws(StateStorageError) -> [UInt8]? {
    guard let status = try check(path) else { return nil }
    guard status.size <= limit else {
      throw StateStorageError(place: path, reason: "it has \(status.size) bytes, more than \(limit)", .damaged)
    }
    return try naming(path) { () throws(FileError) in
      let descriptor = try files.openForReading(path)
      defer { files.close(descriptor) }
      // Another process may have replaced the file since, so its present length counts, and its end by what is read.
      let size = Int(min(try files.status(of: descriptor).size, Int64(limit)))
      var failure: FileError?
      let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        do throws(FileError) {
          while count < size {
            let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
            let more = try files.read(into: rest, from: descriptor, at: Int64(count))
            guard more > 0 else { return }
            count += more
          }
        } catch { failure = error }
      }
      if let failure { throw failure }
      return bytes
    }
  }

  /// Looks at what stands at a path; returns nil if nothing does.
  ///
  /// What is not the user's own file is not read, written through, or replaced: a link may lead anywhere.
  @discardableResult private func check(_ path: String) throws(StateStorageError) -> FileStatus? {
    let status: FileStatus
    do throws(FileError) {
      status = try files.status(ofName: path)
    } catch {
      guard error != .noSuchFile else { return nil }
      throw StateStorageError(place: path, reason: error.description)
    }
    if status.isLink { throw StateStorageError(place: path, reason: "it is a symbolic link", .foreign) }
    if !status.isRegular { throw StateStorageError(place: path, reason: "it is not a file", .foreign) }
    if status.owner != user { throw StateStorageError(place: path, reason: "it belongs to another user", .foreign) }
    return status
  }

  func setAside(_ generation: StateGeneration, as reason: SetAsideReason) throws(StateStorageError) -> String {
    let path = path(of: generation)
    let first = "\(self.path).\(reason.rawValue)"
    let names = [first] + (2...Self.mostSetAside).map { "\(first)-\($0)" }
    let name = names.first { (try? files.status(ofName: $0)) == nil } ?? names[names.count - 1]
    try naming(path) { () throws(FileError) in try files.rename(path, to: name) }
    return name
  }

  // MARK: Replacing

  func replace(with bytes: [UInt8]) throws(StateStorageError) {
    // A process that could not take the lock as it began tries again: the disk may have room by now.
    if state.withLock({ $0.lock }) == nil, try !open().mayReplace {
      throw StateStorageError(place: path, reason: "another process writes it")
    }
    let (path, previous, new) = (path, path(of: .previous), "\(path).new")
    let hasPresent = try check(path) != nil
    try check(previous)
    try naming(new) { () throws(FileError) in
      do throws(FileError) { try files.remove(new) } catch { if error != .noSuchFile { throw error } }
      try write(bytes, to: new)
    }
    do throws(StateStorageError) {
      if hasPresent { try naming(path) { () throws(FileError) in try files.rename(path, to: previous) } }
      do throws(StateStorageError) {
        try naming(path) { () throws(FileError) in try files.rename(new, to: path) }
      } catch {
        if hasPresent { try? files.rename(previous, to: path) }
        throw error
      }
    } catch {
      try? files.remove(new)
      throw error
    }
    let directory = JournalFiles.directory(of: path)
    try naming(directory) { () throws(FileError) in
      do throws(FileError) { try files.flushDirectory(directory) } catch {
        if !error.isOfUnflushableDirectory { throw error }
      }
    }
  }

  /// Writes and flushes a new file; leaves none if that fails.
  private func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    var descriptor: Int32
    do throws(FileError) {
      descriptor = try files.makeFile(path, mode: 0o600)
    } catch {
      guard error == .noSuchFile else { throw error }
      try files.makeDirectories(JournalFiles.directory(of: path))
      descriptor = try files.makeFile(path, mode: 0o600)
    }
    do throws(FileError) {
      defer { files.close(descriptor) }
      var written = 0
      while written < bytes.count {
        var failure: FileError?
        bytes.withUnsafeBytes { all in
          do throws(FileError) {
            let count = try files.write(UnsafeRawBufferPointer(rebasing: all[written...]), to: descriptor)
            if count == 0 { failure = .noSpace }
            written += count
          } catch { failure = error }
        }
        if let failure { throw failure }
      }
      try files.flush(descriptor)
    } catch {
      try? files.remove(path)
      throw error
    }
  }

  /// Performs calls of the file system whose errors name a path.
  private func naming<Result>(
    _ path: String, _ body: () throws(FileError) -> Result
  ) throws(StateStorageError) -> Result {
    do throws(FileError) { return try body() } catch {
      throw StateStorageError(place: path, reason: error.description)
    }
  }
}
