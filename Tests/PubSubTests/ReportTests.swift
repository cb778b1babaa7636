import AppLifecycleTesting
import Scheduling
import Testing

@testable import PubSub

/// What the bus tells of its posts, and that telling it comes to an end whatever is done when it is told.
@Suite struct `Reports` {
  let bus = EventBus(nestingLimit: 4)
  let log = Log<String>()
  /// How often a handler may misbehave: without a limit, a bus that does not stop it would end the process.
  let rest = Rest()

  private struct Lonely: BusEvent {}

  /// Shares its name with an event of the bus's own.
  private struct Namesake: BusEvent {
    static let name: EventName = "HandlerFailure"
  }

  final class Rest: Sendable {
    private let number = Guarded(300)
    var left: Int { number.withLock { $0 } }
    func take() -> Bool {
      number.withLock { number in
        number -= 1
        return number >= 0
      }
    }
  }

  private func mayGoOn() -> Bool { rest.take() }

  @Test(arguments: [1, 2, 5]) func `Rule 21: handlers that answer each other end, and are reported`(handlers: Int) {
    let bus = EventBus()
    let (calls, refused) = (Log<Int>(), Log<Int>())
    let subscriptions = (0..<handlers).flatMap { _ in
      [
        bus.subscribe(to: Tick.self) { [bus] _ in
          calls.add(1)
          bus.post(Tock())
        },
        bus.subscribe(to: Tock.self, from: handlers == 5 ? self.bus : nil) { [bus, other = self.bus] _ in
          calls.add(1)
          bus.post(Tick(), from: other)
          bus.post(Tock(), from: other)
        },
      ]
    }
    let report = bus.subscribe(to: EventBus.PostRefused.self) { refused.add($0.chain.count) }
    for round in 1...2 {
      bus.post(Tock(), from: self.bus)
      #expect(calls.all.count < round * 128 * 4 * handlers)
      #expect(refused.all == Array(repeating: 129, count: round))
    }
    withExtendedLifetime((subscriptions, report)) {}
  }

  @Test(arguments: [false, true])
  func `Rule 21: what a tracer posts is nested in what it is shown`(waits: Bool) async {
    let subscription = bus.subscribe(to: EventBus.PostRefused.self) { [log] in log.add("\($0.chain.map(\.rawValue))") }
    let tracing = bus.trace { [self] event in
      if event is Tick, mayGoOn() { bus.post(Tick(number: 1)) }
    }
    let handler = bus.subscribe(to: Tick.self) { [log] in if $0.number == 0 { log.add("received") } }
    if waits { await bus.postAndWait(Tick()) } else { bus.post(Tick()) }
    // The refusal is told once the post is over, and not once its tracers are.
    #expect(log.all == ["received", #"["Tick", "Tick", "Tick", "Tick", "Tick"]"#])
    #expect(rest.left == 300 - 4)
    withExtendedLifetime((subscription, tracing, handler)) {}
  }

  @Test func `Rule 21: what a tracer posts when it is shown anything at all comes to an end`() {
    let tracing = bus.trace { [self] _ in if mayGoOn() { bus.post(Tick()) } }
    bus.post(Tick())
    #expect(rest.left > 0)
    withExtendedLifetime(tracing) {}
  }

  @Test func `Rule 21: a handler that is told of a refusal and posts the same again is not told again`() {
    let subscriptions = [
      bus.subscribe(to: Tick.self) { [bus] _ in bus.post(Tick()) },
      bus.subscribe(to: EventBus.PostRefused.self) { [self] _ in
        log.add("refused")
        if mayGoOn() { bus.post(Tick()) }
      },
    ]
    bus.post(Tick())
    #expect(log.all == ["refused"])
    bus.post(Tick())
    #expect(log.all == ["refused", "refused"], "the next is told again")
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `Rules 19 and 21: a handler that is told of an event without a receiver may post another such`() {
    let subscription = bus.subscribe(to: EventBus.Undelivered.self) { [self] _ in if mayGoOn() { bus.post(Lonely()) } }
    bus.post(Lonely())
    #expect(rest.left > 0)
    withExtendedLifetime(subscription) {}
  }

  /// Reported for the handler that throws, whichever code posts it.
  private struct Failing: BusEvent {}
  /// Reported because its handler posts it again.
  private struct Deep: BusEvent {}

  /// What a handler of a report does.
  enum Deed: CaseIterable, Sendable { case throwsError, postsAll, waitsForAll, postsInChildTask }

  /// Does what leads to reports.
  private func misbehave(_ deed: Deed, on bus: EventBus) async throws {
    guard rest.take() else { return }
    switch deed {
    case .throwsError: throw Failure()
    case .postsAll: misbehaveAtOnce(on: bus)
    case .waitsForAll:
      await bus.postAndWait(Lonely())
      await bus.postAndWait(Failing())
      await bus.postAndWait(Deep())
    case .postsInChildTask: await withTaskGroup { $0.addTask { misbehaveAtOnce(on: bus) } }
    }
  }

  private func misbehaveAtOnce(on bus: EventBus) {
    bus.post(Lonely())
    bus.post(Failing())
    bus.post(Deep())
  }

  @Test(arguments: Deed.allCases, [true, false])
  func `Rule 22: reports end, whatever asynchronous handlers of reports do`(deed: Deed, hearsFailures: Bool)
    async throws
  {
    try await withSimulation { [self] clock in
      let bus = EventBus(clock: clock)
      var subscriptions = subscribeToFail(on: bus)
      subscriptions += [
        bus.receive(EventBus.Undelivered.self) { _ async throws in try await misbehave(deed, on: bus) },
        bus.receive(EventBus.PostRefused.self) { _ async throws in try await misbehave(deed, on: bus) },
        bus.receiveAll(named: "Undelivered") { _ async throws in try await misbehave(deed, on: bus) },
      ]
      if hearsFailures {
        subscriptions.append(
          bus.receive(EventBus.HandlerFailure.self) { _ async throws in try await misbehave(deed, on: bus) })
      }
      misbehaveAtOnce(on: bus)
      await clock.settle()
      #expect(rest.left > 200)
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test(arguments: [Deed.throwsError, .postsAll], [true, false])
  func `Rule 22: reports end, whatever synchronous handlers of reports do`(deed: Deed, hearsFailures: Bool) async throws
  {
    try await withSimulation { [self] clock in
      let bus = EventBus(clock: clock)
      let handle = { @Sendable [self] in
        guard rest.take() else { return }
        if deed == .throwsError { throw Failure() }
        misbehaveAtOnce(on: bus)
      }
      var subscriptions = subscribeToFail(on: bus)
      subscriptions += [
        bus.subscribe(to: EventBus.Undelivered.self) { _ in try handle() },
        bus.subscribe(to: EventBus.PostRefused.self) { _ in try handle() },
      ]
      if hearsFailures { subscriptions.append(bus.subscribe(to: EventBus.HandlerFailure.self) { _ in try handle() }) }
      misbehaveAtOnce(on: bus)
      await clock.settle()
      #expect(rest.left > 200)
      withExtendedLifetime(subscriptions) {}
    }
  }

  private func subscribeToFail(on bus: EventBus) -> [EventBus.Subscription] {
    [
      bus.subscribe(to: Failing.self) { _ in throw Failure() },
      bus.receive(Failing.self) { (_: Failing) async throws in throw Failure() },
      bus.receive(Failing.self, buffering: .bounded(1, dropping: .oldest)) { _ in
        throw Failure()
      } missed: { _ in
        throw Failure()
      },
      bus.subscribe(to: Deep.self) { _ in bus.post(Deep()) },
    ]
  }

  @Test func `Rule 22: a report leads to one of a later kind, and that to none`() async throws {
    try await withSimulation { [log, rest] clock in
      let bus = EventBus(clock: clock)
      let subscriptions = [
        bus.receive(EventBus.Undelivered.self) { (undelivered: EventBus.Undelivered) async throws in
          guard rest.take() else { return }
          log.add("undelivered \(type(of: undelivered.event).name)")
          bus.post(Lonely())
          throw Failure(number: 1)
        },
        bus.receive(EventBus.HandlerFailure.self) { (failure: EventBus.HandlerFailure) async throws in
          guard rest.take() else { return }
          log.add("\(failure.eventName) \(failure.error)")
          bus.post(Lonely())
          throw Failure(number: 2)
        },
      ]
      bus.post(Tick())
      await clock.settle()
      #expect(log.all == ["undelivered Tick", "Undelivered Failure(number: 1)"])
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test func `Rules 18 and 19: a failure that no handler hears is undelivered, once`() async throws {
    try await withSimulation { [log, rest] clock in
      let bus = EventBus(clock: clock)
      let subscriptions = [
        bus.receive(EventBus.Undelivered.self) { (undelivered: EventBus.Undelivered) async throws in
          guard rest.take() else { return }
          log.add("\(type(of: undelivered.event).name)")
          throw Failure(number: 1)
        },
        bus.receive(Tick.self) { (_: Tick) async throws in throw Failure(number: 2) },
      ]
      bus.post(Tick())
      await clock.settle()
      #expect(log.all == ["HandlerFailure"])
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test func `Rule 21: a refusal is told on the bus that refused`() {
    let inner = EventBus(nestingLimit: 1)
    let subscriptions = [
      bus.subscribe(to: Tick.self) { _ in inner.post(Tock()) },
      bus.subscribe(to: EventBus.PostRefused.self) { [log] _ in log.add("outer") },
      inner.subscribe(to: Tock.self) { [log] _ in log.add("received") },
      inner.subscribe(to: EventBus.PostRefused.self) { [log] in log.add("inner \($0.chain.map(\.rawValue))") },
    ]
    bus.post(Tick())
    #expect(log.all == [#"inner ["Tick", "Tock"]"#])
    withExtendedLifetime(subscriptions) {}
  }

  /// Does something when it is released.
  private final class Last: Sendable {
    let action: @Sendable () -> Void
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    deinit { action() }
  }

  @Test func `Rule 7: what a tracer or an observer of failures held may post as it goes`() {
    let subscription = bus.subscribe(to: Tick.self) { [log] in
      log.add("\($0.number)")
      throw Failure()
    }
    func posting(_ number: Int) -> Last { Last { [weak bus] in bus?.post(Tick(number: number)) } }
    var held: Last? = posting(1)
    var tracing: EventBus.TracerToken? = bus.trace { [held] _ in withExtendedLifetime(held) {} }
    let other = bus.trace { _ in }
    held = posting(2)
    var owner: Thing? = Thing()
    bus.observeFailures(for: owner.unsafelyUnwrapped) { [held] _ in withExtendedLifetime(held) {} }
    (held, owner) = (nil, nil)
    #expect(log.all == [])
    tracing = nil
    #expect(log.all == ["1"])
    let last = Thing()
    bus.observeFailures(for: last) { _ in }
    #expect(log.all == ["1", "2"])
    withExtendedLifetime((subscription, other, tracing, last)) {}
  }

  @Test func `Rule 19: to a tracer alone nothing is told but what is posted`() {
    let tracing = bus.trace { [log] in log.add("\(type(of: $0).name)") }
    bus.post(Tick())
    #expect(log.all == ["Tick"])
    withExtendedLifetime(tracing) {}
  }

  /// As where a thread calls the handler of a subscription to one event too late, and is the last to release its owner.
  @Test func `an event that its handler refused counts as undelivered, whatever is posted before the handler returns`()
  {
    let observer = bus.subscribe(to: EventBus.Undelivered.self) { [log] in log.add("\(type(of: $0.event).name)") }
    let inner = bus.subscribe(to: Tick.self) { _ in }
    let outer = bus.subscribe(to: Lonely.self) { [bus] _ in
      Posting.noteUnheard()
      bus.post(Tick())
    }
    bus.post(Lonely())
    #expect(log.all == ["Reports.Lonely"])
    withExtendedLifetime((observer, inner, outer)) {}
  }

  @Test func `Rule 19: an owner that is gone has received nothing`() {
    let observer = bus.subscribe(to: EventBus.Undelivered.self) { [log] in log.add("\(type(of: $0.event).name)") }
    var owner: Thing? = Thing()
    for owner in [owner, owner] { if let owner { bus.subscribe(to: Tick.self, for: owner) { _, _ in } } }
    bus.post(Tick())
    #expect(log.all == [])
    owner = nil
    bus.post(Tick())
    #expect(log.all == ["Tick"])
    withExtendedLifetime(observer) {}
  }

  @Test func `Rule 19: a handler that has received an event and posts to an owner that is gone has received it`() {
    let observer = bus.subscribe(to: EventBus.Undelivered.self) { [log] in log.add("\(type(of: $0.event).name)") }
    let subscription = bus.subscribe(to: Tick.self) { [bus] _ in
      bus.subscribe(to: Tock.self, for: Thing()) { _, _ in }
      bus.post(Tock())
    }
    bus.post(Tick())
    #expect(log.all == ["Tock"])
    withExtendedLifetime((observer, subscription)) {}
  }

  @Test func `Rule 18: a failure has the event, whatever kind of handler threw`() async throws {
    try await withSimulation { clock in
      let (bus, log) = (EventBus(clock: clock), Log<String>())
      let owner = Thing()
      let subscriptions = [
        bus.subscribe(to: EventBus.HandlerFailure.self) {
          log.add("\($0.subscriber.label ?? "") \(($0.event as? Tick)?.number as Any? ?? "none")")
        },
        bus.subscribe(to: Tick.self, label: "synchronous") { (_: Tick) throws -> Void in throw Failure(number: 1) },
        bus.subscribe(to: Tick.self, for: owner, label: "owner") { (_, _) throws -> Void in throw Failure(number: 1) },
        bus.subscribeToAll(named: Tick.name, label: "named") { (_: any EventBus.Event) throws -> Void in
          throw Failure(number: 1)
        },
        bus.receive(Tick.self, label: "mailbox") { (_: Tick) async throws -> Void in throw Failure(number: 1) },
        bus.receive(Tick.self, buffering: .bounded(1, dropping: .oldest), label: "bounded") { _ in
          throw Failure(number: 1)
        } missed: { _ in
          throw Failure(number: 1)
        },
      ]
      bus.post(Tick(number: 7))
      bus.post(Tick(number: 8))
      await clock.settle()
      #expect(log.all.prefix(6) == ["synchronous 7", "owner 7", "named 7", "synchronous 8", "owner 8", "named 8"])
      #expect(log.all.dropFirst(6).sorted() == ["bounded 8", "bounded none", "mailbox 7", "mailbox 8"])
      withExtendedLifetime((subscriptions, owner)) {}
    }
  }

  @Test func `Rule 18: an event is no HandlerFailure because it has its name`() {
    let subscriptions = [
      bus.subscribe(to: Namesake.self) { _ in throw Failure(number: 1) },
      bus.subscribe(to: EventBus.HandlerFailure.self) { [log] in
        log.add("\($0.eventName) \($0.error)")
        throw Failure(number: 2)
      },
    ]
    bus.post(Namesake())
    #expect(log.all == ["HandlerFailure Failure(number: 1)"])
    withExtendedLifetime(subscriptions) {}
  }
}
