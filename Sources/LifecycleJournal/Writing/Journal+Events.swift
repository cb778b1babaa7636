public import PubSub

/// What keeps a journal from being written.
public struct JournalFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The operation that failed.
  public enum Operation: String, Sendable, Hashable, CaseIterable {
    /// The file could not be opened or made.
    case open
    /// Another program writes the file.
    case lock
    /// The file holds something else than a journal, and is left as it is.
    case recognize
    /// A record could not be written.
    case write
    /// A record was written, and may not be on the disk.
    case flush
    /// The file has grown too long and could not be put aside: it grows on.
    case rotate
  }

  /// The operation that failed.
  public var operation: Operation
  /// The path of the file.
  public var path: String
  /// The reason, in the system's words, or in the journal's if the system has none.
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

  /// A file that is no journal.
  static func foreign(_ path: String) -> JournalFailure {
    JournalFailure(.recognize, path, reason: "it holds something else than a journal, and is left as it is")
  }
}

extension Journal {
  /// A journal cannot be written; posted once, when it begins, on the thread that appended, or on that of a heartbeat.
  ///
  /// The program goes on. Sticky: to receive it after the journal was opened, subscribe with replay.
  public struct DidFail: Event {
    /// The bus keeps the latest.
    public static var traits: EventTraits { .sticky }
    /// The path of the journal.
    public let path: String
    /// What failed, and why.
    public let failure: JournalFailure

    /// What is missing from now on, in a sentence.
    public var missing: String {
      switch failure.operation {
      case .open, .lock, .recognize, .write: "nothing is recorded until it can be written again"
      case .flush: "what was recorded last may be lost if the machine goes down"
      case .rotate: "nothing is missing; the file grows beyond its limit"
      }
    }
  }

  /// A journal that could not be written can be written again; posted on the thread that appended, or on that of a heartbeat.
  public struct DidRecover: Event {
    /// The path of the journal.
    public let path: String
    /// What is missing in it, as the file says, too.
    public let gap: JournalGap
  }
}
