internal import PubSub
internal import Synchronization

/// Keeps an observer of an application: when the token is cancelled or released, the observer is called no more.
///
/// May be used from any thread.
public final class ObserverToken: Sendable {
  // Not the observer: it may well keep the token, which nothing would free then.
  private let end: ObservationEnd

  init(_ observer: TraceObserver) { end = observer.end }

  deinit { cancel() }

  /// Ends the observation.
  ///
  /// On the main actor the observer is not called again once this has returned; from another thread, a call that has begun goes on.
  /// May be called any number of times, also by the observer itself.
  ///
  /// - Complexity: constant.
  public func cancel() { end.isCancelled.store(true, ordering: .releasing) }
}

/// What a token and its observer share.
final class ObservationEnd: Sendable {
  let isCancelled = Atomic(false)
}

/// One observer, for as long as its token is kept.
final class TraceObserver: Sendable {
  let source: Subscriber
  let body: @MainActor @Sendable (TraceEvent) throws -> Void
  let end = ObservationEnd()
  /// Whether it has thrown before.
  let hasFailed = Atomic(false)

  init(_ source: Subscriber, _ body: @escaping @MainActor @Sendable (TraceEvent) throws -> Void) {
    (self.source, self.body) = (source, body)
  }
}
