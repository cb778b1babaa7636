/// An observer of a ``MeasuredPost``, called on the actor of the poster.
package protocol PostObserver: AnyObject {
  /// Whether the observer also wants the beginnings of calls.
  var wantsBeginnings: Bool { get }

  /// Announces that at most this number of synchronous handlers follows, one right after another.
  func handlersFollow(_ count: Int)

  /// Reports that a handler is about to be called; returns a number that identifies the call when its end is reported.
  func handlerBegins(_ subscriber: EventBus.Subscriber, at time: Duration, isSynchronous: Bool) -> UInt64?

  /// Reports that a synchronous handler has returned, if its beginning was not reported.
  ///
  /// By far the most frequent report, so it has few parameters: an `ObservedDelivery` would cost more than the
  /// handler's call.
  func handlerReturned(_ site: consuming Site, at position: Int, began: Duration, ended: Duration)

  /// Reports any other outcome of a delivery.
  func deliveryEnded(_ delivery: ObservedDelivery)
}

/// The delivery of a measured post to one subscriber.
package struct ObservedDelivery: Sendable {
  package let subscriber: EventBus.Subscriber
  /// The position in the order in which the report names the subscribers.
  package let position: Int
  /// The number that ``PostObserver/handlerBegins(_:at:isSynchronous:)`` returned.
  package let call: UInt64?
  package let began: Duration
  package var duration = Duration.zero
  package var outcome = DeliveryReport.Outcome.timedOut
  /// Whether the handler is to blame for the end of the wait.
  package var isLate = false
  /// Whether the error is that of a handler whose post was cancelled.
  package var isOfCancellation = false

  init(to place: HandlerPlace, call: UInt64?, began: Duration) {
    (subscriber, position) = (place.entry.subscriber, place.position)
    (self.call, self.began) = (call, began)
  }
}
