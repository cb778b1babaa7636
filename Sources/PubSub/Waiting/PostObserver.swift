/// An observer of a ``MeasuredPost``, called on the actor of the poster.
package protocol PostObserver: AnyObject {
  /// Whether the observer also wants the beginnings of calls.
  var wantsBeginnings: Bool { get }

  /// Whether the observer runs code of its own around the calls of handlers whose beginnings it was told.
  var wrapsHandlers: Bool { get }

  /// Announces that at most this number of synchronous handlers follows, one right after another.
  func handlersFollow(_ count: Int)

  /// Reports that a handler is about to be called; returns a number that identifies the call when its end is reported.
  func handlerBegins(_ subscriber: EventBus.Subscriber, at time: Duration, isSynchronous: Bool) -> UInt64?

  /// Calls the synchronous handler whose beginning was reported last; only if the observer wraps handlers.
  func callHandler(_ call: () throws -> Bool) rethrows -> Bool

  /// Returns the code to run around the asynchronous handler whose beginning was reported last; nil for none.
  func wrapper() -> (any HandlerWrapper)?

  /// Reports that a synchronous handler has returned, if its beginning was not reported.
  ///
  /// By far the most frequent report, so it has few parameters: an `ObservedDelivery` would cost more than the
  /// handler's call.
  func handlerReturned(_ site: consuming Site, at position: Int, began: Duration, ended: Duration)

  /// Reports any other outcome of a delivery.
  func deliveryEnded(_ delivery: ObservedDelivery)
}

extension PostObserver {
  package var wrapsHandlers: Bool { false }

  package func callHandler(_ call: () throws -> Bool) rethrows -> Bool { try call() }

  package func wrapper() -> (any HandlerWrapper)? { nil }
}
