import Testing

@testable import PubSub

@Suite struct `Subscriptions that end by themselves, and subjects that handlers ask for` {
  let bus = EventBus()
  let log = Log<String>()

  @Test func `Rule 12: all subscriptions of a living owner can be ended at once, and it may subscribe again`() async {
    let (owner, other) = (Thing(), Thing())
    for each in [owner, other] {
      let name = each === owner ? "owner" : "other"
      bus.subscribe(to: Tick.self, for: each) { [log] _, tick in log.add("\(name) \(tick.number)") }
      bus.subscribe(to: Tock.self, for: each) { [log] _, tock in log.add("\(name) tock \(tock.number)") }
      bus.receive(Tick.self, for: each) { [log] (_: Thing, tick: Tick) async in
        log.add("\(name) later \(tick.number)")
      }
    }
    await bus.postAndWait(Tick(number: 1))
    bus.cancelSubscriptions(of: owner)
    await bus.postAndWait(Tick(number: 2))
    bus.post(Tock(number: 3))
    bus.subscribe(to: Tock.self, for: owner) { [log] _, tock in log.add("owner again \(tock.number)") }
    bus.post(Tock(number: 4))
    #expect(
      log.all.sorted() == [
        "other 1", "other 2", "other later 1", "other later 2", "other tock 3", "other tock 4", "owner 1",
        "owner again 4", "owner later 1",
      ])
  }

  @Test func `Rule 12: a once-only handler is called with one event, whatever it posts itself`() {
    let once = bus.subscribe(to: Tick.self, once: true) { [bus, log] tick in
      log.add("once \(tick.number)")
      bus.post(Tick(number: tick.number + 1))
    }
    let every = bus.subscribe(to: Tick.self) { [log] tick in log.add("every \(tick.number)") }
    bus.post(Tick(number: 1))
    bus.post(Tick(number: 3))
    #expect(log.all == ["once 1", "every 2", "every 1", "every 3"])
    #expect(once.isCancelled && !every.isCancelled)
    bus.subscribe(to: Tick.self, once: true) { [log] _ in log.add("never") }.cancel()
    bus.post(Tick(number: 4))
    #expect(log.all.last == "every 4")
  }

  @Test func `Rule 12: a once-only handler is called once, however many threads post`() async {
    for _ in 0..<200 {
      let calls = Log<Int>()
      let once = bus.subscribe(to: Tick.self, once: true) { calls.add($0.number) }
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<4 { group.addTask { [bus] in bus.post(Tick(number: number)) } }
      }
      #expect(calls.all.count == 1)
      #expect(once.isCancelled)
    }
  }

  @Test @MainActor func `Rule 12: a once-only handler on the main actor throws as any other`() {
    let failures = bus.subscribe(to: EventBus.HandlerFailure.self) { [log] in log.add("\($0.subscriber): \($0.error)") }
    let once = bus.subscribe(to: Shown.self, once: true, label: "once") { _ in throw Failure(number: 7) }
    bus.post(Shown())
    bus.post(Shown())
    #expect(log.all == ["once: Failure(number: 7)"])
    withExtendedLifetime((failures, once)) {}
  }

  @Test @MainActor func `Rule 20: a handler that asks for the subject is called with that of its own post`() async {
    let (outer, inner) = (Thing(), Thing())
    func name(_ subject: AnyObject?) -> String { subject === outer ? "outer" : subject === inner ? "inner" : "none" }
    var lines: [String] = []
    let subscriptions = [
      bus.subscribe(to: Shown.self) { [bus] shown in
        if shown.number == 1 { bus.post(Shown(number: 2), from: inner) }
        lines.append("typed \(shown.number) \(name(EventBus.subjectOfPost))")
      },
      bus.subscribe(to: Tick.self) { [log] _ in log.add("tick \(EventBus.subjectOfPost == nil)") },
      bus.subscribeToAll(named: Tick.name) { [log] _ in log.add("named \(EventBus.subjectOfPost === inner)") },
      bus.subscribeToAll { [log] event in
        log.add("all \(type(of: event).name) \(EventBus.subjectOfPost == nil)")
      },
    ]
    bus.post(Shown(number: 1), from: outer)
    await bus.postAndWait(Shown(number: 3), from: outer)
    #expect(lines == ["typed 2 inner", "typed 1 outer", "typed 3 outer"])
    bus.post(Tick())
    bus.post(Tick(), from: inner)
    #expect(
      log.all == [
        "all Shown false", "all Shown false", "all Shown false", "tick true", "named false", "all Tick true",
        "tick false", "named true", "all Tick false",
      ])
    withExtendedLifetime(subscriptions) {}
    #expect(EventBus.subjectOfPost == nil)
  }
}
