import Foundation
internal import PubSub
internal import Scheduling

/// A link of a bridge, which passes events of certain types as long as this object is kept.
///
/// Releasing this object ends the link. It does not keep the bus alive.
public final class NotificationLink: Sendable {
  private struct State: @unchecked Sendable {
    var isCancelled = false
    var subscriptions: [EventBus.Subscription] = []
    /// The center's observer tokens; accessed only under the lock.
    var observers: [any NSObjectProtocol] = []
  }

  private let center: NotificationCenterReference
  private let state = Guarded(State())

  init(_ center: NotificationCenterReference) { self.center = center }

  deinit { cancel() }

  func keep(_ subscription: EventBus.Subscription) { state.withLock { $0.subscriptions.append(subscription) } }

  func keep(_ observer: any NSObjectProtocol) {
    nonisolated(unsafe) let observer = observer
    state.withLock { $0.observers.append(observer) }
  }

  /// Whether the link has ended.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Ends the link: it passes no event and no notification that is posted from now on.
  ///
  /// Any thread may call this method. A second call has no effect.
  public func cancel() {
    let former = state.withLock { state -> State in
      defer { state = State(isCancelled: true) }
      return state
    }
    for subscription in former.subscriptions { subscription.cancel() }
    for observer in former.observers { center.center.removeObserver(observer) }
  }
}

/// A notification center and its identity.
struct NotificationCenterReference: Sendable {
  let center: NotificationCenter
  var identifier: ObjectIdentifier { ObjectIdentifier(center) }
}
