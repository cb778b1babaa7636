internal import PubSub
internal import Synchronization

/// A token that keeps an observer of an application registered, until the token is cancelled or released.
///
/// Any thread may use a token.
public final class ObserverToken: Sendable {
  // Weak, because the observing object often keeps the token, which would be a reference cycle.
  private weak let observer: TraceObserver?

  init(_ observer: TraceObserver) { self.observer = observer }

  deinit { cancel() }

  /// Ends the observation.
  ///
  /// If called on the main actor, the observer is not called again after this method has returned. If called on another
  /// thread, a call of the observer that has begun continues. The method may be called any number of times, also by the
  /// observer itself.
  ///
  /// - Complexity: constant.
  public func cancel() { observer?.end() }
}

/// An observer, which is called until its token is cancelled or released.
final class TraceObserver: Sendable {
  let source: Subscriber
  typealias Body = @MainActor @Sendable (TraceEvent) throws -> Void

  private let lock = Lock()
  /// Nil after the end of the observation, so that captured objects are released; guarded by the lock.
  private nonisolated(unsafe) var body: Body?
  private let hasEnded = Atomic(false)
  /// Whether the observer has thrown an error before.
  let hasFailed = Atomic(false)

  init(_ source: Subscriber, _ body: @escaping Body) {
    self.source = source
    self.body = body
  }

  /// Whether the observation has ended.
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
    // Release it outside the lock, because it may hold another token.
    withExtendedLifetime(former) {}
  }
}
