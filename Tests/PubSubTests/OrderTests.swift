@testable import PubSub
import Scheduling
import Testing

@Suite struct `Order of delivery` {
  let bus = EventBus()
  let log = Log<String>()

  @Test func `Rule 1: priority first, then time of subscription, in whichever way the handler subscribed`() {
    let subject = Thing()
    let subscriptions = [
      bus.subscribe(to: Tick.self) { [log] _ in log.add("1 typed") },
      bus.subscribeToAll { [log] _ in log.add("2 wildcard") },
      bus.subscribe(to: Tick.self, priority: .low) { [log] _ in log.add("low") },
      bus.subscribeToAll(named: "Tick") { [log] _ in log.add("3 by name") },
      bus.subscribe(to: Tick.self, from: subject) { [log] _ in log.add("4 subject") },
      bus.subscribeToAll(named: "Tick", priority: .high) { [log] _ in log.add("high by name") },
      bus.subscribe(to: Tick.self) { [log] _ in log.add("5 typed") },
      bus.subscribe(to: Tick.self, priority: .high) { [log] _ in log.add("high typed") },
      bus.subscribeToAll(priority: EventBus.Priority(rawValue: 1)) { [log] _ in log.add("one above normal") },
    ]
    bus.post(Tick(), from: subject)
    withExtendedLifetime(subscriptions) {}
    #expect(
      log.all == [
        "high by name", "high typed", "one above normal", "1 typed", "2 wildcard", "3 by name", "4 subject", "5 typed",
        "low",
      ])
  }

  @Test func `Rule 1: a wildcard that came before the first subscriber to the type stands before it`() {
    let wildcard = bus.subscribeToAll { [log] event in log.add("all \(type(of: event).name)") }
    bus.post(Tick())
    let typed = bus.subscribe(to: Tick.self) { [log] _ in log.add("typed") }
    let named = bus.subscribeToAll(named: "Tock") { [log] _ in log.add("named") }
    bus.post(Tick())
    bus.post(Tock())
    withExtendedLifetime((wildcard, typed, named)) {}
    #expect(log.all == ["all Tick", "all Tick", "typed", "all Tock", "named"])
  }

  @Test func `Rule 2: a reversed event type gets the mirror image, priorities included`() {
    let subscriptions = [
      bus.subscribe(to: TearDown.self, priority: .high) { [log] _ in log.add("high") },
      bus.subscribe(to: TearDown.self) { [log] _ in log.add("first") },
      bus.subscribeToAll { [log] _ in log.add("wildcard") },
      bus.subscribe(to: TearDown.self) { [log] _ in log.add("last") },
      bus.subscribe(to: TearDown.self, priority: .low) { [log] _ in log.add("low") },
    ]
    bus.post(TearDown())
    withExtendedLifetime(subscriptions) {}
    #expect(log.all == ["low", "last", "wildcard", "first", "high"])
  }

  @Test func `Rules 1, 2 and 20: whichever handlers came and went, a post and one that waits have the same order`()
    async
  {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    for _ in 0..<30 {
      let (bus, log) = (EventBus(), Log<Int>())
      let subjects = [Thing(), Thing()]
      var crowd: [Member] = []
      for id in 0..<40 {
        crowd.append(Member(id, on: bus, subjects, log, &random))
        if Int.random(in: 0..<4, using: &random) == 0 {
          crowd.remove(at: .random(in: crowd.indices, using: &random)).subscription.cancel()
        }
        guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
        for subject in [nil, 0, 1] {
          let poster = subject.map { subjects[$0] }
          let expected = crowd.filter { $0.subject == nil || $0.subject == subject }
            .sorted { ($1.priority, $0.id) < ($0.priority, $1.id) }
          let (up, down) = (expected.filter(\.hearsTick).map(\.id), expected.filter(\.hearsTearDown).map(\.id))
          let before = log.all.count
          bus.post(Tick(), from: poster)
          await bus.postAndWait(Tick(), from: poster)
          bus.post(TearDown(), from: poster)
          await bus.postAndWait(TearDown(), from: poster)
          #expect(Array(log.all.dropFirst(before)) == up + up + down.reversed() + down.reversed(), "seed \(seed)")
        }
      }
    }
  }

  /// A subscriber in one of the ways there are.
  private struct Member {
    let id: Int
    let subject: Int?
    let priority: EventBus.Priority
    var (hearsTick, hearsTearDown) = (true, true)
    let subscription: any Cancellable

    init(_ id: Int, on bus: EventBus, _ subjects: [Thing], _ log: Log<Int>, _ random: inout SplitMix64) {
      self.id = id
      priority = EventBus.Priority(rawValue: [-100, 0, 0, 0, 7, 100].randomElement(using: &random) ?? 0)
      subject = [nil, nil, 0, 1].randomElement(using: &random) ?? nil
      let wanted = subject.map { subjects[$0] }
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        hearsTearDown = false
        subscription = bus.subscribe(to: Tick.self, from: wanted, priority: priority) { _ in log.add(id) }
      case 1:
        hearsTick = false
        subscription = bus.subscribe(to: TearDown.self, from: wanted, priority: priority) { _ in log.add(id) }
      case 2:
        hearsTick = false
        subscription =
          bus.subscribe(to: TearDown.self, for: subjects[0], from: wanted, priority: priority) { _, _ in
            log.add(id)
          }.registration
      case 3:
        hearsTearDown = false
        subscription = bus.subscribeToAll(named: "Tick", from: wanted, priority: priority) { _ in log.add(id) }
      default: subscription = bus.subscribeToAll(from: wanted, priority: priority) { _ in log.add(id) }
      }
    }
  }

  @Test func `Rule 3: posts from one thread reach every kind of subscriber in the order of posting`() async {
    let numbers = Array(1...500)
    let synchronous = Log<Int>()
    let asynchronous = Log<Int>()
    let onMainActor = Log<Int>()
    let isComplete = (Gate(), Gate())
    let subscriptions = [
      bus.subscribe(to: Tick.self) { (tick: Tick) -> Void in synchronous.add(tick.number) },
      bus.receive(Tick.self) { (tick: Tick) async in
        await Task.yield()
        asynchronous.add(tick.number)
        if tick.number == 500 { isComplete.0.open() }
      },
      bus.receive(Tick.self) { @MainActor tick in
        onMainActor.add(tick.number)
        if tick.number == 500 { isComplete.1.open() }
      },
    ]
    let sequence = bus.events(Tick.self)
    for number in numbers { bus.post(Tick(number: number)) }
    await isComplete.0.wait()
    await isComplete.1.wait()
    var iterated: [Int] = []
    for await tick in sequence {
      iterated.append(tick.number)
      if tick.number == 500 { break }
    }
    withExtendedLifetime(subscriptions) {}
    #expect(synchronous.all == numbers)
    #expect(asynchronous.all == numbers)
    #expect(onMainActor.all == numbers)
    #expect(iterated == numbers)
  }

  @Test(arguments: [true, false])
  func `Rule 10: nested posts arrive at mailboxes and sequences in the order in which they began`(isFirst: Bool) async {
    let handled = Log<Int>()
    let nesting = { [bus] in
      bus.subscribe(to: Tick.self) { [bus] tick in if tick.number < 10 { bus.post(Tick(number: tick.number + 1)) } }
    }
    var subscriptions = isFirst ? [nesting()] : []
    subscriptions.append(bus.receive(Tick.self) { (tick: Tick) async in handled.add(tick.number) })
    subscriptions.append(
      bus.receiveAll { event in (event as? Tick).map { handled.add(100 + $0.number) } })
    var sequence = bus.events(Tick.self).makeAsyncIterator()
    if !isFirst { subscriptions.append(nesting()) }
    bus.post(Tick())
    var iterated: [Int] = []
    while let tick = sequence.nextIfHeld() { iterated.append(tick.number) }
    #expect(iterated == Array(0...10))
    // Behind the nested ones in each mailbox.
    await bus.postAndWait(Tick(number: 11))
    #expect(handled.all.filter { $0 < 100 } == Array(0...11))
    #expect(handled.all.filter { $0 >= 100 } == Array(100...111))
    withExtendedLifetime(subscriptions) {}
  }

  private struct Reading: BusEvent, StickyEvent {
    let thread: Int
    let number: Int
  }

  @Test func `Rule 10: of a sticky type everything asynchronous and the latest event see one order`() async {
    for _ in 0..<50 {
      let bus = EventBus()
      let iterators = Guarded((0..<3).map { _ in bus.events(Reading.self).makeAsyncIterator() })
      let handled = Log<String>()
      let sync = bus.subscribe(to: Reading.self, priority: .high) { _ in }
      let handler = bus.receive(Reading.self) { (reading: Reading) async in
        handled.add("\(reading.thread) \(reading.number)")
      }
      await withTaskGroup(of: Void.self) { group in
        for thread in 0..<4 {
          group.addTask { for number in 0..<50 { bus.post(Reading(thread: thread, number: number)) } }
        }
      }
      let latest = bus.latest(of: Reading.self).map { "\($0.thread) \($0.number)" }
      let seen = iterators.withLock { iterators in
        iterators.indices.map { index -> [String] in
          var all: [String] = []
          while let reading = iterators[index].nextIfHeld() { all.append("\(reading.thread) \(reading.number)") }
          return all
        }
      }
      #expect(seen.allSatisfy { $0.count == 200 && $0 == seen[0] })
      #expect(seen[0].last == latest)
      await bus.postAndWait(Reading(thread: 9, number: 9))
      #expect(handled.all.dropLast() == seen[0][...])
      withExtendedLifetime((sync, handler)) {}
    }
  }

  @Test func `Rule 3: posts of many threads keep each thread's own order`() async {
    let received = Log<Int>()
    let subscription = bus.subscribe(to: Tick.self) { (tick: Tick) -> Void in received.add(tick.number) }
    await withTaskGroup { group in
      for poster in 0..<4 {
        group.addTask { [bus] in for number in 0..<500 { bus.post(Tick(number: poster * 1000 + number)) } }
      }
    }
    withExtendedLifetime(subscription) {}
    #expect(received.all.count == 2000)
    for poster in 0..<4 {
      #expect(received.all.filter { $0 / 1000 == poster } == (0..<500).map { poster * 1000 + $0 })
    }
  }
}
