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
