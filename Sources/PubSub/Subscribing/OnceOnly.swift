internal import Scheduling

/// Ends a subscription at its first event, which the poster handles.
final class OnceOnly: Sendable {
  private struct State {
    var hasBegun = false
    weak var subscription: (any Cancellable)?
  }

  private let state: Guarded<State>

  init(ending subscription: (any Cancellable)? = nil) { state = Guarded(State(subscription: subscription)) }

  /// Returns whether this is the first event; if so, ends the subscription.
  func begin() -> Bool {
    let (isFirst, subscription) = state.withLock { state in
      defer { state.hasBegun = true }
      return (!state.hasBegun, state.subscription)
    }
    if isFirst { subscription?.cancel() }
    return isFirst
  }

  /// Stores the subscription, and cancels it at once if an event on another thread has come first.
  func keep(_ subscription: EventBus.Subscription) -> EventBus.Subscription {
    end(with: subscription)
    return subscription
  }

  /// Stores the subscription of an owner, and cancels it at once if an event on another thread has come first.
  func keep(_ subscription: EventBus.OwnedSubscription) -> EventBus.OwnedSubscription {
    end(with: subscription.registration)
    return subscription
  }

  private func end(with subscription: any Cancellable) {
    let hasBegun = state.withLock { state in
      state.subscription = subscription
      return state.hasBegun
    }
    if hasBegun { subscription.cancel() }
  }
}
