import CLifecycleJournal
import LibC
import Scheduling

/// The system calls themselves.
package struct SystemFiles: FileCalls {
  private let owner = getpid()

  package init() {}

  package var isForked: Bool { getpid() != owner }

  package func openForAppending(_ path: String, exclusively: Bool) throws(FileError) -> Int32 {
    // Non-blocking, so that a named pipe at the path cannot block the program. `O_NOCTTY`: a terminal must not become
    // the controlling one.
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (exclusively ? O_EXCL : 0)
    return try aboveStandardStreams { open(path, flags, 0o600) }
  }

  /// Opens a file for writing, with a number that is no standard stream's.
  ///
  /// A program may have been started without a standard stream, and other code writes to the stream's number.
  private func aboveStandardStreams(_ call: () -> Int32) throws(FileError) -> Int32 {
    let descriptor = try repeating(call)
    guard descriptor <= 2 else { return descriptor }
    defer { LibC.close(descriptor) }
    return try repeating { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
  }

  package func makeFile(_ path: String, mode: UInt32) throws(FileError) -> Int32 {
    try aboveStandardStreams { open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(mode)) }
  }

  package func openStream(_ path: String) throws(FileError) -> Int32 {
    try aboveStandardStreams { open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC) }
  }

  package func openForReading(_ path: String) throws(FileError) -> Int32 {
    try repeating { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
  }

  package func close(_ descriptor: Int32) {
    // Unlock explicitly: a child between `fork` and `exec` has the same open file, and would hold the lock until then.
    // Such a child itself must not unlock it.
    if !isForked { flock(descriptor, LOCK_UN) }
    LibC.close(descriptor)
  }

  package func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int {
    try repeating { LibC.write(descriptor, bytes.baseAddress, bytes.count) }
  }

  package func read(
    into bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64
  ) throws(FileError) -> Int {
    try repeating { pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) }
  }

  package func flush(_ descriptor: Int32) throws(FileError) {
    #if canImport(Darwin)
      _ = try repeating { fsync(descriptor) }
    #else
      // Of the file's attributes a reader needs only the size, which `fdatasync` also flushes.
      _ = try repeating { fdatasync(descriptor) }
    #endif
  }

  package func flushDirectory(_ path: String) throws(FileError) {
    let descriptor = try repeating { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    defer { LibC.close(descriptor) }
    _ = try repeating { fsync(descriptor) }
  }

  package func reserve(_ count: Int64, from offset: Int64, in descriptor: Int32) throws(FileError) {
    _ = try repeating { journal_reserve(descriptor, offset, count) }
  }

  package func truncate(_ descriptor: Int32, to size: Int64) throws(FileError) {
    _ = try repeating { ftruncate(descriptor, off_t(size)) }
  }

  package func lock(_ descriptor: Int32) throws(FileError) -> Bool {
    // `flock` belongs to the open file and not to the process, so opening and closing the same file for reading does
    // not release it.
    do throws(FileError) {
      _ = try repeating { flock(descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      guard error.number == EWOULDBLOCK else { throw error }
      return false
    }
  }

  package func status(of descriptor: Int32) throws(FileError) -> FileStatus {
    try FileStatus { fstat(descriptor, $0) }
  }

  package func status(at path: String) throws(FileError) -> FileStatus {
    try FileStatus { stat(path, $0) }
  }

  package func status(ofName path: String) throws(FileError) -> FileStatus {
    try FileStatus { lstat(path, $0) }
  }

  package func readLink(_ path: String) throws(FileError) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    do throws(FileError) {
      let count = try repeating { readlink(path, &bytes, bytes.count) }
      guard count < bytes.count else { throw FileError(number: ENAMETOOLONG) }
      return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    } catch {
      guard error.number == EINVAL || error == .noSuchFile else { throw error }
      return nil
    }
  }

  package func link(_ path: String, as name: String) throws(FileError) { _ = try repeating { LibC.link(path, name) } }

  package func rename(_ path: String, to name: String) throws(FileError) {
    _ = try repeating { LibC.rename(path, name) }
  }

  package func remove(_ path: String) throws(FileError) { _ = try repeating { unlink(path) } }

  package func makeDirectory(_ path: String) throws(FileError) { _ = try repeating { mkdir(path, 0o700) } }

  package func sizeLimit() -> Int64? {
    var limit = rlimit()
    #if canImport(Glibc)
      let status = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      let status = getrlimit(RLIMIT_FSIZE, &limit)
    #endif
    guard status == 0, limit.rlim_cur <= UInt64(Int64.max) else { return nil }
    return Int64(limit.rlim_cur)
  }

  package func armCrashLine(of descriptor: Int32, at instant: Duration, limit: Int64?) -> Int32? {
    let slot = journal_crash_arm(descriptor, instant.nanoseconds, limit ?? -1)
    return slot >= 0 ? slot : nil
  }

  package func disarmCrashLine(_ slot: Int32) { journal_crash_disarm(slot) }
}

extension FileStatus {
  fileprivate init(_ call: (UnsafeMutablePointer<stat>) -> Int32) throws(FileError) {
    var status = stat()
    _ = try repeating { call(&status) }
    #if canImport(Darwin)
      let modified = status.st_mtimespec
    #else
      let modified = status.st_mtim
    #endif
    self.init(
      identity: Identity(
        device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino)),
      size: Int64(status.st_size), isRegular: status.st_mode & S_IFMT == S_IFREG,
      isLink: status.st_mode & S_IFMT == S_IFLNK, names: Int(status.st_nlink), owner: UInt32(status.st_uid),
      mode: UInt32(status.st_mode & 0o7777),
      modified: .seconds(Int64(modified.tv_sec)) + .nanoseconds(Int64(modified.tv_nsec)))
  }
}

/// Repeats a call until no signal interrupts it.
private func repeating<Result: SignedInteger>(_ call: () -> Result) throws(FileError) -> Result {
  while true {
    let result = call()
    if result >= 0 { return result }
    guard errno == EINTR else { throw FileError(number: errno) }
  }
}

/// The system's words for an `errno`.
func systemText(of number: Int32) -> String { String(cString: strerror(number)) }

extension SystemFiles {
  /// The user with whose rights this process opens files.
  package static var user: UInt32 { UInt32(geteuid()) }

  /// Returns a path that means the same after the process has changed its directory; an empty one stays empty.
  package static func absolute(_ path: String) -> String {
    guard !path.isEmpty, !path.hasPrefix("/"), let present = getcwd(nil, 0) else { return path }
    defer { free(present) }
    return "\(String(cString: present))/\(path)"
  }
}

extension FileError {
  package static let noSuchFile = FileError(number: ENOENT)
  static let notPermitted = FileError(number: EPERM)
  package static let exists = FileError(number: EEXIST)
  static let tooManyLinks = FileError(number: ELOOP)
  static let fileTooLarge = FileError(number: EFBIG)
  /// The error for a write that wrote nothing without an `errno`, which counts as a full disk.
  static let noSpace = FileError(number: ENOSPC)

  /// Whether there is no room for more bytes: the disk is full, or a quota or a limit is reached.
  var isLackOfRoom: Bool { number == ENOSPC || number == EDQUOT || number == EFBIG }
  /// Whether the file system cannot flush a directory, or this process may not read it.
  var isOfUnflushableDirectory: Bool { [EINVAL, ENOTSUP, EOPNOTSUPP, ENOSYS, EACCES, EPERM].contains(number) }
}
