/// A subscriber to every event type, or to the event types of one name.
struct Wildcard {
  let registration: Registration
  /// The name of the event types; nil for all event types.
  let name: EventName?
  /// The receiver of an asynchronous handler.
  var receiver: Receiver?
  /// The synchronous handler, if there is no receiver.
  var body: @Sendable (any EventBus.Event) throws -> Void = { _ in }
}
