/// Is told what becomes of an observed post.
@MainActor package protocol PostObserver: AnyObject {
  /// Whether the beginnings of calls are to be told, too.
  var wantsBeginnings: Bool { get }

  /// No more than so many synchronous handlers follow, one right after another.
  func handlersFollow(_ count: Int)

  /// A handler is about to be called.
  ///
  /// - Returns: a number by which the call's end refers to this.
  func handlerBegins(_ subscriber: Subscriber, at time: Duration, isSynchronous: Bool) -> UInt64?

  /// A synchronous handler whose beginning was not told has returned.
  ///
  /// What nearly always happens, so it is told in as few words as can be: a look at each other outcome for each handler would cost
  /// more than calling it.
  func handlerReturned(_ site: consuming Site, began: Duration, ended: Duration)

  /// What else became of the post at a subscriber.
  func deliveryEnded(_ delivery: ObservedDelivery)
}

/// What became of an observed post at one subscriber.
package struct ObservedDelivery: Sendable {
  package enum Outcome: Sendable {
    case delivered
    case threw(any Error)
    /// The handler was cancelled, and ended in time.
    case cancelled
    /// The handler had not ended when it was no longer waited for.
    case late
    /// It had no chance to end, or to begin, before it was no longer waited for.
    case cutShort
    /// The subscription was cancelled before the handler was called; told only where its beginning was.
    case dropped
  }

  package let subscriber: Subscriber
  package let began: Duration
  package let duration: Duration
  package let outcome: Outcome
  /// What ``PostObserver/handlerBegins(_:at:isSynchronous:)`` has returned for it.
  package var call: UInt64?
}
