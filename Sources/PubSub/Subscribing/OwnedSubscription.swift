extension EventBus {
  /// A subscription for an owner; it lasts as long as the owner.
  ///
  /// Releasing this value does nothing, so a caller that does not cancel earlier may discard it. Any thread may cancel,
  /// any number of times, even after the bus has been released.
  public struct OwnedSubscription: Sendable {
    let registration: Registration

    init(_ registration: Registration) { self.registration = registration }

    /// The subscriber, as it appears in reports.
    public var subscriber: EventBus.Subscriber { registration.subscriber }

    /// Whether the subscription has ended.
    ///
    /// It has ended if it was cancelled, or has had its one event (`once: true`), or if its owner, its subject or the
    /// bus has been released.
    ///
    /// A call of the handler that began earlier on another thread may still be running.
    public var isCancelled: Bool { registration.hasEnded }

    /// Ends the subscription, as ``EventBus/Subscription/cancel()`` does.
    public func cancel() { registration.cancel() }

    /// Ends the subscription, and returns when its handler no longer runs, as
    /// ``EventBus/Subscription/cancelAndDrain()`` does.
    public func cancelAndDrain() async {
      registration.cancel()
      await registration.drain()
    }
  }
}
