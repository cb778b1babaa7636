import Dispatch
import Foundation
import TestTraits
import Testing

@testable import PubSub

@Suite struct `What a post under way keeps` {
  /// What a handler captures; tells when it goes.
  private final class Captured: Sendable {
    private let log: Log<String>
    init(_ log: Log<String>) { self.log = log }
    func use() { log.add("used") }
    deinit { log.add("released") }
  }

  @Test func `a handler that runs keeps what it captured, although another thread cancels it`() async {
    let bus = EventBus()
    let log = Log<String>()
    let (begun, ended, mayEnd) = (Gate(), Gate(), DispatchSemaphore(value: 0))
    var captured: Captured? = Captured(log)
    let subscription = bus.subscribe(to: Tick.self) { [captured] _ in
      begun.open()
      mayEnd.wait()
      captured?.use()
    }
    captured = nil
    Thread.detachNewThread {
      bus.post(Tick())
      ended.open()
    }
    await begun.wait()
    subscription.cancel()
    #expect(log.all.isEmpty)
    mayEnd.signal()
    await ended.wait()
    #expect(log.all == ["used", "released"])
  }

  /// Runs a post on a thread of its own, in which one handler follows another, and drains the first while the second
  /// waits for that drain.
  @Test(.timeLimit(.hang), arguments: [true, false])
  func `Rule 6: a drain does not wait for other handlers of a post`(hasOwner: Bool) async {
    let bus = EventBus()
    let (isInSecond, ended, mayEnd) = (Gate(), Gate(), DispatchSemaphore(value: 0))
    let owner = Thing()
    let first: any Cancellable =
      hasOwner
      ? bus.subscribe(to: Tick.self, for: owner) { _, _ in }.registration : bus.subscribe(to: Tick.self) { _ in }
    let second = bus.subscribe(to: Tick.self) { _ in
      isInSecond.open()
      mayEnd.wait()
    }
    let third = bus.subscribe(to: Tick.self) { _ in }
    Thread.detachNewThread {
      bus.post(Tick())
      ended.open()
    }
    await isInSecond.wait()
    first.cancel()
    await first.drain()
    await third.cancelAndDrain()
    mayEnd.signal()
    await ended.wait()
    withExtendedLifetime((second, owner)) {}
  }

  /// The walk that gives the event to the sequence has passed the second handler before the first one is called.
  @Test func `Rule 6: what a handler captured is released, though the post has given its event to a sequence`() {
    let bus = EventBus()
    let subject = Thing()
    var captured: Thing? = Thing()
    weak let released = captured
    let events = bus.events(Tick.self, priority: .low).makeAsyncIterator()
    let second = bus.subscribe(to: Tick.self, from: subject) { [captured] _ in withExtendedLifetime(captured) {} }
    captured = nil
    let isReleased = Log<Bool>()
    let canceller = bus.subscribe(to: Tick.self, priority: .high) { _ in
      second.cancel()
      isReleased.add(released == nil)
    }
    bus.post(Tick(), from: subject)
    withExtendedLifetime((events, canceller, subject)) {}
    #expect(isReleased.all == [true])
  }

  /// The drain begins while the first handler runs.
  ///
  /// The second handler waits for the drain.
  @Test(.timeLimit(.hang), arguments: [false, true], [false, true])
  func `Rule 6: a drain ends with the run of its handler, and not with the post`(
    fromSubject: Bool, isReversed: Bool
  ) async {
    let event: any BusEvent = if isReversed { TearDown() } else { Tick() }
    await drainFirst(event, from: fromSubject ? Thing() : nil, isReversed: isReversed)
  }

  private func drainFirst<E: BusEvent>(_ event: E, from subject: Thing?, isReversed: Bool) async {
    let bus = EventBus()
    let log = Log<String>()
    let (isInFirst, ended) = (Gate(), Gate())
    let (firstMayEnd, isDrained) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let slow = {
      bus.subscribe(to: E.self, from: subject) { (_: E) in
        isInFirst.open()
        firstMayEnd.wait()
        log.add("first")
      }
    }
    let waiting = {
      bus.subscribe(to: E.self) { (_: E) in
        isDrained.wait()
        log.add("second")
      }
    }
    let subscriptions = isReversed ? [waiting(), slow()].reversed() : [slow(), waiting()]
    Thread.detachNewThread {
      bus.post(event, from: subject)
      ended.open()
    }
    await isInFirst.wait()
    subscriptions[0].cancel()
    async let drained: Void = subscriptions[0].cancelAndDrain()
    firstMayEnd.signal()
    await drained
    log.add("drained")
    isDrained.signal()
    await ended.wait()
    #expect(log.all == ["first", "drained", "second"])
  }

  /// Starts a thread that posts, and may end inside a handler; the caller keeps the bus.
  private static func startThread(on bus: EventBus) -> pthread_t {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { bus in
        Unmanaged<EventBus>.fromOpaque(bus!).takeUnretainedValue().post(Tick())
        return nil
      }, Unmanaged.passUnretained(bus).toOpaque())
    return thread
  }

  /// In a process of its own, which ends without a look for leaks: what the frames of the ended thread held is lost.
  @Test func `Rule 6: a thread that ends inside a handler keeps nothing`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let bus = EventBus()
      let log = Log<String>()
      let subscription = bus.subscribe(to: Tick.self) { [captured = Captured(log)] _ in
        captured.use()
        pthread_exit(nil)
      }
      let thread = `What a post under way keeps`.startThread(on: bus)
      pthread_join(thread, nil)
      subscription.cancel()
      // In the portable build those frames hold a reference to what was captured.
      _exit(log.all == (Calling.isDirect ? ["used", "released"] : ["used"]) ? 0 : 1)
    }
  }

  @Test func `Rule 6: a drain returns when the thread of its handler ends inside it`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let bus = EventBus()
      let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let log = Log<String>()
      let ending = bus.subscribe(to: Tock.self) { _ in
        hasBegun.signal()
        mayEnd.wait()
        pthread_exit(nil)
      }
      let outer = bus.subscribe(to: Tick.self) { _ in bus.post(Tock()) }
      let thread = `What a post under way keeps`.startThread(on: bus)
      hasBegun.wait()
      for (name, subscription) in [("inner", ending), ("outer", outer)] {
        subscription.cancel()
        subscription.whenIdle { log.add(name) }
      }
      log.add("waiting")
      mayEnd.signal()
      pthread_join(thread, nil)
      _exit(log.all == ["waiting", "inner", "outer"] ? 0 : 1)
    }
  }

  /// Otherwise the next thread would announce its nested posts where no writer looks for them.
  @Test func `Rule 6: a thread that ends inside a nested post leaves its number of posts to no other`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let bus = EventBus()
      let depths = Log<Int>()
      let ending = bus.subscribe(to: Tock.self) { _ in
        depths.add(EventBus.depthOfPosts)
        pthread_exit(nil)
      }
      let nested = bus.subscribe(to: Tick.self) { _ in bus.post(Tock()) }
      func runThread(_ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) {
        var thread = pthread_t()
        pthread_create(&thread, nil, body, Unmanaged.passUnretained(bus).toOpaque())
        pthread_join(thread, nil)
      }
      runThread { bus in
        Unmanaged<EventBus>.fromOpaque(bus!).takeUnretainedValue().post(Tick())
        return nil
      }
      nested.cancel()
      let outer = bus.subscribe(to: Tick.self) { _ in depths.add(EventBus.depthOfPosts) }
      runThread { bus in
        guard EventBus.subjectOfPost == nil else { return nil }
        Unmanaged<EventBus>.fromOpaque(bus!).takeUnretainedValue().post(Tick())
        return nil
      }
      ending.cancel()
      outer.cancel()
      _exit(depths.all == [2, 1] ? 0 : 1)
    }
  }
}
