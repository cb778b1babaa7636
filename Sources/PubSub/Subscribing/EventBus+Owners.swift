/// An owner that was alive only because its own handler captured it.
package struct SelfKeptOwner: Sendable {
  /// The owner's type.
  package let type: String
  /// The subscriber whose cancellation released the owner.
  package let subscriber: EventBus.Subscriber
}

extension EventBus {
  /// Cancels all subscriptions of an owner, as the owner's release would.
  ///
  /// After this call, as after ``EventBus/Subscription/cancel()``, no later post reaches their handlers. Any thread may
  /// call this method. The owner may subscribe again afterward.
  ///
  /// - Parameter owner: the object that was passed as `for:`.
  /// - Complexity: linear in the number of subscriptions on the bus.
  public func cancelSubscriptions(of owner: any AnyObject & Sendable) {
    let registrations = core.withLock { _ in core.registrations }
    for registration in registrations where registration.owner === owner { registration.cancel() }
  }

  /// Cancels the subscriptions of all owners, and returns the owners that this released.
  ///
  /// A subscription holds its owner weakly. If cancelling the subscription releases the owner, only the captured
  /// reference in the handler held it, and the owner would have lived as long as the bus. An owner with another strong
  /// reference is not found. Call this while no handler runs: a running handler keeps its owner alive.
  ///
  /// - Returns: the owners, in the order in which they first subscribed.
  /// - Complexity: n log n in the number of subscriptions.
  package func endSubscriptionsOfOwners() -> [SelfKeptOwner] {
    core.owned().compactMap { owned in
      for registration in owned.registrations {
        guard owned.owner.object != nil else { return nil }
        registration.cancel()
        if owned.owner.object == nil { return SelfKeptOwner(type: owned.type, subscriber: registration.subscriber) }
      }
      return nil
    }
  }
}

/// The subscriptions of one owner.
private struct OwnedRegistrations {
  let owner: WeakReference
  let type: String
  var registrations: [Registration]
}

extension BusCore {
  /// The subscriptions of each owner that is alive, in the order in which they were made.
  fileprivate func owned() -> [OwnedRegistrations] {
    let all = withLock { _ in registrations }
    var owned: [OwnedRegistrations] = []
    // Keeps all owners alive during the comparison: the address of a released owner could be given to another one.
    var owners: [any AnyObject & Sendable] = []
    var places: [ObjectIdentifier: Int] = [:]
    for registration in all.sorted(by: { $0.id < $1.id }) {
      guard let owner = registration.owner else { continue }
      if let place = places[ObjectIdentifier(owner)] {
        owned[place].registrations.append(registration)
      } else {
        places[ObjectIdentifier(owner)] = owned.count
        owners.append(owner)
        owned.append(
          OwnedRegistrations(
            owner: WeakReference(owner), type: String(describing: Swift.type(of: owner)), registrations: [registration])
        )
      }
    }
    return owned
  }
}
