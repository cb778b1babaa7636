internal import PubSub

/// A call of the program's code that has begun: of a delegate's method, a handler, an operation of a resource, a task, an observer.
public struct TracedCall: Sendable, Hashable, Identifiable {
  /// Counts the calls of an application that were observed, from 1.
  public let id: UInt64
  /// Whether the code keeps the main actor until it returns, as a delegate's method and a synchronous handler do.
  public let isSynchronous: Bool
  /// The entry as it would be if the call ended at once.
  private let entry: LedgerEntry

  init(_ entry: LedgerEntry, id: UInt64, isSynchronous: Bool) {
    (self.entry, self.id, self.isSynchronous) = (entry, id, isSynchronous)
  }

  /// A call, for tests of an observer.
  ///
  /// - Parameters:
  ///   - id: what the end of the call refers to.
  ///   - kind: what kind of code is called.
  ///   - name: its name.
  ///   - step: what it is called for.
  ///   - began: when it began, by the application's clock.
  ///   - isSynchronous: whether it keeps the main actor until it returns.
  public init(
    id: UInt64, _ kind: LedgerEntry.Kind, _ name: String, step: String, began: Duration, isSynchronous: Bool = true
  ) {
    self.init(
      LedgerEntry(kind, name, step: step, began: began, duration: .zero), id: id, isSynchronous: isSynchronous)
  }

  /// What kind of code is called.
  public var kind: LedgerEntry.Kind { entry.kind }
  /// Its label or name; where it has none, the position in the source: `Module/File.swift:12`.
  public var name: String { entry.name }
  /// Where it stands in the source, `Module/File.swift:12`; nil where that is not known.
  public var source: String? { entry.source }
  /// What it is called for: a delegate method, `acquire`, `release`, or what else its kind does.
  public var step: String { entry.step }
  /// When it began, by the application's clock, since that was first read.
  public var began: Duration { entry.began }
}
