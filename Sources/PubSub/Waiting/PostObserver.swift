/// An observer of a post: it receives the beginning, the end and the outcome of each handler's call.
@MainActor package protocol PostObserver: AnyObject {
  /// Whether the observer also wants the beginnings of calls.
  var wantsBeginnings: Bool { get }

  /// Announces that at most this number of synchronous handlers follows, one right after another.
  func handlersFollow(_ count: Int)

  /// Reports that a handler is about to be called.
  ///
  /// - Returns: a number that identifies the call when its end is reported.
  func handlerBegins(_ subscriber: Subscriber, at time: Duration, isSynchronous: Bool) -> UInt64?

  /// Reports that a synchronous handler has returned, if its beginning was not reported.
  ///
  /// This is by far the most frequent report, so it has the fewest parameters: an `ObservedDelivery` for each handler
  /// would cost more than the call of the handler.
  func handlerReturned(_ site: consuming Site, began: Duration, ended: Duration)

  /// Reports any other outcome of a delivery.
  func deliveryEnded(_ delivery: ObservedDelivery)
}

/// The delivery of an observed post to one subscriber.
package struct ObservedDelivery: Sendable {
  package enum Outcome: Sendable {
    case delivered
    case threw(any Error)
    /// The handler was cancelled, and ended in time.
    case cancelled
    /// The handler was still running when the wait ended.
    case late
    /// The handler could not begin, or could not be blamed for running, before the wait ended.
    case cutShort
    /// The subscription was cancelled before the handler was called; reported only if its beginning was reported.
    case dropped
  }

  package let subscriber: Subscriber
  package let began: Duration
  package let duration: Duration
  package let outcome: Outcome
  /// The number that ``PostObserver/handlerBegins(_:at:isSynchronous:)`` returned for this call.
  package var call: UInt64?
}
