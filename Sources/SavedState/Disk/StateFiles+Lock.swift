internal import AppLifecycle
internal import LifecycleJournal
internal import Scheduling

/// The lock, and the marks in its file.
extension StateFiles {
  func open() throws(StateStorageError) -> StateOpening {
    state.withLock { ($0.path, $0.isClosed, $0.known) = (first, false, nil) }
    for number in 1...Self.mostProcesses {
      let path = number == 1 ? first : "\(first).\(number)"
      if let lock = try lock(path) {
        // The last marks count.
        let marks = (try? read("\(path).lock", limit: 65_536, readsEnd: true)).flatMap(\.self) ?? []
        let hasCrashed = Self.tellsOfCrash(marks)
        // The marks of a crash count until the state has been set aside: this process may be killed before that.
        state.withLock { ($0.path, $0.lock, $0.hasOldMarks) = (path, lock, hasCrashed) }
        // Seldom: a file system may wait for the disk as it cuts a file.
        if !hasCrashed, marks.count > Self.mostMarks { try? files.truncate(lock, to: 0) }
        reserve(in: lock)
        return StateOpening(hasCrashedAfterRestoring: hasCrashed)
      }
      if configuration.secondProcess == .readsOnly { return StateOpening(mayReplace: false) }
    }
    throw StateStorageError(place: first, reason: "\(Self.mostProcesses) other processes have state there")
  }

  /// Takes the lock of a state; returns nil if another process has it.
  private func lock(_ path: String) throws(StateStorageError) -> Int32? {
    let name = "\(path).lock"
    // Opening it by a link would let the link's owner choose a file to be truncated.
    try check(name)
    let descriptor = try naming(name) { () throws(FileError) in
      try inDirectory(of: name) { () throws(FileError) in try files.openForAppending(name, exclusively: false) }
    }
    do throws(StateStorageError) {
      if try naming(name, { () throws(FileError) in try files.lock(descriptor) }) {
        guard try isStanding(descriptor, at: name) else {
          throw StateStorageError(place: name, reason: "another process has replaced it meanwhile")
        }
        return descriptor
      }
    } catch {
      files.close(descriptor)
      throw error
    }
    files.close(descriptor)
    return nil
  }

  /// Whether an open lock is still the file at its path.
  private func isStanding(_ lock: Int32, at name: String) throws(StateStorageError) -> Bool {
    guard let status = try check(name) else { return false }
    return try naming(name) { () throws(FileError) in try files.status(of: lock).identity == status.identity }
  }

  /// Makes sure that this process may change the files.
  ///
  /// A process that could not take the lock as it began tries again: the disk may have room by now. It takes no other state than the one
  /// that it has restored. It then changes nothing if another process has saved that state since this one has last seen it.
  func holdLock() throws(StateStorageError) {
    let (path, lock, isClosed) = state.withLock { ($0.path, $0.lock, $0.isClosed) }
    if files.isForked { throw StateStorageError(place: path, reason: "the process that keeps it is this one's parent") }
    if isClosed { throw StateStorageError(place: path, reason: "the process has ended") }
    if let lock, try isStanding(lock, at: "\(path).lock") { return }
    // There is none, or its file was removed, so that another process may have made and locked a new one.
    guard let new = try self.lock(path) else {
      throw StateStorageError(place: path, reason: "another process writes it")
    }
    do throws(StateStorageError) { try checkStanding(at: path) } catch {
      files.close(new)
      throw error
    }
    // Only now: the process may have settled meanwhile.
    let crashLine = state.withLock { state in
      defer { state.crashLine = nil }
      if let lock { state.lost.append(lock) }
      (state.lock, state.hasOldMarks) = (new, true)
      return state.crashLine
    }
    clearMarks()
    reserve(in: new)
    guard let crashLine else { return }
    files.disarmCrashLine(crashLine)
    note(.restored)
  }

  /// Throws if the state is another one than this process has last seen: to replace it would lose what another one has saved.
  private func checkStanding(at path: String) throws(StateStorageError) {
    guard let known = state.withLock({ $0.known }), let status = try check(path) else { return }
    guard Standing(status) == known else {
      throw StateStorageError(place: path, reason: "another process has saved it meanwhile")
    }
  }

  // MARK: Marks

  /// How many bytes of marks are kept.
  private static var mostMarks: Int { 512 }

  /// Whether a process crashed after it had restored state and before it settled, and none has dealt with that.
  ///
  /// Only between these steps a crash writes a line, so they themselves need none: a file system may wait for the disk as it takes one.
  private static func tellsOfCrash(_ marks: [UInt8]) -> Bool {
    let lines = String(decoding: marks, as: UTF8.self).split(separator: "\n")
    guard let crash = lines.lastIndex(where: { $0.contains("\"crash\"") }) else { return false }
    return !lines[crash...].contains { $0 == StateMark.settled.rawValue }
  }

  /// Takes back what the process before has noted.
  func clearMarks() {
    let lock = state.withLock { state in
      defer { state.hasOldMarks = false }
      return state.hasOldMarks ? state.lock : nil
    }
    if let lock { settle(lock) }
  }

  /// Makes the marks in a lock's file tell of no crash.
  private func settle(_ lock: Int32) {
    // The first line feed ends a line that a process could not write as a whole.
    let line = Array("\n\(StateMark.settled.rawValue)\n".utf8)
    let hasRoom = hasRoom(for: line.count, in: lock)
    let written = hasRoom ? line.withUnsafeBytes { try? files.write($0, to: lock) } : nil
    if written != line.count { try? files.truncate(lock, to: 0) }
  }

  /// Whether so many bytes more are within the limit on files, beyond which a signal would end the process.
  private func hasRoom(for count: Int, in lock: Int32) -> Bool {
    guard let limit = files.sizeLimit() else { return true }
    return (try? files.status(of: lock).size).map { $0 + Int64(count) <= limit } ?? false
  }

  /// Reserves room for the line of a crash: the disk may be full by then, and each later process would crash, too.
  private func reserve(in lock: Int32) {
    guard hasRoom(for: Self.mostMarks, in: lock), let size = try? files.status(of: lock).size else { return }
    try? files.reserve(Int64(Self.mostMarks), from: size, in: lock)
  }

  func note(_ mark: StateMark) {
    clearMarks()
    guard let lock = state.withLock({ $0.lock }), !files.isForked else { return }
    let armed = mark == .restored ? files.armCrashLine(of: lock, at: .zero, limit: files.sizeLimit()) : nil
    let former = state.withLock { state in
      defer { state.crashLine = armed }
      return state.crashLine
    }
    if let former { disarm(former, of: lock) }
  }

  /// Ends the watch for a crash, and takes back the line of a fatal signal that the process has survived.
  private func disarm(_ crashLine: Int32, of lock: Int32?) {
    files.disarmCrashLine(crashLine)
    guard let lock, !files.isForked else { return }
    // If that is unknown, there may be one.
    if (try? files.status(of: lock).size) != 0 { settle(lock) }
  }

  // MARK: The end

  /// Leaves the lock to other processes, at the end of a change that is under way.
  func close() {
    let (crashLine, lock) = state.withLock { state in
      defer { state.crashLine = nil }
      return (state.crashLine, state.lock)
    }
    if let crashLine { disarm(crashLine, of: lock) }
    // Not before: the end of a change would close the lock.
    let locks = state.withLock { state in
      state.isClosed = true
      return Self.takeLocks(of: &state)
    }
    for lock in locks { files.close(lock) }
  }

  /// Ends a change, and leaves the lock if the storage was closed meanwhile.
  func didChange() {
    let locks = state.withLock { state in
      state.isChanging = false
      return state.isClosed ? Self.takeLocks(of: &state) : []
    }
    for lock in locks { files.close(lock) }
  }

  private static func takeLocks(of state: inout State) -> [Int32] {
    guard !state.isChanging else { return [] }
    defer { (state.lock, state.lost) = (nil, []) }
    return state.lost + (state.lock.map { [$0] } ?? [])
  }
}
