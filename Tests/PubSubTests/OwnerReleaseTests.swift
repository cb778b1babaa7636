import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

private struct Change: BusEvent {}
private struct MainChange: MainActorEvent {}

/// A handler that captures its owner keeps it; one that uses what it is passed does not.
@Suite(.timeLimit(.hang)) struct `Owners and their handlers` {
  private final class Owner: Sendable {
    func note() {}
  }

  private actor ActingOwner {
    func note() {}
  }

  enum Form: CaseIterable, Sendable { case synchronous, asynchronous, onMainActor, mainEvent, asynchronousMainEvent }

  /// Subscribes an owner, in one way or another, with a handler that captures it or does not.
  private func subscribe(_ owner: Owner, to bus: EventBus, _ form: Form, captures: Bool) -> EventBus.OwnedSubscription {
    switch (form, captures) {
    case (.synchronous, true): bus.subscribe(to: Change.self, for: owner) { _, _ in owner.note() }
    case (.synchronous, false): bus.subscribe(to: Change.self, for: owner) { owner, _ in owner.note() }
    case (.asynchronous, true): bus.receive(Change.self, for: owner) { _, _ async in owner.note() }
    case (.asynchronous, false): bus.receive(Change.self, for: owner) { owner, _ async in owner.note() }
    case (.onMainActor, true): bus.receive(Change.self, for: owner) { @MainActor _, _ in owner.note() }
    case (.onMainActor, false): bus.receive(Change.self, for: owner) { @MainActor owner, _ in owner.note() }
    case (.mainEvent, true): bus.subscribe(to: MainChange.self, for: owner) { _, _ in owner.note() }
    case (.mainEvent, false): bus.subscribe(to: MainChange.self, for: owner) { owner, _ in owner.note() }
    case (.asynchronousMainEvent, true):
      bus.receive(MainChange.self, for: owner) { @MainActor _, _ async in owner.note() }
    case (.asynchronousMainEvent, false):
      bus.receive(MainChange.self, for: owner) { @MainActor owner, _ async in owner.note() }
    }
  }

  @Test(arguments: Form.allCases)
  func `a handler that captures its owner keeps it until the subscription ends`(form: Form) {
    let bus = EventBus()
    weak var captured: Owner?
    let subscription = {
      let owner = Owner()
      captured = owner
      return subscribe(owner, to: bus, form, captures: true)
    }()
    #expect(captured != nil)
    let released = bus.endSubscriptionsOfOwners()
    #expect(released.map(\.type) == ["Owner"])
    #expect(released.map(\.subscriber) == [subscription.subscriber])
    #expect(captured == nil)
    #expect(bus.endSubscriptionsOfOwners().isEmpty)
  }

  @Test(arguments: Form.allCases)
  func `a handler that uses what it is passed does not keep it`(form: Form) {
    let bus = EventBus()
    weak var passed: Owner?
    do {
      let owner = Owner()
      passed = owner
      _ = subscribe(owner, to: bus, form, captures: false)
    }
    #expect(passed == nil)
    #expect(bus.endSubscriptionsOfOwners().isEmpty)
  }

  enum Post: CaseIterable, Sendable { case plain, awaited, held }

  @Test(arguments: [Form.asynchronous, .onMainActor], Post.allCases)
  func `Rule 12: an event after the release of the owner releases an asynchronous handler`(form: Form, post: Post)
    async throws
  {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      weak var captured: Owner?
      var owner: Owner? = Owner()
      do {
        let other = Owner()
        captured = other
        if let owner {
          if form == .asynchronous {
            bus.receive(Change.self, for: owner) { _, _ async in other.note() }
          } else {
            bus.receive(Change.self, for: owner) { @MainActor _, _ in other.note() }
          }
        }
      }
      // An event that waits in the mailbox when the owner is released counts as a later one.
      if post == .held { bus.post(Change()) }
      owner = nil
      #expect(captured != nil)
      switch post {
      case .plain: bus.post(Change())
      case .awaited: #expect(await bus.postAndWait(Change()).deliveries.isEmpty)
      case .held: break
      }
      await clock.settle()
      #expect(captured == nil)
    }
  }

  @Test func `Rule 16: an event that finds its owner gone is reported as cancelled, not as delivered`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let owner = Guarded<Owner?>(Owner())
      owner.withLock { owner in
        _ = bus.receive(Change.self, for: owner!, label: "late") { _, _ async in Issue.record("called") }
      }
      let subscription = bus.subscribe(to: Change.self, label: "releases") { _ in owner.withLock { $0 = nil } }
      let report = await bus.postAndWait(Change())
      #expect(
        report.deliveries.map { "\($0.subscriber.description) \($0.outcome)" } == [
          "late cancelled", "releases delivered",
        ])
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `Rule 16: past the deadline an owner that is gone is not reported either`() async {
    let bus = EventBus()
    var owner: Owner? = Owner()
    if let owner {
      bus.subscribe(to: Change.self, for: owner) { _, _ in }
      bus.receive(Change.self, for: owner) { _, _ async in }
    }
    owner = nil
    #expect(await bus.postAndWait(Change(), within: .zero).deliveries.isEmpty)
  }

  @Test func `the handler that captures is named, not the others of the same owner`() {
    let bus = EventBus()
    let culprit = {
      let owner = Owner()
      _ = subscribe(owner, to: bus, .synchronous, captures: false)
      let culprit = bus.subscribe(to: Change.self, for: owner, label: "culprit") { _, _ in owner.note() }
      _ = subscribe(owner, to: bus, .mainEvent, captures: false)
      return culprit.subscriber
    }()
    #expect(bus.endSubscriptionsOfOwners().map(\.subscriber) == [culprit])
  }

  @Test func `an actor is an owner, too`() {
    let bus = EventBus()
    do {
      let captured = ActingOwner()
      bus.receive(Change.self, for: captured) { _, _ in _ = captured }
      let passed = ActingOwner()
      bus.receive(Change.self, for: passed) { owner, _ in owner.note() }
    }
    #expect(bus.endSubscriptionsOfOwners().map(\.type) == ["ActingOwner"])
  }

  @Test func `an owner that something else holds is not named, and neither is what it owns`() {
    let bus = EventBus()
    let held = Owner()
    _ = subscribe(held, to: bus, .synchronous, captures: true)
    // Captured by the handler of another owner, which is alive.
    do {
      let other = Owner()
      _ = subscribe(other, to: bus, .synchronous, captures: false)
      bus.subscribe(to: Change.self, for: held) { _, _ in other.note() }
    }
    #expect(bus.endSubscriptionsOfOwners().isEmpty)
    withExtendedLifetime(held) {}
  }

  private final class Log: Sendable { let numbers = Guarded<[Int]>([]) }

  private final class Captured: Sendable {
    private let number: Int
    private let log: Log

    init(_ number: Int, _ log: Log) { (self.number, self.log) = (number, log) }
    deinit { log.numbers.withLock { $0.append(number) } }
  }

  /// The order of addresses would change from one run to the next.
  @Test func `the handlers of an owner are released in the order of their subscriptions`() {
    let (bus, owner, log) = (EventBus(), Owner(), Log())
    let subjects = (0..<50).map { _ in Owner() }
    let subscriptions = subjects.enumerated().map { number, subject in
      let captured = Captured(number, log)
      return bus.subscribe(to: Change.self, for: owner, from: subject) { _, _ in withExtendedLifetime(captured) {} }
    }
    bus.cancelSubscriptions(of: owner)
    #expect(log.numbers.withLock(\.self) == Array(0..<50))
    withExtendedLifetime(subscriptions) {}
  }
}
