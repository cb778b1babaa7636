/// The properties of a subscription that do not depend on its handler.
struct SubscriptionDetails: Sendable {
  let subscriber: EventBus.Subscriber
  let priority: EventBus.Priority
  var subject: EventBus.Subject?
  let owner: EventBus.Subject?

  init(
    _ subject: EventBus.Subject?, _ priority: EventBus.Priority, _ label: String?, _ fileID: String, _ line: Int,
    owner: EventBus.Subject? = nil
  ) {
    subscriber = EventBus.Subscriber(label: label, fileID: fileID, line: line)
    (self.priority, self.subject, self.owner) = (priority, subject, owner)
  }
}
