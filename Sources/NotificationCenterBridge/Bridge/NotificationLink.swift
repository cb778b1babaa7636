import Foundation
internal import PubSub

/// What a bridge passes on, for as long as this object is kept.
///
/// Releasing it ends that. It does not keep the bus.
public final class NotificationLink: Sendable {
  private struct State: @unchecked Sendable {
    var isCancelled = false
    var subscriptions: [Subscription] = []
    /// Tokens of the center, touched under the lock alone.
    var observers: [any NSObjectProtocol] = []
  }

  private let center: NotificationCenterReference
  private let state = Guarded(State())

  init(_ center: NotificationCenterReference) { self.center = center }

  deinit { cancel() }

  func keep(_ subscription: Subscription) { state.withLock { $0.subscriptions.append(subscription) } }

  func keep(_ observer: any NSObjectProtocol) {
    nonisolated(unsafe) let observer = observer
    state.withLock { $0.observers.append(observer) }
  }

  /// Whether it has ended.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Ends it: no event posted from now on becomes a notification, and no notification an event.
  ///
  /// May be called from any thread, and a second time without effect.
  public func cancel() {
    let former = state.withLock { state -> State in
      defer { state = State(isCancelled: true) }
      return state
    }
    for subscription in former.subscriptions { subscription.cancel() }
    for observer in former.observers { center.center.removeObserver(observer) }
  }
}

/// A center and its identity.
struct NotificationCenterReference: Sendable {
  let center: NotificationCenter
  var identifier: ObjectIdentifier { ObjectIdentifier(center) }
}
