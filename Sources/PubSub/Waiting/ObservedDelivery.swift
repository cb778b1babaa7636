/// The delivery of a measured post to one subscriber.
package struct ObservedDelivery: Sendable {
  package let subscriber: EventBus.Subscriber
  /// The position in the order in which the report names the subscribers.
  package let position: Int
  /// The number that ``PostObserver/handlerBegins(_:at:isSynchronous:)`` returned.
  package let callNumber: UInt64?
  package let began: Duration
  /// The code of the poster to run around the handler; nil for none.
  var wrapper: (any HandlerWrapper)?
  package var duration = Duration.zero
  package var outcome = DeliveryReport.Outcome.timedOut
  /// Whether the handler itself has caused the wait to end without it.
  package var isBlamed = false
  /// Whether the error is the `CancellationError` of a handler whose post was cancelled.
  package var isOfCancellation = false

  init(to place: HandlerPlace, _ callNumber: UInt64?, began: Duration) {
    (subscriber, position) = (place.entry.subscriber, place.position)
    (self.callNumber, self.began) = (callNumber, began)
  }
}
