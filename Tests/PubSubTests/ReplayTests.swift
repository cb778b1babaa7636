import AppLifecycleTesting
@testable import PubSub
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) struct `Replay` {
  @Test func `Rule 15: an asynchronous handler with replay gets the latest first, then every later one`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let (replayed, bounded, fresh) = (Log<Int>(), Log<EventBus.Received<Int>>(), Log<Int>())
      bus.post(LevelDidChange(level: 1))
      bus.post(LevelDidChange(level: 2))
      let subscriptions = [
        bus.receive(LevelDidChange.self, replay: .latest) { (event: LevelDidChange) async in
          replayed.add(event.level)
        },
        bus.receive(LevelDidChange.self, replay: .latest, buffering: .bounded(1, dropping: .oldest)) { event in
          bounded.add(.event(event.level))
        } missed: { count in
          bounded.add(.missed(count))
        },
        bus.receive(LevelDidChange.self) { (event: LevelDidChange) async in fresh.add(event.level) },
      ]
      bus.post(LevelDidChange(level: 3))
      await clock.settle()
      withExtendedLifetime(subscriptions) {}
      #expect(replayed.all == [2, 3])
      #expect(bounded.all == [.missed(1), .event(3)], "the replayed event counts like any other")
      #expect(fresh.all == [3])
    }
  }

  /// A link to other processes drops what its bus has replaced.
  @Test func `each handler sees the number of the change that its own event was`() {
    struct Other: BusEvent, StickyEvent {}
    let (bus, log) = (EventBus(), Log<Int>())
    var subscriptions = [
      bus.subscribe(to: LevelDidChange.self, priority: .high) { [bus] _ in
        for _ in 0..<2 { bus.post(Other()) }
        bus.post(Tick())
      },
      bus.subscribe(to: Tick.self) { _ in },
    ]
    subscriptions.append(bus.subscribe(to: LevelDidChange.self) { _ in log.add(EventBus.changeOfLatest) })
    for level in 1...3 { bus.post(LevelDidChange(level: level)) }
    withExtendedLifetime(subscriptions) {}
    #expect(log.all == [1, 2, 3])
  }

  @MainActor @Test func `Rule 15: sequences and handlers of main-actor events replay, too`() async {
    let bus = EventBus()
    bus.post(ModeDidChange(mode: "latest"))
    let (log, ended) = (Log<String>(), Gate())
    let subscription = bus.receive(ModeDidChange.self, replay: .latest) { (event: ModeDidChange) async in
      log.add(event.mode)
      if event.mode == "next" { ended.open() }
    }
    let sequence = bus.events(ModeDidChange.self, replay: .latest)
    let bounded = bus.events(ModeDidChange.self, replay: .latest, buffering: .bounded(1, dropping: .newest))
    let owner = Thing()
    bus.subscribe(to: ModeDidChange.self, for: owner, replay: .latest) { (_, event) -> Void in
      log.add("owner \(event.mode)")
    }
    #expect(log.all == ["owner latest"], "a synchronous one is told before subscribe returns")
    bus.post(ModeDidChange(mode: "next"))
    await ended.wait()
    var iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next()?.mode == "latest")
    #expect(await iterator.next()?.mode == "next")
    var received = bounded.makeAsyncIterator()
    guard case .event(let first) = await received.next(), case .missed(1) = await received.next() else {
      Issue.record("the latest, and then the loss")
      return
    }
    #expect(first.mode == "latest")
    withExtendedLifetime((subscription, owner)) {}
    #expect(log.all.filter { !$0.hasPrefix("owner") } == ["latest", "next"])
  }

  /// Subscribes to the levels when it is released.
  private final class Successor: Sendable {
    let subscribe: @Sendable () -> Void
    init(_ subscribe: @escaping @Sendable () -> Void) { self.subscribe = subscribe }
    deinit { subscribe() }
  }

  private struct Handover: BusEvent, StickyEvent {
    let number: Int
    let successor: Successor?
  }

  @Test func `Rule 5: a handler subscribed as the former sticky event goes does not receive its successor`() {
    let bus = EventBus()
    let (log, subscriptions) = (Log<String>(), Log<EventBus.Subscription>())
    // A first one, so that the new one is added to a block that the post has found.
    subscriptions.add(bus.subscribe(to: Handover.self) { log.add("first \($0.number)") })
    bus.post(
      Handover(
        number: 1,
        successor: Successor { [weak bus] in
          guard let bus else { return }
          subscriptions.add(bus.subscribe(to: Handover.self) { log.add("second \($0.number)") })
        }))
    bus.post(Handover(number: 2, successor: nil))
    bus.post(Handover(number: 3, successor: nil))
    #expect(log.all == ["first 1", "first 2", "first 3", "second 3"])
  }

  @Test func `Rule 15: the latest event can be asked for and removed, and comes back with the next post`() {
    let bus = EventBus()
    let (one, other) = (Thing(), Thing())
    #expect(bus.latest(of: LevelDidChange.self)?.level == nil)
    bus.post(LevelDidChange(level: 1), from: one)
    #expect(bus.latest(of: LevelDidChange.self)?.level == 1)
    #expect(bus.latest(of: LevelDidChange.self, from: one)?.level == 1)
    #expect(bus.latest(of: LevelDidChange.self, from: other)?.level == nil)
    bus.removeLatest(of: LevelDidChange.self)
    bus.removeLatest(of: LevelDidChange.self)
    #expect(bus.latest(of: LevelDidChange.self)?.level == nil)
    let levels = bus.events(LevelDidChange.self, replay: .latest)
    var first = levels.makeAsyncIterator()
    #expect(first.nextIfHeld()?.level == nil)
    bus.post(LevelDidChange(level: 2))
    var second = levels.makeAsyncIterator()
    #expect(first.nextIfHeld()?.level == 2)
    #expect(second.nextIfHeld()?.level == 2, "each iterator begins with the latest")
    bus.post(Tick())
    #expect(bus.core.typedStore(of: Tick.self).latest(from: nil) == nil, "a type that is not sticky keeps nothing")
  }

  /// The end of a kept event may call the bus.
  @Test func `Rule 15: an event that is removed is released without the lock`() {
    final class Talkative: Sendable {
      let bus: EventBus
      init(_ bus: EventBus) { self.bus = bus }
      deinit { bus.post(Tick()) }
    }
    struct Kept: BusEvent, StickyEvent {
      let talkative: Talkative
    }
    let (bus, log) = (EventBus(), Log<Int>())
    let subscription = bus.subscribe(to: Tick.self) { log.add($0.number) }
    bus.post(Kept(talkative: Talkative(bus)))
    #expect(log.all.isEmpty)
    bus.removeLatest(of: Kept.self)
    #expect(log.all.count == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test func `Rule 15: only the subject that was asked for is replayed`() async {
    let bus = EventBus()
    let (one, other) = (Thing(), Thing())
    bus.post(LevelDidChange(level: 1), from: one)
    let ofOne = bus.events(LevelDidChange.self, from: one, replay: .latest)
    let ofOther = bus.events(LevelDidChange.self, from: other, replay: .latest)
    bus.post(LevelDidChange(level: 2), from: other)
    bus.post(LevelDidChange(level: 3), from: one)
    var iterator = ofOne.makeAsyncIterator()
    #expect(await iterator.next()?.level == 1)
    #expect(await iterator.next()?.level == 3)
    iterator = ofOther.makeAsyncIterator()
    #expect(await iterator.next()?.level == 2)
  }

  @Test func `Rule 15: each subject has a latest event of its own`() async {
    let bus = EventBus()
    let (one, other) = (Thing(), Thing())
    bus.post(LevelDidChange(level: 1), from: one)
    bus.post(LevelDidChange(level: 2), from: other)
    bus.post(LevelDidChange(level: 3))
    func levels() -> [Int?] { [one, other, nil].map { bus.latest(of: LevelDidChange.self, from: $0)?.level } }
    #expect(levels() == [1, 2, 3])
    var ofOne = bus.events(LevelDidChange.self, from: one, replay: .latest).makeAsyncIterator()
    #expect(await ofOne.next()?.level == 1)
    var ofAll = bus.events(LevelDidChange.self, replay: .latest).makeAsyncIterator()
    #expect(await ofAll.next()?.level == 3)
    #expect(bus.latest(of: LevelDidChange.self, from: Thing()) == nil)
    bus.removeLatest(of: LevelDidChange.self)
    #expect(levels() == [nil, nil, nil])
  }

  @Test(arguments: [0, 1, 15, 31, 1_000])
  func `Rule 15: the latest event of a subject that is gone is dropped`(count: Int) {
    struct Kept: BusEvent, StickyEvent {
      let token: Thing
    }
    // An unowned reference keeps the address of an object, so that no other one replaces its event.
    struct Address {
      unowned let subject: Thing
    }
    let bus = EventBus()
    var (tokens, addresses): ([WeakThing], [Address]) = ([], [])
    func post(from subject: Thing) {
      let token = Thing()
      bus.post(Kept(token: token), from: subject)
      tokens.append(WeakThing(token))
      addresses.append(Address(subject: subject))
    }
    var living: Int { tokens.count { $0.thing != nil } }
    var subjects = (0..<count).map { _ in Thing() }
    for subject in subjects { post(from: subject) }
    #expect(living == count)
    subjects = []
    // All of them are gone, and the bus looks when there are twice as many at most.
    for _ in 0..<max(1_000, 2 * count) { post(from: Thing()) }
    #expect(living <= 32)
  }

  @Test func `Rule 15: after the end of the bus a topic keeps nothing`() {
    struct Kept: BusEvent, StickyEvent {
      let token: Thing
    }
    var bus: EventBus? = EventBus()
    let (topic, subject) = (bus!.topic(Kept.self), Thing())
    topic.post(Kept(token: Thing()), from: subject)
    bus = nil
    var tokens: [WeakThing] = []
    for subject in [nil, subject] {
      let token = Thing()
      topic.post(Kept(token: token), from: subject)
      tokens.append(WeakThing(token))
    }
    #expect(tokens.allSatisfy { $0.thing == nil })
    withExtendedLifetime(subject) {}
  }

  /// Subscribing may release what a subscription without its owner had captured, and that may post.
  @MainActor @Test(arguments: [false, true])
  func `Rule 15: an event that comes while a main-actor handler subscribes is not replayed again`(once: Bool) {
    final class LastWords: Sendable {
      weak let bus: EventBus?
      let number: Int
      init(_ bus: EventBus, _ number: Int) { (self.bus, self.number) = (bus, number) }
      deinit { MainActor.assumeIsolated { _ = bus?.post(ModeDidChange(mode: "last words \(number)")) } }
    }
    let (bus, owner) = (EventBus(), Thing())
    bus.post(ModeDidChange(mode: "first"))
    let logs = (0..<200).map { number in
      let log = Log<String>()
      if number % 50 == 0 {
        let words = LastWords(bus, number)
        bus.subscribe(to: Tick.self, for: Thing()) { _, _ in withExtendedLifetime(words) {} }
      }
      bus.subscribe(to: ModeDidChange.self, for: owner, replay: .latest, once: once) { log.add($1.mode) }
      return log
    }
    #expect(bus.latest(of: ModeDidChange.self)?.mode != "first", "a sweep has been due")
    for modes in logs.map(\.all) {
      #expect(!modes.isEmpty && Set(modes).count == modes.count && (!once || modes.count == 1))
    }
  }

  @MainActor @Test func `Rule 15: nothing is replayed to a handler that was cancelled while it subscribed`() {
    final class LastWords: Sendable {
      let action: @MainActor @Sendable () -> Void
      init(_ action: @escaping @MainActor @Sendable () -> Void) { self.action = action }
      deinit { MainActor.assumeIsolated { action() } }
    }
    let (bus, owner, log) = (EventBus(), Thing(), Log<String>())
    bus.post(ModeDidChange(mode: "first"))
    var subscriptions: [EventBus.OwnedSubscription] = []
    // So often that a sweep is due, which finds the subscription whose owner is gone.
    for _ in 0..<100 {
      let words = LastWords { [weak bus] in
        log.add("last words")
        bus?.cancelSubscriptions(of: owner)
      }
      bus.subscribe(to: Tick.self, for: Thing()) { _, _ in withExtendedLifetime(words) {} }
      let label = "handler \(subscriptions.count)"
      subscriptions.append(
        bus.subscribe(to: ModeDidChange.self, for: owner, replay: .latest) { _, _ in log.add(label) })
    }
    let swept = log.all.indices.filter { log.all[$0] == "last words" }
    #expect(!swept.isEmpty)
    // A subscription that is cancelled at once gets no event: its number is missing in the log.
    let replayed = log.all.count { $0.hasPrefix("handler") }
    #expect(replayed < subscriptions.count)
    withExtendedLifetime(owner) {}
  }

  private struct WeakThing {
    weak var thing: Thing?
    init(_ thing: Thing) { self.thing = thing }
  }

  @Test func `Rule 15: exactly once each, also when posts race with the subscribing`() async {
    for _ in 0..<50 {
      let bus = EventBus()
      let last = 200
      await withTaskGroup { group in
        group.addTask { for level in 1...last { bus.post(LevelDidChange(level: level)) } }
        for _ in 0..<4 {
          group.addTask {
            var levels: [Int] = []
            for await event in bus.events(LevelDidChange.self, replay: .latest) {
              levels.append(event.level)
              if event.level == last { break }
            }
            #expect(levels == Array(levels[0]...last))
          }
          group.addTask {
            let (log, ended) = (Log<Int>(), Gate())
            let subscription = bus.receive(LevelDidChange.self, replay: .latest) {
              (event: LevelDidChange) async in
              log.add(event.level)
              if event.level == last { ended.open() }
            }
            await ended.wait()
            withExtendedLifetime(subscription) {}
            #expect(log.all == Array(log.all[0]...last))
          }
        }
      }
    }
  }
}
