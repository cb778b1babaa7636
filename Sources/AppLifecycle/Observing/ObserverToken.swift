internal import PubSub
internal import Synchronization

/// Keeps an observer of an application: when the token is cancelled or released, the observer is called no more.
///
/// May be used from any thread.
public final class ObserverToken: Sendable {
  // Weak: what observes may well keep the token, and nothing would free either then.
  private weak let observer: TraceObserver?

  init(_ observer: TraceObserver) { self.observer = observer }

  deinit { cancel() }

  /// Ends the observation.
  ///
  /// On the main actor the observer is not called again once this has returned; from another thread, a call that has begun goes on.
  /// May be called any number of times, also by the observer itself.
  ///
  /// - Complexity: constant.
  public func cancel() { observer?.end() }
}

/// One observer, for as long as its token is kept.
final class TraceObserver: Sendable {
  let source: Subscriber
  typealias Body = @MainActor @Sendable (TraceEvent) throws -> Void

  private let lock = Lock()
  /// Nil once it is called no more, so that what it captured is released; guarded by the lock.
  private nonisolated(unsafe) var body: Body?
  private let hasEnded = Atomic(false)
  /// Whether it has thrown before.
  let hasFailed = Atomic(false)

  init(_ source: Subscriber, _ body: @escaping Body) {
    self.source = source
    self.body = body
  }

  /// Whether it is called no more.
  var isCancelled: Bool { hasEnded.load(ordering: .acquiring) }

  @MainActor func call(_ event: TraceEvent) throws {
    var present: Body?
    lock.withLock { present = body }
    try present?(event)
  }

  func end() {
    hasEnded.store(true, ordering: .releasing)
    var former: Body?
    lock.withLock { swap(&former, &body) }
    // Released outside of the lock: it may hold another token.
    withExtendedLifetime(former) {}
  }
}
