/// A subscription on an ``EventBus``; keeping it keeps the handler subscribed.
///
/// Releasing it cancels, unless it belongs to an owner (`subscribe(owner, to:)`): then the owner's life ends it, and the
/// subscription may be discarded. Any thread may cancel, any number of times, also after the bus is gone.
public final class Subscription: Sendable {
  let registration: Registration
  private let endsWithOwner: Bool

  init(_ registration: Registration, endsWithOwner: Bool = false) {
    self.registration = registration
    self.endsWithOwner = endsWithOwner
  }

  deinit { if !endsWithOwner { registration.cancel() } }

  /// Who subscribed.
  public var subscriber: Subscriber { registration.subscriber }

  /// Ends the subscription.
  ///
  /// Once it has returned, no post that begins afterwards reaches the handler, and neither does the rest of a post under
  /// way on this thread. A delivery that another thread had begun may still be running; the handler that runs is not
  /// cancelled. What waits in a mailbox is dropped. Allowed inside a handler, the subscription's own included.
  public func cancel() { registration.cancel() }

  /// Ends the subscription and returns when no handler of it runs.
  ///
  /// Inside the subscription's own handler (or a task started by it) it does not wait for that handler. Inside another
  /// handler it waits for 30 seconds at most, so that two that wait for each other end; then a ``HandlerFailure`` with a
  /// ``DrainTimeout`` names the handler that was waited for. Cancelling the waiting task does not end the wait.
  public func cancelAndDrain() async {
    registration.cancel()
    await registration.drain()
  }

  /// Keeps the subscription in a set.
  public func store(in subscriptions: inout Set<Subscription>) { subscriptions.insert(self) }

  /// Keeps the subscription in a collection that can grow, an array for one.
  public func store<Subscriptions: RangeReplaceableCollection<Subscription>>(in subscriptions: inout Subscriptions) {
    subscriptions.append(self)
  }
}

extension Subscription: Hashable {
  /// Whether both are the very same subscription.
  public static func == (one: Subscription, other: Subscription) -> Bool { one === other }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Two handlers waited for each other, or one took too long: a wait for a handler's end, made inside another handler, was
/// given up.
public struct DrainTimeout: Error, Hashable, CustomStringConvertible {
  /// Whose handler was still running.
  public let subscriber: Subscriber

  /// The same as a sentence.
  public var description: String { "gave up waiting for the handler of \(subscriber)" }
}
