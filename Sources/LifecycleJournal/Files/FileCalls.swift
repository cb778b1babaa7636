/// The calls of the operating system that a journal makes, so that tests can have them fail.
///
/// Each is one call of POSIX, repeated after a signal; what it throws is the call's `errno`.
package protocol FileCalls: Sendable {
  /// Opens a file for appending, and makes it where there is none; exclusively: it has to be a new one.
  func openForAppending(_ path: String, exclusively: Bool) throws(FileError) -> Int32
  /// Opens a file for reading.
  func openForReading(_ path: String) throws(FileError) -> Int32
  /// Closes a descriptor, and with it gives back its lock.
  func close(_ descriptor: Int32)
  /// Appends bytes, by one call; says how many were written, which may be fewer.
  func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int
  /// Reads bytes from a place; none at the end.
  func read(into bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64) throws(FileError)
    -> Int
  /// Returns when all that was written is on the disk.
  func flush(_ descriptor: Int32) throws(FileError)
  /// Cuts a file.
  func truncate(_ descriptor: Int32, to size: Int64) throws(FileError)
  /// Takes the lock of an open file if it is free.
  ///
  /// - Returns: false if another process has it.
  func lock(_ descriptor: Int32) throws(FileError) -> Bool
  /// What a descriptor stands for.
  func status(of descriptor: Int32) throws(FileError) -> FileStatus
  /// What a path leads to.
  func status(at path: String) throws(FileError) -> FileStatus
  /// What a symbolic link says; nil where the path leads to something else, or to nothing.
  func readLink(_ path: String) throws(FileError) -> String?
  /// Gives a file a second name, one that is free.
  func link(_ path: String, as name: String) throws(FileError)
  /// Gives a file another name, in the place of what has it.
  func rename(_ path: String, to name: String) throws(FileError)
  /// Takes a name away from a file.
  func remove(_ path: String) throws(FileError)
  /// Makes a directory; those that it is in have to be there.
  func makeDirectory(_ path: String) throws(FileError)
  /// The size beyond which this process must not write, if there is one: to try it would be a deadly signal.
  func sizeLimit() -> Int64?
}

/// What a file is.
package struct FileStatus: Sendable, Hashable {
  /// Tells the file from every other of its file system, and the file system from others.
  package var identity: Identity
  /// Its length in bytes.
  package var size: Int64
  /// Whether it is an ordinary file, no directory, device or pipe.
  package var isRegular: Bool
  /// How many names it has; none is left of one that was removed.
  package var names: Int

  package struct Identity: Sendable, Hashable {
    package var device: UInt64
    package var number: UInt64
  }
}

/// A call of the operating system that failed.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system's `errno`.
  public let number: Int32

  /// An error from its `errno`.
  public init(number: Int32) { self.number = number }

  /// The system's own words.
  public var description: String { systemText(of: number) }
}
