/// A subscriber to every event type, or to the event types of one name.
final class Wildcard: Sendable {
  let registration: Registration
  /// The name of the event types; nil for all event types.
  let name: EventName?
  /// The handler; it does nothing if there is a receiver.
  let body: @Sendable (any EventBus.Event) throws -> Void
  let receiver: Receiver?

  init(
    _ registration: Registration, named name: EventName?, receiver: Receiver? = nil,
    _ body: @escaping @Sendable (any EventBus.Event) throws -> Void = { _ in }
  ) {
    (self.registration, self.name, self.receiver, self.body) = (registration, name, receiver, body)
  }
}
