/// The system calls that a journal makes, as a protocol, so that tests can make them fail.
///
/// Each method is one POSIX call, repeated if a signal interrupts it; it throws the call's `errno`.
package protocol FileCalls: Sendable {
  /// Opens a file for appending, and creates it if it does not exist; with `exclusively` it must not exist yet.
  func openForAppending(_ path: String, exclusively: Bool) throws(FileError) -> Int32
  /// Makes a file that must not exist yet, and opens it for writing; follows no symbolic link at the path.
  func makeFile(_ path: String, mode: UInt32) throws(FileError) -> Int32
  /// Opens a device or pipe for writing.
  func openStream(_ path: String) throws(FileError) -> Int32
  /// Opens a file for reading.
  func openForReading(_ path: String) throws(FileError) -> Int32
  /// Whether this process is a child that was forked from the one whose files these are, and shares its open files.
  var isForked: Bool { get }
  /// Closes a descriptor, and releases its lock unless the process is such a child.
  func close(_ descriptor: Int32)
  /// Appends bytes by one call; returns the number of bytes written, which may be smaller.
  func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int
  /// Reads bytes at an offset; returns 0 at the end.
  func read(into bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64) throws(FileError)
    -> Int
  /// Flushes all written data to the disk.
  func flush(_ descriptor: Int32) throws(FileError)
  /// Flushes the names in a directory to the disk.
  func flushDirectory(_ path: String) throws(FileError)
  /// Reserves room on the disk for bytes from an offset on, without a change of the file's size.
  func reserve(_ count: Int64, from offset: Int64, in descriptor: Int32) throws(FileError)
  /// Truncates a file.
  func truncate(_ descriptor: Int32, to size: Int64) throws(FileError)
  /// Takes the lock of an open file if it is free.
  ///
  /// - Returns: false if another process has it.
  func lock(_ descriptor: Int32) throws(FileError) -> Bool
  /// Returns the status of an open file.
  func status(of descriptor: Int32) throws(FileError) -> FileStatus
  /// Returns the status of the file at a path.
  func status(at path: String) throws(FileError) -> FileStatus
  /// Returns the status of what stands at a path, which may be a symbolic link.
  func status(ofName path: String) throws(FileError) -> FileStatus
  /// Returns the target of a symbolic link; nil if the path is not a symbolic link, or does not exist.
  func readLink(_ path: String) throws(FileError) -> String?
  /// Gives a file a second name, which must be free.
  func link(_ path: String, as name: String) throws(FileError)
  /// Renames a file; replaces a file that has the new name.
  func rename(_ path: String, to name: String) throws(FileError)
  /// Removes a name of a file.
  func remove(_ path: String) throws(FileError)
  /// Makes a directory; its parent must exist.
  func makeDirectory(_ path: String) throws(FileError)
  /// Returns the process's limit on file sizes, if there is one; writing beyond it would raise a fatal signal.
  func sizeLimit() -> Int64?
  /// Lets a crash of this process append a `crash` line to an open file.
  ///
  /// - Returns: a number for `disarmCrashLine`; nil if that is not possible.
  func armCrashLine(of descriptor: Int32, at instant: Duration, limit: Int64?) -> Int32?
  /// Forgets an open file before it is closed.
  func disarmCrashLine(_ slot: Int32)
}

extension FileCalls {
  /// Returns the status of what stands at a path; nil if nothing does.
  ///
  /// If that is unknown, it throws: a name that wrongly counts as free could cost a file.
  package func standing(at path: String, followingLinks: Bool = false) throws(FileError) -> FileStatus? {
    do throws(FileError) {
      return try followingLinks ? status(at: path) : status(ofName: path)
    } catch {
      guard error == .noSuchFile else { throw error }
      return nil
    }
  }

  /// Opens a file, and makes its directory if that is missing.
  package func makingDirectory(
    of path: String, willMake: () -> Void = {}, _ open: () throws(FileError) -> Int32
  ) throws(FileError) -> Int32 {
    do throws(FileError) { return try open() } catch {
      guard error == .noSuchFile else { throw error }
      willMake()
      try makeDirectories(JournalFiles.directory(of: path))
      return try open()
    }
  }

  /// Writes all bytes; `written` counts them, also if a call fails.
  package func writeAll(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ written: inout Int
  ) throws(FileError) {
    while written < bytes.count {
      let count = try write(UnsafeRawBufferPointer(rebasing: bytes[written...]), to: descriptor)
      guard count > 0 else { throw .noSpace }
      written += count
    }
  }

  /// Flushes the names in a directory, where the file system can; also in all directories above it, if these may have
  /// new names.
  package func flushNames(in directory: String, andAbove: Bool = false) throws(FileError) {
    do throws(FileError) { try flushDirectory(directory) } catch { if !error.isOfUnflushableDirectory { throw error } }
    var directory = directory
    while andAbove, case let parent = JournalFiles.directory(of: directory), parent != directory {
      // It may be in another file system, which may have failed for good: that is no reason to refuse what this one has.
      try? flushDirectory(parent)
      directory = parent
    }
  }

  /// Makes a directory, and the parents that are missing; does nothing if it exists.
  package func makeDirectories(_ path: String) throws(FileError) {
    do throws(FileError) {
      return try makeDirectory(path)
    } catch {
      if error == .exists { return }
      let parent = JournalFiles.directory(of: path)
      guard error == .noSuchFile, parent != path else { throw error }
      try makeDirectories(parent)
    }
    do throws(FileError) {
      try makeDirectory(path)
    } catch {
      // Another program has made it meanwhile; or the path ends with "/", so that the parent was the same directory.
      if error != .exists { throw error }
    }
  }
}
