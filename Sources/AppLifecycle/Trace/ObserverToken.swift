internal import PubSub
internal import Synchronization

/// A token that keeps an observer of an application registered, until the token is cancelled or released.
///
/// Any thread may use a token.
public final class ObserverToken: Sendable {
  private let body: ObserverBody

  init(_ observer: TraceObserver) { body = observer.body }

  deinit { cancel() }

  /// Ends the observation.
  ///
  /// If called on the main actor, the observer is not called again after this method has returned. If called on another
  /// thread, a call of the observer that has begun continues. The method may be called any number of times, also by the
  /// observer itself.
  ///
  /// - Complexity: constant.
  public func cancel() { body.end() }
}
