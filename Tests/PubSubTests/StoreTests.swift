import CPubSub
import Scheduling
import Testing

@testable import PubSub

/// An object that counts how many of its kind live.
private final class Counted: Sendable {
  private let living: Log<Int>
  init(_ living: Log<Int>) {
    self.living = living
    living.add(1)
  }
  deinit { living.add(-1) }
}

@Suite struct `Where handlers stand` {
  let bus = EventBus()
  let log = Log<String>()

  @Test func `Rule 1: subjects and priorities are merged into one order`() {
    let (subject, other) = (Thing(), Thing())
    var subscriptions: [EventBus.Subscription] = []
    for number in 0..<60 {
      let priority = [EventBus.Priority.low, .normal, .high][number % 3]
      let wanted: Thing? = [nil, subject, other, nil][number % 4]
      bus.subscribe(to: Tick.self, from: wanted, priority: priority) { [log] _ in log.add("\(number)") }
        .store(in: &subscriptions)
    }
    func expected(_ wanted: Set<Int>) -> [String] {
      [2, 1, 0].flatMap { priority in
        (0..<60).filter { $0 % 3 == priority && wanted.contains($0 % 4) }.map(String.init)
      }
    }
    bus.post(Tick(), from: subject)
    #expect(log.all == expected([0, 1, 3]))
    bus.post(Tick())
    #expect(log.all.dropFirst(45) == expected([0, 3])[...])
    bus.post(Tick(), from: Thing())
    #expect(log.all.dropFirst(75) == expected([0, 3])[...])
  }

  @Test func `Rule 2: subjects and priorities are merged into the mirror image`() {
    let subject = Thing()
    let subscriptions = (0..<12).map { number in
      bus.subscribe(to: TearDown.self, from: number % 2 == 0 ? subject : nil, priority: number < 6 ? .high : .normal) {
        [log] _ in log.add("\(number)")
      }
    }
    bus.post(TearDown(), from: subject)
    withExtendedLifetime(subscriptions) {}
    #expect(log.all == (0..<12).reversed().map(String.init))
  }

  @Test
  func
    `Rule 5: handlers that subscribe during a post are not seen by it, however many there are and wherever they stand`()
  {
    let added = Guarded<[EventBus.Subscription]>([])
    let first = bus.subscribe(to: Tick.self, priority: .high) { [bus, log] tick in
      guard tick.number == 0 else { return }
      for priority in [EventBus.Priority.high, .normal, .low] {
        for _ in 0..<100 {
          let new = bus.subscribe(to: Tick.self, priority: priority) { [log] _ in log.add("new") }
          added.withLock { $0.append(new) }
        }
      }
    }
    let last = bus.subscribe(to: Tick.self, priority: .low) { [log] _ in log.add("last") }
    bus.post(Tick())
    #expect(log.all == ["last"])
    bus.post(Tick(number: 1))
    #expect(log.all.count == 302)
    withExtendedLifetime((first, last)) {}
  }

  @Test func `Rule 6: what a handler captured is released once no post that could see it is under way`() {
    let living = Log<Int>()
    let own = Guarded<EventBus.Subscription?>(nil)
    let counted = { Counted(living) }
    own.withLock {
      $0 = bus.subscribe(to: Tick.self) { [log, kept = counted()] _ in
        own.withLock { $0 }?.cancel()
        own.withLock { $0 = nil }
        // The handler goes on although it is cancelled: what it captured must still be there.
        withExtendedLifetime(kept) { log.add("\(living.all.reduce(0, +)) living") }
      }
    }
    bus.post(Tick())
    #expect(log.all == ["1 living"])
    #expect(living.all.reduce(0, +) == 0, "released when the post had returned")
  }

  @Test func `Rule 6: among many, what a cancelled handler captured is released, too`() {
    let living = Log<Int>()
    let others = (0..<1000).map { _ in bus.subscribe(to: Tick.self) { _ in } }
    let own = Guarded<EventBus.Subscription?>(nil)
    let counted = { Counted(living) }
    own.withLock {
      $0 = bus.subscribe(to: Tick.self) { [kept = counted()] _ in
        own.withLock { $0 }?.cancel()
        withExtendedLifetime(kept) {}
      }
    }
    bus.post(Tick())
    withExtendedLifetime(others) {}
    #expect(living.all.reduce(0, +) == 0)
  }

  @Test func `Rule 13: a bus that goes during a post ends its subscriptions, and the post ends in peace`() {
    let living = Log<Int>()
    let holder = Guarded<EventBus?>(EventBus())
    let counted = { Counted(living) }
    var subscriptions = [
      holder.withLock { $0! }.subscribe(to: Tick.self) { _ in holder.withLock { $0 = nil } },
      holder.withLock { $0! }.subscribe(to: Tick.self) { [log, kept = counted()] _ in
        withExtendedLifetime(kept) { log.add("after the bus was let go") }
      },
    ]
    // The post holds the bus as long as it is under way.
    holder.withLock { $0! }.post(Tick())
    #expect(log.all == ["after the bus was let go"])
    #expect(subscriptions.count == 2)
    subscriptions = []
    #expect(living.all.reduce(0, +) == 0)
  }

  @Test func `Rule 19: a subscriber to everything about one subject costs the posts about others nothing`() {
    let subject = Thing()
    let subscription = bus.subscribeToAll(from: subject) { [log] _ in log.add("seen") }
    bus.post(Tick())
    bus.post(Tick())
    #expect(bus.core.isWatched == false)
    let stores = bus.core.stores
    #expect(stores.allSatisfy { Int32($0.topic.pointee.flags) & PUBSUB_GENERAL == 0 })
    #expect(stores.allSatisfy { $0.topic.pointee.root == nil })
    bus.post(Tick(), from: subject)
    #expect(log.all == ["seen"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `Rule 19: an event without a receiver can be observed, and begets no other`() {
    let subject = Thing()
    bus.post(Tick(number: 1))
    let onlySubject = bus.subscribe(to: Tick.self, from: subject) { _ in }
    var observer: EventBus.Subscription? = bus.subscribe(to: EventBus.Undelivered.self) { [log] undelivered in
      log.add("\(type(of: undelivered.event).name)")
    }
    bus.post(Tick(number: 2))
    bus.post(Tick(number: 3), from: subject)
    bus.post(Tock())
    #expect(log.all == ["Tick", "Tock"])
    #expect(observer != nil)
    observer = nil
    bus.post(Tock())
    #expect(log.all == ["Tick", "Tock"])
    withExtendedLifetime(onlySubject) {}
  }

  @Test func `Rule 19: a tracer sees every post and is no receiver`() {
    let observer = bus.subscribe(to: EventBus.Undelivered.self) { [log] _ in log.add("undelivered") }
    var tracing: EventBus.TracerToken? = bus.trace { [log] event in log.add("traced \(type(of: event).name)") }
    bus.post(Tick())
    #expect(log.all == ["traced Tick", "traced Undelivered", "undelivered"])
    #expect(tracing != nil)
    tracing = nil
    bus.post(Tock())
    #expect(log.all.last == "undelivered")
    #expect(!log.all.contains("traced Tock"))
    withExtendedLifetime(observer) {}
  }

  @Test(arguments: [1, 2, 12, 13, 128, 1024])
  func `Rule 21: posts nested deeper than the limit are refused, and reported when the stack has unwound`(limit: Int) {
    let bus = EventBus(nestingLimit: limit)
    let deepest = Guarded((now: 0, ever: 0))
    let refusals = Log<[EventName]>()
    let subscriptions = [
      bus.subscribe(to: EventBus.PostRefused.self) { refused in
        #expect(deepest.withLock { $0.now } == 0, "the stack has unwound")
        refusals.add(refused.chain)
      },
      bus.subscribe(to: Tick.self) { [bus] _ in
        deepest.withLock { $0 = ($0.now + 1, max($0.ever, $0.now + 1)) }
        bus.post(Tock())
        deepest.withLock { $0.now -= 1 }
      },
      bus.subscribe(to: Tock.self) { [bus] _ in
        deepest.withLock { $0 = ($0.now + 1, max($0.ever, $0.now + 1)) }
        bus.post(Tick())
        deepest.withLock { $0.now -= 1 }
      },
    ]
    bus.post(Tick())
    withExtendedLifetime(subscriptions) {}
    #expect(deepest.withLock { $0.ever } == limit)
    #expect(refusals.all.count == 1)
    #expect(refusals.all.first == (0...limit).map { $0 % 2 == 0 ? "Tick" : "Tock" })
  }

  @Test func `Topic: posting through it is posting`() {
    let topic = bus.topic(Tick.self)
    let subject = Thing()
    topic.post(Tick(number: 1))
    let subscriptions = [
      bus.subscribe(to: Tick.self) { [log] tick in log.add("all \(tick.number)") },
      bus.subscribe(to: Tick.self, from: subject) { [log] tick in log.add("subject \(tick.number)") },
    ]
    topic.post(Tick(number: 2), from: subject)
    topic.post(Tick(number: 3))
    withExtendedLifetime(subscriptions) {}
    #expect(log.all == ["all 2", "subject 2", "all 3"])
  }

  @Test func `The list of subscriptions has each subscriber, its events and its priority`() {
    let one = bus.subscribe(to: Tick.self, label: "one") { _ in }
    let two = bus.subscribeToAll(priority: .high, label: "two") { _ in }
    var three: EventBus.Subscription? = bus.subscribe(to: Tock.self) { _ in }
    let four = bus.subscribeToAll(named: "Tock", priority: .low) { _ in }
    let line = #line - 4
    let file = "PubSubTests/StoreTests.swift"
    let names = ["one", "two", "\(file):\(line + 2)", "\(file):\(line + 3)"]
    #expect(bus.subscriptions.map(\.subscriber.description) == names)
    #expect(bus.subscriptions.map(\.eventName) == ["Tick", nil, "Tock", "Tock"])
    #expect(bus.subscriptions.map(\.priority) == [.normal, .high, .normal, .low])
    #expect(three != nil)
    three = nil
    #expect(
      bus.subscriptions.map(\.description) == [
        "one at \(file):\(line): Tick, priority 0", "two at \(file):\(line + 1): all events, priority 100",
        "\(file):\(line + 3): Tock, priority -100",
      ])
    withExtendedLifetime((one, two, four)) {}
  }

  @Test func `Handlers can be cancelled in any order at any number`() {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    // Each handler that does not come last makes a new block, so the priorities make this quadratic in the number.
    var subscriptions = (0..<5_000).map { number in
      bus.subscribe(to: Tick.self, priority: number % 7 == 0 ? .low : .normal) { [log] _ in log.add("\(number)") }
    }
    subscriptions.shuffle(using: &random)
    while subscriptions.count > 100 { subscriptions.removeLast().cancel() }
    bus.post(Tick())
    #expect(log.all.count == 100)
    #expect(bus.subscriptions.count == 100)
    subscriptions = []
    bus.post(Tick())
    #expect(log.all.count == 100)
  }

  /// What posts of a `Tick` read.
  private var block: HandlerBlock? { bus.core.stores.first { $0.name == Tick.name }?.list.block }

  @Test(arguments: [true, false])
  func `A handler that comes last and goes again, time after time, costs posts nothing once it has gone`(captures: Bool)
  {
    let others = (0..<10).map { _ in bus.subscribe(to: Tick.self) { [log] _ in log.add("other") } }
    for _ in 0..<1_000 {
      let last =
        captures
        ? bus.subscribe(to: Tick.self) { [log] _ in log.add("last") } : bus.subscribe(to: Tick.self) { _ in }
      // No index is given away twice, so new handlers stand ever farther behind, until they are moved together.
      #expect(block.map(\.end)! <= 11 + 11 / 2 + 4)
      last.cancel()
      #expect(block.map(\.end) == 10)
    }
    bus.post(Tick())
    #expect(log.all.count == 10)
    withExtendedLifetime(others) {}
  }

  @Test func `A handler that comes and goes while posts are under way costs them half as much again at most`() {
    let others = (0..<10).map { _ in bus.subscribe(to: Tick.self) { [log] tick in log.add("other \(tick.number)") } }
    let churning = bus.subscribe(to: Tick.self) { [bus, log] tick in
      guard tick.number == 0 else { return }
      for number in 1...200 {
        let last = bus.subscribe(to: Tick.self) { [log] tick in log.add("last \(tick.number)") }
        #expect(block.map(\.end)! <= 12 + 12 / 2 + 4)
        bus.post(Tick(number: number))
        last.cancel()
        #expect(block.map(\.end) == 11)
      }
    }
    bus.post(Tick())
    let each = (1...200).flatMap { number in Array(repeating: "other \(number)", count: 10) + ["last \(number)"] }
    #expect(log.all == Array(repeating: "other 0", count: 10) + each)
    withExtendedLifetime((others, churning)) {}
  }

  @Test func `Rule 6: what a handler captured is released although a post that never saw it does not end`() {
    let living = Log<Int>()
    let first = bus.subscribe(to: Tick.self) { [bus] tick in
      guard tick.number == 0 else { return }
      for number in 1...100 {
        let others = (0..<number % 7).map { _ in bus.subscribe(to: Tick.self) { [kept = Counted(living)] _ in _ = kept }
        }
        bus.subscribe(to: Tick.self) { [kept = Counted(living)] _ in _ = kept }.cancel()
        #expect(living.all.reduce(0, +) == others.count)
        bus.post(Tick(number: number))
      }
      #expect(living.all.reduce(0, +) == 0)
    }
    bus.post(Tick())
    #expect(living.all.count >= 200)
    withExtendedLifetime(first) {}
  }

  @Test func `Subscribers that leave in the reverse order leave no room behind`() {
    var subscriptions = (0..<10_000).map { _ in bus.subscribe(to: Tick.self) { [log] _ in log.add("seen") } }
    while subscriptions.count > 10 { subscriptions.removeLast() }
    #expect(block.map { $0.capacity <= 4 * 10 + 64 } == true)
    bus.post(Tick())
    #expect(log.all.count == 10)
  }

  private protocol Made: BusEvent { init() }
  private struct Innermost: Made {}
  private struct Around<Inner: Made>: Made {}

  @Test func `Each of many event types is found, subscribed to or not`() {
    func visit<E: Made>(_ type: E.Type, _ depth: Int, _ body: (any Made.Type, Int) -> Void) {
      body(type, depth)
      if depth < 100 { visit(Around<E>.self, depth + 1, body) }
    }
    var subscriptions: [EventBus.Subscription] = []
    func subscribe<E: Made>(_ type: E.Type, _ depth: Int) {
      bus.subscribe(to: type) { [log] _ in log.add("\(depth)") }.store(in: &subscriptions)
    }
    func post<E: Made>(_ type: E.Type) { bus.post(E()) }
    visit(Innermost.self, 0) { type, depth in if depth % 2 == 0 { subscribe(type, depth) } }
    for _ in 0..<2 { visit(Innermost.self, 0) { type, _ in post(type) } }
    let even = stride(from: 0, through: 100, by: 2).map(String.init)
    #expect(log.all == even + even)
  }

  /// A type whose author calls the bus when asked about it.
  private struct Curious: BusEvent, StickyEvent {
    @TaskLocal static var bus: EventBus?

    static var name: EventName {
      bus?.post(Tick())
      return "Curious"
    }
    static var isReversed: Bool {
      bus?.subscribe(to: Tick.self) { _ in }.cancel()
      return false
    }
  }

  @Test(arguments: ["subscribe", "post", "topic", "events", "posted and waited for"])
  func `Rule 7: an event type may call the bus when that asks for its name and order`(first: String) async {
    let last = bus.subscribe(to: Tick.self) { [log] _ in log.add("asked") }
    await Curious.$bus.withValue(bus) {
      switch first {
      case "subscribe": bus.subscribe(to: Curious.self) { _ in }.cancel()
      case "post": bus.post(Curious())
      case "topic": bus.topic(Curious.self).post(Curious())
      case "events": _ = bus.events(Curious.self, replay: .latest)
      default: await bus.postAndWait(Curious())
      }
    }
    #expect(!log.all.isEmpty)
    withExtendedLifetime(last) {}
  }

  @Test func `A subject's only handler may be cancelled and replaced inside itself`() {
    let subject = Thing()
    let own = Guarded<EventBus.Subscription?>(nil)
    own.withLock {
      $0 = bus.subscribe(to: Tick.self, from: subject) { [bus, log] _ in
        log.add("old")
        own.withLock { $0 }?.cancel()
        let new = bus.subscribe(to: Tick.self, from: subject) { [log] _ in log.add("new") }
        own.withLock { $0 = new }
      }
    }
    for _ in 0..<3 { bus.post(Tick(), from: subject) }
    #expect(log.all == ["old", "new", "new"])
  }

  @Test func `Subjects may come and go by the thousand`() {
    let subjects = (0..<5_000).map { _ in Thing() }
    var subscriptions = subjects.enumerated().map { index, subject in
      bus.subscribe(to: Tick.self, from: subject) { [log] _ in log.add("\(index)") }
    }
    for index in [0, 17, 4_999] { bus.post(Tick(), from: subjects[index]) }
    #expect(log.all == ["0", "17", "4999"])
    subscriptions.removeSubrange(0..<4_990)
    bus.post(Tick(), from: subjects[17])
    bus.post(Tick(), from: subjects[4_995])
    #expect(log.all == ["0", "17", "4999", "4995"])
    subscriptions = []
    bus.post(Tick(), from: subjects[4_995])
    #expect(log.all.count == 4)
  }

  /// Against a search through all: identifiers with gaps of any size, several priorities, blocks of any length.
  @Test func `a block finds each identifier that it has, and no other`() {
    let site = Site(EventBus.Subscriber(label: nil, fileID: "", line: 0))
    for seed in 0..<200 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let block = HandlerBlock(capacity: 200)
      defer { block.base.deallocate() }
      let widest = ([1, 2, 40, 1_000_000] as [UInt64]).randomElement(using: &random)!
      var all: [(id: UInt64, priority: Int)] = []
      for _ in 0..<Int.random(in: 0...200, using: &random) {
        let id = (all.last?.id ?? 0) + UInt64.random(in: 1...widest, using: &random)
        all.append((id, Int.random(in: 0...Int(seed % 4), using: &random)))
      }
      all.sort { ($1.priority, $0.id) < ($0.priority, $1.id) }
      for (id, priority) in all {
        #expect(block.canAppend(priority))
        block.append(
          .init(function: pubsub_cancelled(), context: nil),
          .init(id: id, site: .passUnretained(site), EventBus.Priority(rawValue: priority)))
      }
      let ids = Set(all.map(\.id))
      for (index, (id, _)) in all.enumerated() {
        #expect(block.index(of: id) == index, "seed \(seed)")
        if !ids.contains(id + 1) { #expect(block.index(of: id + 1) == nil, "seed \(seed)") }
      }
      #expect(block.index(of: 0) == nil, "seed \(seed)")
    }
  }
}
