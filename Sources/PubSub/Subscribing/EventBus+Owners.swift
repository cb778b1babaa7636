/// An owner that nothing but a handler of its own kept alive.
package struct SelfKeptOwner: Sendable {
  /// The owner's type.
  package let type: String
  /// The subscription with whose end the owner was released.
  package let subscriber: Subscriber
}

extension EventBus {
  /// Cancels the subscriptions that were made for an owner, as its end would.
  ///
  /// As after ``Subscription/cancel()``, no later post reaches their handlers. Any thread may call this method. The owner may subscribe
  /// again afterwards.
  ///
  /// - Parameter owner: the object that was passed to `subscribe(owner, to:)`.
  /// - Complexity: linear in the number of subscriptions on the bus.
  public func cancelSubscriptions(of owner: any AnyObject & Sendable) {
    let registrations = core.withLock { _ in core.registrations }
    for registration in registrations where registration.owner === owner { registration.cancel() }
  }

  /// Cancels the subscriptions of all owners, and returns the owners that were released by that.
  ///
  /// A subscription holds its owner weakly. An owner that goes with the handler was captured by the handler, and nothing else
  /// held it: without the end of the subscription it would have stayed as long as the bus. An owner that something else holds,
  /// too, is not found. No handler should run meanwhile: it keeps its owner.
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
    // While they are compared all owners live, so that no two have the same identity.
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
