extension EventBus {
  /// A subscription for an owner; it lasts as long as the owner, and the release of this value does nothing.
  ///
  /// Any thread may cancel, any number of times, even after the bus has been released.
  public struct OwnedSubscription: Sendable {
    let registration: Registration

    init(_ registration: Registration) { self.registration = registration }

    /// The subscriber, as it appears in reports.
    public var subscriber: EventBus.Subscriber { registration.subscriber }

    /// Whether the subscription was cancelled, has had its one event (`once: true`), or has lost its owner, its subject
    /// or its bus.
    ///
    /// A call of the handler that began earlier on another thread may still be running.
    public var isCancelled: Bool { registration.hasEnded }

    /// Ends the subscription, as ``EventBus/Subscription/cancel()`` does.
    public func cancel() { registration.cancel() }

    /// Ends the subscription as ``EventBus/Subscription/cancelAndDrain()`` does: returns when its handler no longer
    /// runs.
    public func cancelAndDrain() async {
      registration.cancel()
      await registration.drain()
    }
  }
}
