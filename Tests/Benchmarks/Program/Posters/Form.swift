import PubSub

/// A form of subscribing, written as programs write it: the subscribers of a bus, and the posts that reach them.
struct Form: Sendable {
  /// Its row in the table.
  let name: String
  /// Subscribes each counter on a bus of its own; returns what posts that often.
  let subscribe: @Sendable (CounterBank) -> (Int) -> Void

  static let plainOnMainActor = Form(name: "plain, main actor") { bank in
    let bus = EventBus()
    let subscriptions = bank.counters.map { counter in
      bus.subscribe(to: MainTick.self) { counter.total &+= $0.amount }
    }
    return { times in withExtendedLifetime(subscriptions) { postOnMainActor(times, to: bus) } }
  }

  static let owner = Form(name: "owner") { bank in
    let bus = EventBus()
    for counter in bank.counters {
      bus.subscribe(to: Tick.self, for: counter) { owner, event in owner.total &+= event.amount }
    }
    return { times in for _ in 0..<times { bus.post(Tick(amount: 1)) } }
  }

  static let ownerOnMainActor = Form(name: "owner, main actor") { bank in
    let bus = EventBus()
    for counter in bank.counters {
      bus.subscribe(to: MainTick.self, for: counter) { owner, event in owner.total &+= event.amount }
    }
    return { times in postOnMainActor(times, to: bus) }
  }

  static let throwing = Form(name: "throwing") { bank in
    let bus = EventBus()
    let subscriptions = bank.counters.map { counter in
      bus.subscribe(to: Tick.self) { event in try counter.add(event.amount) }
    }
    return { times in withExtendedLifetime(subscriptions) { for _ in 0..<times { bus.post(Tick(amount: 1)) } } }
  }

  /// Every other subscriber has the higher priority.
  static let twoPriorities = Form(name: "two priorities") { bank in
    let bus = EventBus()
    let subscriptions = bank.counters.enumerated().map { index, counter in
      bus.subscribe(to: Tick.self, priority: index.isMultiple(of: 2) ? .normal : .high) {
        counter.total &+= $0.amount
      }
    }
    return { times in withExtendedLifetime(subscriptions) { for _ in 0..<times { bus.post(Tick(amount: 1)) } } }
  }

  static let value = Form(name: "closure as a value") { bank in
    let bus = EventBus()
    let subscriptions = bank.counters.map { counter in
      let handler = makeHandler(counter)
      return bus.subscribe(to: Tick.self, handler)
    }
    return { times in withExtendedLifetime(subscriptions) { for _ in 0..<times { bus.post(Tick(amount: 1)) } } }
  }

  /// All subscribe to the one object that posts.
  static let subject = Form(name: "of one subject") { bank in
    let bus = EventBus()
    let subject = Counter()
    let subscriptions = bank.counters.map { counter in
      bus.subscribe(to: Tick.self, from: subject) { counter.total &+= $0.amount }
    }
    return { times in
      withExtendedLifetime(subscriptions) { for _ in 0..<times { bus.post(Tick(amount: 1), from: subject) } }
    }
  }

  // The handlers of the next two do not ask for the event's type: a cast would be the handler's own time.

  static let byName = Form(name: "by name") { bank in
    let bus = EventBus()
    let subscriptions = bank.counters.map { counter in
      bus.subscribeToAll(named: Tick.name) { _ in counter.total &+= 1 }
    }
    return { times in withExtendedLifetime(subscriptions) { for _ in 0..<times { bus.post(Tick(amount: 1)) } } }
  }

  static let wildcard = Form(name: "wildcard") { bank in
    let bus = EventBus()
    let subscriptions = bank.counters.map { counter in bus.subscribeToAll { _ in counter.total &+= 1 } }
    return { times in withExtendedLifetime(subscriptions) { for _ in 0..<times { bus.post(Tick(amount: 1)) } } }
  }

  static let sticky = Form(name: "sticky") { bank in
    let bus = EventBus()
    let subscriptions = bank.counters.map { counter in
      bus.subscribe(to: StickyTick.self) { counter.total &+= $0.amount }
    }
    return { times in withExtendedLifetime(subscriptions) { for _ in 0..<times { bus.post(StickyTick(amount: 1)) } } }
  }
}

/// The benchmark's first thread is the main thread.
private func postOnMainActor(_ times: Int, to bus: EventBus) {
  MainActor.assumeIsolated { for _ in 0..<times { bus.post(MainTick(amount: 1)) } }
}

/// Not inlined: the closure is a value to the code that subscribes it.
@inline(never) private func makeHandler(_ counter: Counter) -> @Sendable (Tick) -> Void {
  { counter.total &+= $0.amount }
}
