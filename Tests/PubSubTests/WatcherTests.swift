import TestTraits
import Testing

@testable import PubSub

/// The subscriptions that send every post along the general path.
@Suite(.timeLimit(.hang)) struct `Watchers` {
  /// Comparing all of them with each other at each change would take minutes.
  @Test func `Rule 19: thousands of subscriptions to everything are no watchers, one by name is`() {
    let bus = EventBus()
    var all = (0..<3_000).map { _ in bus.subscribeToAll { _ in } }
    #expect(!bus.core.isWatched)
    var named: EventBus.Subscription? = bus.subscribeToAll(named: EventBus.Undelivered.name) { _ in }
    #expect(bus.core.isWatched)
    let ofSubject = bus.subscribe(to: EventBus.Undelivered.self, from: Thing()) { _ in }
    named?.cancel()
    #expect(!bus.core.isWatched)
    named = bus.receiveAll(named: EventBus.Undelivered.name) { _ in }
    #expect(bus.core.isWatched)
    for subscription in all { subscription.cancel() }
    all = []
    #expect(bus.core.isWatched)
    named = nil
    #expect(!bus.core.isWatched)
    withExtendedLifetime(ofSubject) {}
  }
}
