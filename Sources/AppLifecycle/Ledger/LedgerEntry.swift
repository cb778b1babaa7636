internal import PubSub

/// A call of the program's code during or after a transition, with its duration and its outcome.
public struct LedgerEntry: Sendable, Hashable {
  /// The kind of code that was called.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A method of the delegate.
    case delegate
    /// A handler of a notification of the life cycle.
    case subscriber
    /// An acquire or a release of a managed resource, the end of its `run` loop, an invalidation, or a use after its
    /// release.
    case resource
    /// A body of `run(while:)` that was ended.
    case runBody
    /// A background task, or a task that the application's `task` started.
    case task
    /// An observer of the application.
    case observer
  }

  /// The outcome of the call.
  public enum Outcome: Sendable, Hashable {
    /// The code returned.
    case completed
    /// The code threw an error, whose text this is.
    case failed(String)
    /// The code was cancelled, and ended in time.
    case cancelled
    /// The code exceeded its time. The ledger does not record whether it has ended since.
    case overran
    /// A background task that was never ended.
    case neverEnded
    /// The call was cut off because other code overran the budget, or because the process ended.
    case cutShort
    /// A resource was used after it was released.
    case usedAfterRelease
  }

  /// The kind of code that was called.
  public var kind: Kind
  /// The purpose of the call: a delegate method; the name of an event; for a resource `acquire`, `release`, `run`,
  /// `invalidate` or `use`; or another step for other kinds of code.
  public var step: String
  /// The time when the call began, by the application's clock, counted from the creation of the application.
  public var began: Duration
  /// The duration of the call, up to its end or until the application stopped waiting for it.
  public var duration: Duration
  /// The outcome of the call.
  public var outcome: Outcome
  private let ownName: String?
  private let fileID: String?
  private let line: Int

  /// Creates an entry for code that has a name.
  package init(
    _ kind: Kind, _ name: String, step: String, began: Duration, duration: Duration, outcome: Outcome = .completed
  ) {
    (self.kind, self.step, self.began, self.duration, self.outcome) = (kind, step, began, duration, outcome)
    (ownName, fileID, line) = (name, nil, 0)
  }

  /// Creates an entry for code with a position in the source, perhaps a label, or with a name alone.
  init(
    _ kind: Kind, _ subscriber: EventBus.Subscriber, step: String, began: Duration, duration: Duration, outcome: Outcome
  ) {
    (self.kind, self.step, self.began, self.duration, self.outcome) = (kind, step, began, duration, outcome)
    (ownName, line) = (subscriber.label, subscriber.line)
    fileID = subscriber.fileID.isEmpty ? nil : subscriber.fileID
  }

  /// Creates an entry that was read from a file, from a label or name and a position in the source, each if known.
  package init(
    _ kind: Kind, label: String?, source: (fileID: String, line: Int)?, step: String, began: Duration,
    duration: Duration, outcome: Outcome
  ) {
    (self.kind, self.step, self.began, self.duration, self.outcome) = (kind, step, began, duration, outcome)
    (ownName, fileID, line) = (label, source?.fileID, source?.line ?? 0)
  }

  /// The label or name of the code, or, if it has none, its position in the source: `Module/File.swift:12`.
  public var name: String { ownName ?? source ?? step }

  /// The label or name of the code; nil if it has none.
  package var label: String? { ownName }

  /// The position of the code in the source, `Module/File.swift:12`; nil if it is not known.
  public var source: String? { fileID.map { "\($0):\(line)" } }

  /// Whether the code exceeded its time, or never ended.
  public var isLate: Bool { outcome == .overran || outcome == .neverEnded }
}

extension LedgerEntry: CustomStringConvertible {
  /// The entry as text: `Module/File.swift:12 (subscriber, applicationDidEnterBackground) 5 s, overran its time`.
  public var description: String {
    "\(name) (\(kind.words), \(step)) \(duration.inSeconds)\(outcome == .completed ? "" : ", \(outcome.words)")"
  }
}

extension LedgerEntry.Outcome {
  /// The outcome as text.
  package var words: String {
    switch self {
    case .completed: "completed"
    case .failed(let error): "failed: \(error)"
    case .cancelled: "cancelled"
    case .overran: "overran its time"
    case .neverEnded: "never ended"
    case .cutShort: "cut short"
    case .usedAfterRelease: "used after its release"
    }
  }
}

extension LedgerEntry.Kind {
  /// The kind in words.
  package var words: String { self == .runBody ? "run body" : rawValue }
}

extension Error {
  /// The text of the error in the ledger and in the health of a resource: its beginning, as an error may print the whole
  /// answer of a server, and the ledger keeps thousands of entries.
  var text: String { String(describing: self).cut(toScalars: 1_000) }
}
