import CBenchmarks
import PubSub

extension Poster {
  /// The event bus, which finds the subscribers by the event's type.
  static func byType(_ work: Work) -> Poster {
    let (bus, subscriptions) = subscribedBus(work)
    return Poster(
      Column.byType,
      subscribeAndCancel: { bus.subscribe(to: Tick.self) { _ in }.cancel() },
      subscribeAndCancelCapturing: {
        let captured = Captured()
        bus.subscribe(to: Tick.self) { _ in captured.use() }.cancel()
      },
      post: { times in
        withExtendedLifetime(subscriptions) { for _ in 0..<times { bus.post(Tick(amount: 1)) } }
      })
  }

  /// The event bus through a handle on the event's type.
  static func byTopic(_ work: Work) -> Poster {
    let (bus, subscriptions) = subscribedBus(work)
    let topic: EventBus.Topic<Tick> = bus.topic()
    return Poster(
      Column.topic,
      subscribeAndCancel: { bus.subscribe(to: Tick.self) { _ in }.cancel() },
      subscribeAndCancelCapturing: {
        let captured = Captured()
        bus.subscribe(to: Tick.self) { _ in captured.use() }.cancel()
      },
      post: { times in
        // A topic does not keep its bus.
        withExtendedLifetime(bus) {
          withExtendedLifetime(subscriptions) { for _ in 0..<times { topic.post(Tick(amount: 1)) } }
        }
      })
  }

  /// A bus with subscribers.
  static func subscribedBus(_ work: Work) -> (EventBus, [EventBus.Subscription]) {
    let bus = EventBus()
    switch work {
    case .counting(let bank):
      return (bus, bank.counters.map { counter in bus.subscribe(to: Tick.self) { counter.total &+= $0.amount } })
    case .owning(let bank):
      for counter in bank.counters {
        bus.subscribe(to: Tick.self, for: counter) { owner, event in owner.total &+= event.amount }
      }
      return (bus, [])
    case .tallying(let count):
      return (bus, (0..<count).map { _ in bus.subscribe(to: Tick.self) { bench_tally_add($0.amount) } })
    }
  }
}
