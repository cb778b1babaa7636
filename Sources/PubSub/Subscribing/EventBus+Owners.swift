/// An owner that was alive only because its own handler captured it.
package struct SelfKeptOwner: Sendable {
  /// The owner's type.
  package let type: String
  /// The subscriber whose cancellation released the owner.
  package let subscriber: EventBus.Subscriber
}

extension EventBus {
  /// Cancels all subscriptions of an owner, as the owner's release would; the owner may subscribe again afterward.
  ///
  /// - Parameter owner: the object that was passed as `for:`.
  /// - Complexity: linear in the number of subscriptions on the bus.
  public func cancelSubscriptions(of owner: any AnyObject & Sendable) {
    let registrations = core.withLock { _ in core.registrations }.filter { $0.owner === owner }
    // In this order, so that what the handlers captured is released as in every other run.
    for registration in registrations.sorted(by: { $0.id < $1.id }) { registration.cancel() }
  }

  /// Cancels the subscriptions of all owners, and returns the owners that this released, in the order in which they
  /// first subscribed.
  ///
  /// Nothing but its own handler, which had captured it, held such an owner: it would have lived as long as the bus.
  /// Call this while no handler runs: a running handler keeps its owner alive.
  package func endSubscriptionsOfOwners() -> [SelfKeptOwner] {
    core.registrationsByOwner().compactMap { registrations in
      let type = registrations[0].owner.map { String(describing: Swift.type(of: $0)) }
      for registration in registrations {
        guard let type, registration.owner != nil else { return nil }
        registration.cancel()
        if registration.owner == nil { return SelfKeptOwner(type: type, subscriber: registration.subscriber) }
      }
      return nil
    }
  }
}

extension BusCore {
  /// The registrations of each owner that is alive, in the order in which they were made.
  fileprivate func registrationsByOwner() -> [[Registration]] {
    // All owners are alive during the comparison: the address of a released one could be given to another.
    let owned = withLock { _ in registrations }.compactMap { registration in
      registration.owner.map { (owner: $0, registration: registration) }
    }
    return Dictionary(grouping: owned) { ObjectIdentifier($0.owner) }.values
      .map { $0.map(\.registration).sorted { $0.id < $1.id } }
      .sorted { $0[0].id < $1[0].id }
  }
}
