import LibC

/// A failure that prevents a journal from being written.
public struct JournalFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The operation that failed.
  public enum Operation: String, Sendable, Hashable, CaseIterable {
    /// The file could not be opened or created.
    case open
    /// Another program writes the file.
    case lock
    /// The file is not a journal, and is not changed.
    case recognize
    /// A record could not be written.
    case write
    /// A record was written, but may not be on the disk.
    case flush
    /// The full file could not be put aside, or a file that is no journal has a name that this needs; so the full file
    /// grows beyond its maximum.
    case rotate
  }

  /// The operation that failed.
  public var operation: Operation
  /// The path of the file.
  public var path: String
  /// The reason, in the system's words or, if no system call failed, in the journal's.
  public var reason: String
  /// The system's `errno`; nil if no system call failed.
  public var error: FileError?

  /// The failure in one line: `cannot write trips.jsonl: No space left on device`.
  public var description: String { "cannot \(operation.rawValue) \(path): \(reason)" }

  /// What the user can do about it, as a clause: `make room on the file system`.
  public var advice: String {
    switch operation {
    case .lock where error == nil: "end the other program, or let each program write a file of its own"
    case .recognize: "move the file away, or choose another path"
    case .rotate where error == nil: "move the other file away"
    case .open, .lock, .write, .flush, .rotate: error?.advice ?? "choose the path of a regular file"
    }
  }

  init(_ operation: Operation, _ path: String, _ error: FileError) {
    (self.operation, self.path, self.reason, self.error) = (operation, path, error.description, error)
  }

  init(_ operation: Operation, _ path: String, reason: String) {
    (self.operation, self.path, self.reason) = (operation, path, reason)
  }

  /// Makes the failure for a file that is not a journal.
  static func foreign(_ path: String) -> JournalFailure {
    JournalFailure(.recognize, path, reason: "the file is not a journal, and is not changed")
  }
}

extension FileError {
  fileprivate var advice: String {
    switch number {
    case ENOSPC: "make room on the file system"
    case EDQUOT: "make room within the quota of this user"
    case EFBIG: "raise the limit on the size of files"
    case EMFILE, ENFILE: "raise the limit on open files"
    case EACCES, EPERM: "make the file and its directory writable for this user, or choose another path"
    case EROFS: "choose a path on a file system that can be written"
    case ENOLCK, ENOTSUP, EOPNOTSUPP, ENOSYS: "choose a path on a file system that can lock files"
    case ELOOP: "remove the loop of symbolic links"
    case EISDIR, ENOTDIR, ENXIO, ENODEV: "choose the path of a regular file"
    case ENAMETOOLONG: "choose a shorter path"
    case EIO: "check the disk"
    default: "choose another path"
    }
  }
}
