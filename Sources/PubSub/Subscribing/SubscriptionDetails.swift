/// The properties of a subscription that do not depend on its handler; a sequence passes its subject beside them, as it
/// keeps that weakly.
struct SubscriptionDetails: Sendable {
  let subscriber: EventBus.Subscriber
  let priority: EventBus.Priority
  var subject: EventBus.Subject?
  let owner: (any AnyObject & Sendable)?

  init(
    _ subject: EventBus.Subject?, _ priority: EventBus.Priority, _ label: String?, _ fileID: String, _ line: Int,
    owner: (any AnyObject & Sendable)? = nil
  ) {
    subscriber = EventBus.Subscriber(label: label, fileID: fileID, line: line)
    (self.priority, self.subject, self.owner) = (priority, subject, owner)
  }
}
