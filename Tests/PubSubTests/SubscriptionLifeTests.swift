import Testing

@testable import PubSub

@Suite struct `Life of a subscription` {
  let log = Log<String>()

  @Test func `Rule 11: a subscription has taken effect when subscribe returns`() {
    let bus = EventBus()
    let subscription = bus.subscribe(to: Tick.self) { [log] _ in log.add("seen") }
    bus.post(Tick())
    withExtendedLifetime(subscription) {}
    #expect(log.all == ["seen"])
  }

  @Test func `Rule 11: a sequence holds what is posted between its making and its first next()`() async {
    let bus = EventBus()
    let sequence = bus.events(Tick.self)
    for number in 1...3 { bus.post(Tick(number: number)) }
    var iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next() == Tick(number: 1))
    #expect(await iterator.next() == Tick(number: 2))
    #expect(await iterator.next() == Tick(number: 3))
  }

  @Test func `Rule 11: a sequence ends when its task is cancelled`() async {
    let bus = EventBus()
    let sequence = bus.events(Tick.self)
    bus.post(Tick())
    let received = Gate()
    let task = Task {
      var count = 0
      for await _ in sequence {
        count += 1
        received.open()
      }
      return count
    }
    await received.wait()
    task.cancel()
    #expect(await task.value == 1)
  }

  @Test func `Rule 11: the first iterator begins with the sequence, and the next with itself`() async {
    let bus = EventBus()
    let sequence = bus.events(Tick.self)
    for number in 1...10 { bus.post(Tick(number: number)) }
    var numbers: [Int] = []
    for await tick in sequence {
      numbers.append(tick.number)
      if tick.number == 3 { break }
    }
    #expect(bus.subscriptions.isEmpty, "the loop is over, and its subscription with it")
    bus.post(Tick(number: 11))
    var next = sequence.makeAsyncIterator()
    bus.post(Tick(number: 12))
    #expect(await next.next() == Tick(number: 12))
    #expect(next.nextIfHeld() == nil)
    #expect(numbers == [1, 2, 3])
  }

  @Test func `Rule 11: each iterator gets every event, and its end ends no other`() async {
    let bus = EventBus()
    let sequence = bus.events(Tick.self)
    let last = 2_000
    await withTaskGroup { group in
      let ready = (0..<3).map { _ in Gate() }
      for gate in ready {
        group.addTask {
          var iterator = sequence.makeAsyncIterator()
          gate.open()
          var numbers: [Int] = []
          while let tick = await iterator.next() {
            numbers.append(tick.number)
            if tick.number == last { break }
          }
          #expect(numbers == Array(1...last))
        }
      }
      for gate in ready { await gate.wait() }
      let cut = sequence.makeAsyncIterator()
      let task = Task {
        var (cut, count) = (cut, 0)
        while await cut.next() != nil { count += 1 }
        return count
      }
      task.cancel()
      _ = await task.value
      for number in 1...last { bus.post(Tick(number: number)) }
    }
  }

  @Test func `Rule 11: a sequence that is kept is iterated again and again`() async {
    let bus = EventBus()
    let sequence = bus.events(Tick.self)
    for phase in 1...10 {
      let iterator = sequence.makeAsyncIterator()
      let received = Gate()
      let body = Task {
        var (iterator, numbers) = (iterator, [Int]())
        while let tick = await iterator.next() {
          numbers.append(tick.number)
          received.open()
        }
        return numbers
      }
      bus.post(Tick(number: phase))
      await received.wait()
      body.cancel()
      #expect(await body.value == [phase])
      bus.post(Tick(number: -phase))
    }
  }

  @Test func `Rule 11: an iterator of a bus that is gone, or of a subject that is gone, is at its end`() async {
    var bus: EventBus? = EventBus()
    var subject: Thing? = Thing()
    let ofSubject = bus!.events(Tick.self, from: subject)
    let sequence = bus!.events(Tick.self)
    _ = (ofSubject.makeAsyncIterator(), sequence.makeAsyncIterator())
    subject = nil
    var late = ofSubject.makeAsyncIterator()
    #expect(await late.next() == nil)
    bus = nil
    var iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next() == nil)
  }

  @Test func `Rule 11: a sequence ends with its bus`() async {
    var bus: EventBus? = EventBus()
    let sequence = bus!.events(Tick.self)
    bus!.post(Tick(number: 1))
    bus = nil
    var numbers: [Int] = []
    for await tick in sequence { numbers.append(tick.number) }
    #expect(numbers == [1])
  }

  @Test func `Rule 12: a subscription cancels when it is released`() {
    let bus = EventBus()
    var subscription: EventBus.Subscription? = bus.subscribe(to: Tick.self) { [log] tick in log.add("\(tick.number)") }
    bus.post(Tick(number: 1))
    #expect(subscription != nil)
    subscription = nil
    bus.post(Tick(number: 2))
    #expect(log.all == ["1"])
  }

  @Test func `Rule 12: a subscription tells whether it has ended`() {
    var bus: EventBus? = EventBus()
    var (owner, subject): (Thing?, Thing?) = (Thing(), Thing())
    let plain = bus!.subscribe(to: Tick.self) { _ in }
    let other = bus!.subscribe(to: Tick.self) { _ in }
    let labeled = bus!.subscribe(to: Tick.self, label: "labeled") { _ in }
    let wildcard = bus!.subscribeToAll { _ in }
    let owned = bus!.subscribe(to: Tick.self, for: owner!) { (_, _) -> Void in }
    let ofSubject = bus!.subscribe(to: Tick.self, from: subject) { _ in }
    var all: [Bool] {
      [plain, other, labeled, wildcard].map(\.isCancelled) + [owned.isCancelled, ofSubject.isCancelled]
    }
    #expect(all == [false, false, false, false, false, false])
    plain.cancel()
    wildcard.cancel()
    #expect(all == [true, false, false, true, false, false])
    (owner, subject) = (nil, nil)
    #expect(all == [true, false, false, true, true, true])
    bus = nil
    #expect(all == [true, true, true, true, true, true])
  }

  @Test func `Rule 12: a subscription can be stored in a set or an array`() {
    let bus = EventBus()
    var set: Set<EventBus.Subscription> = []
    var array: [EventBus.Subscription] = []
    bus.subscribe(to: Tick.self) { [log] _ in log.add("set") }.store(in: &set)
    bus.subscribe(to: Tick.self) { [log] _ in log.add("array") }.store(in: &array)
    bus.post(Tick())
    set = []
    bus.post(Tick())
    array = []
    bus.post(Tick())
    #expect(log.all == ["set", "array", "array"])
  }

  @Test func `Rule 12: what a handler captured is released with the subscription`() {
    let bus = EventBus()
    weak var captured: Thing?
    var subscription: EventBus.Subscription? = {
      let thing = Thing()
      captured = thing
      return bus.subscribe(to: Tick.self) { _ in withExtendedLifetime(thing) {} }
    }()
    #expect(captured != nil && subscription != nil)
    subscription = nil
    #expect(captured == nil)
  }

  @Test func `Rule 12: an owner's subscription may be discarded and ends with the owner`() {
    let bus = EventBus()
    var owner: Thing? = Thing()
    weak let weakOwner = owner
    bus.subscribe(to: Tick.self, for: owner!) { [log] _, tick in log.add("\(tick.number)") }
    bus.post(Tick(number: 1))
    owner = nil
    #expect(weakOwner == nil, "the bus does not keep the owner alive")
    bus.post(Tick(number: 2))
    #expect(log.all == ["1"])
  }

  @Test func `Rule 12: an owner's subscription can be cancelled`() {
    let bus = EventBus()
    let owner = Thing()
    let subscription = bus.subscribe(to: Tick.self, for: owner) { [log] _, tick in log.add("\(tick.number)") }
    bus.post(Tick(number: 1))
    subscription.cancel()
    bus.post(Tick(number: 2))
    #expect(log.all == ["1"])
    withExtendedLifetime(owner) {}
  }

  @MainActor @Test func `Rule 12: a main-actor owner's handler needs no annotation`() {
    @MainActor final class Screen {
      var lines: [String] = []
      func show(_ shown: Shown) { lines.append("shown \(shown.number)") }
    }
    let bus = EventBus()
    let screen = Screen()
    bus.subscribe(to: Shown.self, for: screen) { $0.show($1) }
    bus.post(Shown(number: 4))
    #expect(screen.lines == ["shown 4"])
  }

  @Test func `Rule 12: an asynchronous subscription ends when it is released`() async {
    let bus = EventBus()
    let ran = Gate()
    var subscription: EventBus.Subscription? = bus.receive(Tick.self) { [log] (tick: Tick) async in
      log.add("\(tick.number)")
      ran.open()
    }
    bus.post(Tick(number: 1))
    await ran.wait()
    #expect(subscription != nil)
    subscription = nil
    let other = bus.receive(Tick.self) { (_: Tick) async in }
    bus.post(Tick(number: 2))
    await other.cancelAndDrain()
    #expect(log.all == ["1"])
  }

  @Test func `Rule 12: the bus does not gather the subscriptions of owners that are gone`() {
    let bus = EventBus()
    weak var first: Log<String>?
    for index in 0..<100 {
      let owner = Thing()
      let captured = Log<String>()
      if index == 0 { first = captured }
      bus.subscribe(to: Tick.self, for: owner) { _, _ in captured.add("never") }
    }
    #expect(first == nil, "swept out while others subscribed")
  }

  @Test func `Rule 12: no deadline that a handler set, and no handler that it woke, keeps what it captured`() async {
    let bus = EventBus()
    let (hasPosted, isWoken, mayEnd) = (Gate(), Gate(), Gate())
    let woken = bus.receive(Tock.self) { (_: Tock) async in
      isWoken.open()
      await mayEnd.wait()
    }
    let quick = bus.receive(LevelDidChange.self) { (_: LevelDidChange) async in }
    weak var captured: Thing?
    var subscription: EventBus.Subscription?
    do {
      let thing = Thing()
      captured = thing
      subscription = bus.receive(Tick.self) { [bus] (_: Tick) async in
        bus.post(Tock())
        await bus.postAndWait(LevelDidChange(level: 1), within: .seconds(3600))
        withExtendedLifetime(thing) {}
        hasPosted.open()
      }
    }
    bus.post(Tick())
    await hasPosted.wait()
    await isWoken.wait()
    await subscription?.cancelAndDrain()
    subscription = nil
    #expect(captured == nil)
    mayEnd.open()
    withExtendedLifetime((woken, quick)) {}
  }

  @Test func `Rule 13: cancelling twice, or after the bus is gone, does nothing`() async {
    var bus: EventBus? = EventBus()
    let subscription = bus!.subscribe(to: Tick.self) { _ in }
    subscription.cancel()
    subscription.cancel()
    let late = bus!.subscribe(to: Tick.self) { _ in }
    bus = nil
    late.cancel()
    await late.cancelAndDrain()
    #expect(bus == nil)
  }

  @MainActor @Test func `Rule 15: a subscriber to a sticky event with replay receives the latest first`() {
    let bus = EventBus()
    bus.post(ModeDidChange(mode: "before any subscriber"))
    bus.post(ModeDidChange(mode: "latest"))
    let early = bus.subscribe(to: ModeDidChange.self, replay: .none) { [log] in log.add("no replay: \($0.mode)") }
    let late = bus.subscribe(to: ModeDidChange.self, replay: .latest) { [log] in log.add("replay: \($0.mode)") }
    bus.post(ModeDidChange(mode: "next"))
    withExtendedLifetime((early, late)) {}
    #expect(log.all == ["replay: latest", "no replay: next", "replay: next"])
  }

  @Test func `Rule 20: a subscriber to one subject hears only of it, also when another takes its address`() {
    let bus = EventBus()
    var subject: Thing? = Thing()
    let address = ObjectIdentifier(subject!)
    let subscription = bus.subscribe(to: Tick.self, from: subject) { [log] tick in log.add("\(tick.number)") }
    bus.post(Tick(number: 1), from: subject)
    bus.post(Tick(number: 2), from: Thing())
    bus.post(Tick(number: 3))
    subject = nil
    // Objects of one size are given the same place again and again; a few tries find the old address.
    var others: [Thing] = []
    for _ in 0..<1000 {
      let other = Thing()
      others.append(other)
      bus.post(Tick(number: 4), from: other)
      if ObjectIdentifier(other) == address { break }
    }
    withExtendedLifetime(subscription) {}
    #expect(log.all == ["1"])
  }

  @Test func `Rule 20: a subject that is also the wider one gets each event once`() {
    let (bus, subject) = (EventBus(), Thing())
    var iterator = bus.events(Tick.self, from: subject).makeAsyncIterator()
    let subscription = bus.subscribe(to: Tick.self, from: subject) { [log] tick in log.add("\(tick.number)") }
    bus.post(Tick(number: 1), from: subject, within: subject) {}
    bus.post(Tick(number: 2), from: Thing(), within: subject) {}
    withExtendedLifetime((subscription, subject)) {}
    #expect(log.all == ["1", "2"])
    #expect((1...3).map { _ in iterator.nextIfHeld()?.number } == [1, 2, nil])
  }
}
