@testable import PubSub
import Scheduling
import TestTraits
import Testing

private struct Carrier: BusEvent {
  let thing: Thing
}

/// What a handler captured, or an iterator holds, does not outlive its subscription in the bus.
@Suite(.timeLimit(.hang)) struct `What the bus holds for a subscriber` {
  let bus = EventBus()

  /// Makes something that a handler captures, and calls `subscribe` with it.
  private func capturing(_ subscribe: (Thing) -> any Cancellable) -> (any Cancellable, WeakThing) {
    let thing = Thing()
    return (subscribe(thing), WeakThing(thing))
  }

  private struct WeakThing: Sendable {
    weak let thing: Thing?
    init(_ thing: Thing) { self.thing = thing }
  }

  enum Form: CaseIterable, Sendable { case plain, bounded, named, all, ofOwner, onMainActor }

  /// Subscribes an asynchronous handler that does `work`, and captures something.
  private func subscribe(
    _ form: Form, owner: Thing = Thing(), to bus: EventBus? = nil, _ work: @escaping @Sendable () async -> Void
  ) -> (any Cancellable, WeakThing) {
    let bus = bus ?? self.bus
    return capturing { thing in
      let handle = { @Sendable in
        await work()
        withExtendedLifetime(thing) {}
      }
      return switch form {
      case .plain: bus.receive(Tick.self) { _ async in await handle() }
      case .bounded: bus.receive(Tick.self, buffering: .bounded(1, dropping: .oldest)) { _ in await handle() }
      case .named: bus.receiveAll(named: Tick.name) { _ async in await handle() }
      case .all: bus.receiveAll { _ async in await handle() }
      case .ofOwner: bus.receive(Tick.self, for: owner) { _, _ async in await handle() }.registration
      case .onMainActor: bus.receive(Tick.self) { @MainActor _ in await handle() }
      }
    }
  }

  @Test(arguments: Form.allCases, [false, true])
  func `Rule 6: a task that a handler started does not keep what the cancelled handler captured`(
    form: Form, waits: Bool
  ) async {
    let (hasBegun, mayEnd, ended) = (Gate(), Gate(), Gate())
    let owner = Thing()
    let (subscription, captured) = subscribe(form, owner: owner) {
      Task {
        hasBegun.open()
        await mayEnd.wait()
        ended.open()
      }
    }
    if waits { await bus.postAndWait(Tick()) } else { bus.post(Tick()) }
    await hasBegun.wait()
    subscription.cancel()
    await subscription.drain()
    #expect(captured.thing == nil)
    mayEnd.open()
    await ended.wait()
    withExtendedLifetime((subscription, owner)) {}
  }

  @Test(arguments: Form.allCases)
  func `Rule 6: a post that waited for a handler does not keep what it captured, once cancelled`(form: Form) async {
    let (hasBegun, mayEnd, ended) = (Gate(), Gate(), Gate())
    let owner = Thing()
    let (subscription, captured) = subscribe(form, owner: owner) {}
    // Its task inherits the context of its run, and with it the post.
    let other = bus.receive(Tick.self) { (_: Tick) async in
      Task {
        hasBegun.open()
        await mayEnd.wait()
        ended.open()
      }
    }
    await bus.postAndWait(Tick())
    await hasBegun.wait()
    subscription.cancel()
    await subscription.drain()
    #expect(captured.thing == nil)
    mayEnd.open()
    await ended.wait()
    withExtendedLifetime((subscription, other, owner)) {}
  }

  @Test(arguments: Form.allCases)
  func `Rule 6: a post under way does not keep what an asynchronous handler captured, once cancelled`(form: Form) {
    let captured = Guarded<WeakThing?>(nil)
    let owner = Thing()
    let subscription = bus.subscribe(to: Tick.self) { [self] _ in
      let (subscription, thing) = subscribe(form, owner: owner) {}
      subscription.cancel()
      captured.withLock { $0 = thing }
      #expect(thing.thing == nil)
      withExtendedLifetime(subscription) {}
    }
    bus.post(Tick())
    #expect(captured.withLock { $0 } != nil)
    withExtendedLifetime((subscription, owner)) {}
  }

  @Test(arguments: Form.allCases)
  func `Rule 6: a run that has not begun does not keep what its handler captured, once cancelled`(form: Form) async {
    let executor = HeldExecutor()
    let (bus, owner) = (EventBus(taskExecutor: executor), Thing())
    let (subscription, captured) = subscribe(form, owner: owner, to: bus) {}
    bus.post(Tick())
    bus.post(Tick())
    subscription.cancel()
    #expect(captured.thing == nil)
    executor.runAll()
    subscription.cancel()
    await subscription.drain()
    withExtendedLifetime(owner) {}
  }

  /// AddressSanitizer looks for the memory.
  @Test func `what a post still read when it was replaced is freed with the bus`() {
    let released = Log<Int>()
    weak var core: BusCore?
    do {
      let bus = EventBus()
      core = bus.core
      let subscriptions = Guarded<[EventBus.Subscription]>([])
      let release: @Sendable () -> Void = {
        let all = subscriptions.withLock { subscriptions in
          defer { subscriptions = [] }
          return subscriptions
        }
        released.add(all.count)
      }
      // So many that the empty list keeps no block, and so few that no other block replaces theirs before.
      subscriptions.withLock { subscriptions in
        subscriptions = (0..<6).map { number in bus.subscribe(to: Tick.self) { _ in if number == 0 { release() } } }
      }
      bus.post(Tick())
    }
    #expect(released.all == [6] && core == nil)
  }

  /// Runs each job as soon as it is enqueued, on the thread that enqueues it.
  private final class ImmediateExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  @Test func `Rule 20: an asynchronous handler that an executor runs inside the post has no subject, either`() async {
    let (bus, subject, log) = (EventBus(taskExecutor: ImmediateExecutor()), Thing(), Log<Bool>())
    let subscriptions = [
      bus.receive(Tick.self) { _ in log.add(EventBus.subjectOfPost == nil) },
      bus.subscribe(to: Tick.self) { _ in log.add(EventBus.subjectOfPost === subject) },
    ]
    bus.post(Tick(), from: subject)
    #expect(log.all == [true, true])
    await bus.postAndWait(Tick(), from: subject)
    #expect(log.all == [true, true, true, true])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `Rule 6: a task that leaves the rest to another one keeps nothing until a drain has ended`() async {
    let bus = EventBus(taskExecutor: ImmediateExecutor())
    let (mayEnd, isCancelled) = (Gate(), Gate())
    let (subscription, captured) = subscribe(.plain, to: bus) {
      await withTaskCancellationHandler(operation: { await mayEnd.wait() }, onCancel: { isCancelled.open() })
    }
    let poster = Task { await bus.postAndWait(Tick()) }
    poster.cancel()
    await isCancelled.wait()
    subscription.cancel()
    let wasReleased = Log<Bool>()
    subscription.whenIdle { wasReleased.add(captured.thing == nil) }
    #expect(wasReleased.all == [])
    // The run ends in this call, in a cancelled task, and the next task ends the drain before the first one goes on.
    mayEnd.open()
    #expect(wasReleased.all == [true])
    _ = await poster.value
  }

  @Test func `Rule 12: an owner that goes while its handler runs and events wait takes the handler with it`() async {
    let (hasBegun, mayEnd) = (Gate(), Gate())
    let log = Log<String>()
    var owner: Thing? = Thing()
    let (subscription, captured) = subscribe(.ofOwner, owner: owner!) {
      log.add("called")
      hasBegun.open()
      await mayEnd.wait()
    }
    for _ in 0..<3 { bus.post(Tick()) }
    await hasBegun.wait()
    owner = nil
    mayEnd.open()
    while captured.thing != nil { await Task.yield() }
    #expect(log.all == ["called"])
    #expect((subscription as? Registration)?.hasEnded == true)
  }

  @Test func `Rule 12: a handler of one event keeps nothing after it`() {
    let (subscription, captured) = capturing { thing in
      bus.subscribe(to: Tick.self, once: true) { _ in withExtendedLifetime(thing) {} }
    }
    bus.post(Tick())
    #expect(captured.thing == nil)
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: [EventBus.Buffering.unbounded, .bounded(2, dropping: .oldest)])
  func `Rule 11: what an iterator holds goes with it, also inside a post that is under way`(
    buffering: EventBus.Buffering
  ) async {
    let isChecked = Guarded(false)
    let subscription = bus.subscribe(to: Tick.self) { [bus] _ in
      // Only this thread uses them.
      nonisolated(unsafe) var sequence: EventSequence<EventBus.Received<Carrier>>? = bus.events(
        Carrier.self, buffering: buffering)
      nonisolated(unsafe) var iterator = sequence?.makeAsyncIterator()
      let things = (0..<2).map { _ in
        let thing = Thing()
        bus.post(Carrier(thing: thing))
        return WeakThing(thing)
      }
      #expect(things.allSatisfy { $0.thing != nil })
      // Another post to the type keeps the iterator's buffer.
      let inner = bus.subscribe(to: Carrier.self) { _ in
        _ = iterator?.nextIfHeld()
        (sequence, iterator) = (nil, nil)
        #expect(things.allSatisfy { $0.thing == nil })
        isChecked.withLock { $0 = true }
      }
      bus.post(Carrier(thing: Thing()))
      withExtendedLifetime(inner) {}
    }
    bus.post(Tick())
    #expect(isChecked.withLock { $0 })
    withExtendedLifetime(subscription) {}
  }

  private struct Kept: BusEvent, StickyEvent {
    let thing: Thing
  }

  @Test func `Rule 13: a subscription that is kept does not keep the latest event of a bus that is gone`() {
    var bus: EventBus? = EventBus()
    let subscription = bus?.subscribe(to: Tick.self) { _ in }
    weak var thing: Thing?
    do {
      let new = Thing()
      thing = new
      bus?.post(Kept(thing: new))
    }
    #expect(thing != nil)
    bus = nil
    #expect(thing == nil)
    withExtendedLifetime(subscription) {}
  }
}
