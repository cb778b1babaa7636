/// An observer of a ``MeasuredPost``, called on the actor of the poster.
package protocol PostObserver: AnyObject {
  /// Whether the observer also wants the beginnings of calls.
  var wantsBeginnings: Bool { get }

  /// Announces that at most this number of synchronous handlers follows, one right after another.
  func handlersFollow(_ count: Int)

  /// Reports that a handler is about to be called.
  ///
  /// - Parameters:
  ///   - subscriber: the handler, or the sequence.
  ///   - time: the time when the call begins.
  ///   - isSynchronous: whether its end follows before the post goes on; true for a sequence, too.
  /// - Returns: the number that identifies the call when its end is reported, and the code to run around the handler; nil
  ///   for neither.
  func handlerBegins(_ subscriber: EventBus.Subscriber, at time: Duration, isSynchronous: Bool) -> BegunCall?

  /// Reports that a synchronous handler has returned, if its beginning was not reported.
  ///
  /// By far the most frequent report, so it has few parameters: an `ObservedDelivery` would cost more than the
  /// handler's call. The site is valid during this call.
  func handlerReturned(_ site: Unmanaged<Site>, at position: Int, began: Duration, ended: Duration)

  /// Reports any other outcome of a delivery.
  func deliveryEnded(_ delivery: ObservedDelivery)
}

/// The observer's number for the call of a handler, and the code to run around it; nil for none.
package typealias BegunCall = (number: UInt64, wrapper: (any HandlerWrapper)?)

/// Code of the poster that runs around a handler.
package protocol HandlerWrapper: AnyObject, Sendable {
  /// Calls a synchronous handler once; returns what it returns, and throws the error that it throws.
  func callHandler(_ handler: () throws -> Bool) throws -> Bool

  /// Calls an asynchronous handler once, in the handler's task, and throws the error that it throws.
  func callHandler(_ handler: () async throws -> Void) async throws
}

/// The delivery of a measured post to one subscriber.
package struct ObservedDelivery: Sendable {
  package let subscriber: EventBus.Subscriber
  /// The position in the order in which the report names the subscribers.
  package let position: Int
  /// The number that ``PostObserver/handlerBegins(_:at:isSynchronous:)`` returned.
  package let callNumber: UInt64?
  package let began: Duration
  package var duration = Duration.zero
  package var outcome = DeliveryReport.Outcome.timedOut
  /// Whether the time-out is the handler's own fault; ``MeasuredPost/expire(blames:blamesQueued:besides:)`` decides.
  package var isBlamed = false
  /// Whether the error is the `CancellationError` of a handler whose post was cancelled.
  package var isOfCancellation = false

  init(to place: HandlerPlace, _ begun: BegunCall?, began: Duration) {
    (subscriber, position) = (place.entry.subscriber, place.position)
    (callNumber, self.began) = (begun?.number, began)
  }
}
