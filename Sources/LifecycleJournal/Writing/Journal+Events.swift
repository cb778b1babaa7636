public import PubSub

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

extension Journal {
  /// The event that a journal cannot be written; it is posted once for each failure, on the thread that appended or
  /// that of a heartbeat.
  ///
  /// The program continues. The event is sticky: to receive it after the journal was opened, subscribe with replay.
  public struct DidFail: Event {
    /// The bus keeps the latest event.
    public static var traits: EventTraits { .sticky }
    /// The path of the journal.
    public let path: String
    /// The failure.
    public let failure: JournalFailure

    /// A sentence that says what the journal lacks from now on.
    public var missing: String {
      switch failure.operation {
      case .open, .lock, .recognize, .write: "nothing is recorded until the journal can be written again"
      case .flush: "the latest records may be lost if the machine goes down"
      case .rotate: "nothing is missing; the file grows beyond its limit"
      }
    }
  }

  /// The event that a journal can be written again; it is posted on the thread that appended, or on that of a
  /// heartbeat.
  ///
  /// It comes without a ``DidFail`` if another program has removed or cut the file.
  public struct DidRecover: Event {
    /// The path of the journal.
    public let path: String
    /// The gap in the journal, which the file also contains.
    public let gap: JournalGap
  }
}
