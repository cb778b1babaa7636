internal import PubSub

/// A piece of code that was called during a transition or a stay in the background: for how long, and how it ended.
public struct LedgerEntry: Sendable, Hashable {
  /// What kind of code it was.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A method of the delegate.
    case delegate
    /// A handler of the notification that followed.
    case subscriber
    /// An acquire or a release of a managed resource.
    case resource
    /// A body of `run(while:)` that was ended.
    case runBody
    /// A background task, or a task that the application's `task` started.
    case task
    /// An observer of the application.
    case observer
  }

  /// How it ended.
  public enum Outcome: Sendable, Hashable {
    /// In order.
    case completed
    /// With an error, here as text.
    case failed(String)
    /// It was cancelled, and has ended in time.
    case cancelled
    /// It exceeded its time. Whether it has ended since is not recorded.
    case overran
    /// A background task that was never ended.
    case neverEnded
    /// It was cut off because other code overran the budget, or because the process ended.
    case cutShort
    /// A resource was used after it was released.
    case usedAfterRelease
  }

  /// What kind of code it was.
  public var kind: Kind
  /// The purpose of the call: a delegate method, `acquire`, `release`, or what else code of this kind does.
  public var step: String
  /// When it began, by the application's clock, counted from the creation of the application.
  public var began: Duration
  /// How long it took, or how long it had taken when it was no longer waited for.
  public var duration: Duration
  /// How it ended.
  public var outcome: Outcome
  private let ownName: String?
  private let fileID: String?
  private let line: Int

  /// An entry for code that has a name.
  public init(
    _ kind: Kind, _ name: String, step: String, began: Duration, duration: Duration, outcome: Outcome = .completed
  ) {
    (self.kind, self.step, self.began, self.duration, self.outcome) = (kind, step, began, duration, outcome)
    (ownName, fileID, line) = (name, nil, 0)
  }

  /// An entry of something that stands in the source, with a label or without.
  init(
    _ kind: Kind, _ subscriber: Subscriber, step: String, began: Duration, duration: Duration, outcome: Outcome
  ) {
    (self.kind, self.step, self.began, self.duration, self.outcome) = (kind, step, began, duration, outcome)
    (ownName, fileID, line) = (subscriber.label, subscriber.fileID, subscriber.line)
  }

  /// An entry that was written down: a label or name and a position in the source, each where it has one.
  package init(
    _ kind: Kind, label: String?, source: (fileID: String, line: Int)?, step: String, began: Duration,
    duration: Duration, outcome: Outcome
  ) {
    (self.kind, self.step, self.began, self.duration, self.outcome) = (kind, step, began, duration, outcome)
    (ownName, fileID, line) = (label, source?.fileID, source?.line ?? 0)
  }

  /// Its label or name; where it has none, the position in the source: `Module/File.swift:12`.
  public var name: String { ownName ?? source ?? step }

  /// Its label or name; nil where it has none.
  package var label: String? { ownName }

  /// Where it stands in the source, `Module/File.swift:12`; nil where that is not known.
  public var source: String? { fileID.map { "\($0):\(line)" } }

  /// Whether it exceeded its time, or never ended.
  public var isLate: Bool { outcome == .overran || outcome == .neverEnded }
}

extension LedgerEntry: CustomStringConvertible {
  /// The entry for a person: `Module/File.swift:12 (subscriber, applicationDidEnterBackground) 5.0 s, overran`.
  public var description: String {
    let what = "\(name) (\(kind), \(step)) \(duration.inSeconds)"
    switch outcome {
    case .completed: return what
    case .failed(let error): return "\(what), failed: \(error)"
    case .cancelled: return "\(what), cancelled"
    case .overran: return "\(what), overran"
    case .neverEnded: return "\(what), never ended"
    case .cutShort: return "\(what), cut short"
    case .usedAfterRelease: return "\(what), used after its release"
    }
  }
}

extension LedgerEntry.Kind: CustomStringConvertible {
  /// The kind in words.
  public var description: String { self == .runBody ? "run body" : rawValue }
}

extension Duration {
  /// As text: seconds, rounded to the millisecond where they are not even that.
  var inSeconds: String {
    let (seconds, attoseconds) = components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    if seconds == 0, milliseconds == 0 { return self == .zero ? "0 s" : "< 1 ms" }
    if milliseconds == 0 { return "\(seconds) s" }
    let fraction = String(milliseconds + 1_000).dropFirst()
    return "\(seconds).\(fraction) s"
  }
}
