#if PUBSUB_HOOKS
  import CPubSub
  import Scheduling

  @testable import PubSub

  /// What some threads do with one bus or two, and what the contract says of it afterwards.
  ///
  /// Every post and every change is noted with its time, so that for each post and each subscription is known whether the one
  /// must, may or must not have reached the other. One thread runs at a time, so nothing here is guarded.
  final class World: @unchecked Sendable {
    /// One subscription.
    final class Watched: @unchecked Sendable {
      let name: String
      let priority: EventBus.Priority
      let subject: Thing?
      let bus: Int
      fileprivate var subscription: EventBus.Subscription?
      fileprivate var subscribing = 0
      fileprivate var subscribed = 0
      fileprivate var subscriber: Int?
      fileprivate var cancelling: Int?
      fileprivate var cancelled: Int?
      fileprivate var canceller: Int?
      fileprivate var isDrained = false
      fileprivate var isReleased = false
      /// How many calls of its handler are under way.
      fileprivate var running = 0

      fileprivate init(_ name: String, _ priority: EventBus.Priority, _ subject: Thing?, _ bus: Int) {
        self.name = name
        self.priority = priority
        self.subject = subject
        self.bus = bus
      }
    }

    /// What a handler captures; its end is the subscription's last.
    private final class Captured: Sendable {
      private let watched: Watched
      private let world: Unmanaged<World>
      init(_ watched: Watched, _ world: World) {
        self.watched = watched
        self.world = .passUnretained(world)
        world.living += 1
      }
      deinit {
        watched.isReleased = true
        let world = world.takeUnretainedValue()
        world.living -= 1
        if watched.running > 0 { world.fail("\(watched.name) was released while its handler ran") }
      }
    }

    struct Post {
      let number: Int
      let subject: Thing?
      let bus: Int
      let thread: Int?
      let begun: Int
      var ended = Int.max
    }

    private struct Call {
      let number: Int
      let watched: Watched
      let time: Int
    }

    private(set) var buses: [EventBus?]
    private var time = 0
    private(set) var posts: [Post] = []
    private var watched: [Watched] = []
    private var calls: [Call] = []
    fileprivate var living = 0
    /// The iterators that threads have made.
    var readers: [Reader] = []
    private var kept: [EventBus.Subscription?] = []
    var asking: EventBus.Subscription?
    /// What the posts are: events of a sticky type, or of one that is not.
    let isSticky: Bool
    private(set) var failures: [String] = []
    /// What each thread does.
    var bodies: [() -> Void] = []

    init(buses: Int = 1, isSticky: Bool = false) {
      self.buses = (0..<buses).map { _ in EventBus() }
      self.isSticky = isSticky
    }

    func fail(_ message: String) { failures.append(message) }

    /// Keeps a subscription that is not judged.
    func keep(_ subscription: EventBus.Subscription?) { kept.append(subscription) }

    func now() -> Int {
      time += 1
      return time
    }
  }

  // MARK: - What threads do

  extension World {
    @discardableResult
    func subscribe(
      _ name: String, _ priority: EventBus.Priority = .normal, from subject: Thing? = nil, on bus: Int = 0,
      isPlain: Bool = true,
      _ inside: (() -> Void)? = nil
    ) -> Watched {
      let new = Watched(name, priority, subject, bus)
      watched.append(new)
      new.subscriber = Interleaver.thread
      new.subscribing = now()
      let inside = UncheckedClosure(body: inside)
      new.subscription = buses[bus]?.subscribe(
        to: Tick.self, from: subject, priority: priority, label: isPlain ? nil : name
      ) { [unowned self, new, captured = Captured(new, self)] tick in
        // Captured, and not looked at: a mistake is to be counted, not crashed at.
        _ = captured
        call(new, tick.number, inside.body)
      }
      new.subscribed = now()
      return new
    }

    /// Subscribes a handler that captures nothing, and cancels it: no check looks whether its place is read.
    func comeAndGo() {
      guard let bus = buses[0] else { return }
      // In a debug build a closure captures another one: how it is called.
      let nothing: @convention(c) (UnsafeRawPointer) -> Void = { _ in }
      let handler = pubsub_handler(function: unsafeBitCast(nothing, to: UnsafeRawPointer.self), context: nil)
      BusCore.subscribePlainly(handler, .normal, #fileID, #line, to: bus.core.store(of: Tick.self)).cancel()
    }

    /// A closure that threads take turns with.
    private struct UncheckedClosure: @unchecked Sendable { let body: (() -> Void)? }

    private func call(_ watched: Watched, _ number: Int, _ inside: (() -> Void)?) {
      calls.append(Call(number: number, watched: watched, time: now()))
      watched.running += 1
      for isLater in [false, true] {
        if watched.isReleased { fail("\(watched.name) was called although it had been released") }
        if watched.isDrained { fail("\(watched.name) ran although it had been drained (rule 6)") }
        guard !isLater else { break }
        Interleaver.step("in a handler")
        inside?()
      }
      watched.running -= 1
    }

    func post(_ number: Int, from subject: Thing? = nil, on bus: Int = 0) {
      let place = posts.count
      posts.append(Post(number: number, subject: subject, bus: bus, thread: Interleaver.thread, begun: now()))
      if isSticky {
        buses[bus]?.post(LevelDidChange(level: number), from: subject)
      } else {
        buses[bus]?.post(Tick(number: number), from: subject)
      }
      posts[place].ended = now()
    }

    func cancel(_ watched: Watched) {
      watched.cancelling = watched.cancelling ?? now()
      watched.subscription?.cancel()
      guard watched.cancelled == nil else { return }
      watched.cancelled = now()
      watched.canceller = Interleaver.thread
    }

    /// Cancels, and waits as `cancelAndDrain` does, but with its thread.
    func cancelAndDrain(_ watched: Watched) {
      cancel(watched)
      let isIdle = UncheckedFlag()
      watched.subscription?.whenIdle { isIdle.isSet = true }
      Interleaver.wait { isIdle.isSet }
      watched.isDrained = true
      if watched.running > 0 { fail("\(watched.name) was drained while its handler ran (rule 6)") }
    }

    private final class UncheckedFlag: @unchecked Sendable { var isSet = false }

    /// Posts to a subscriber to everything alone, while another thread cancels that one.
    func postUndelivered() {
      guard let bus = buses[0] else { return }
      let (received, isReported) = (UncheckedFlag(), UncheckedFlag())
      keep(bus.subscribeToAll { if $0 is Tick { received.isSet = true } })
      keep(bus.subscribe(to: EventBus.Undelivered.self) { _ in isReported.isSet = true })
      bodies = [
        { [self] in
          post(1)
          if !received.isSet, !isReported.isSet { fail("post 1 reached no handler, and was not reported (rule 19)") }
        }, { [self] in kept[0]?.cancel() },
      ]
    }

    /// Releases a tracer, while another thread subscribes to a type of which the bus knows nothing, and adds a tracer.
    func exchangeTracers() {
      guard let bus = buses[0] else { return }
      let first = Guarded<EventBus.TracerToken?>(bus.trace { _ in })
      let hears = UncheckedFlag()
      bodies = [
        { _ = first.withLock { $0.take() } },
        { [self] in
          guard let bus = buses[0] else { return }
          keep(bus.subscribe(to: Tick.self) { _ in })
          let second = bus.trace { if $0 is Tick { hears.isSet = true } }
          post(1)
          if !hears.isSet { fail("post 1 reached no tracer (rule 19)") }
          withExtendedLifetime(second) {}
        },
      ]
    }

    /// Lets go of a bus: that ends its subscriptions.
    func release(bus: Int) {
      for watched in watched where watched.bus == bus { watched.cancelling = watched.cancelling ?? now() }
      var former = buses[bus]
      buses[bus] = nil
      // No other thread is to find it half gone.
      if former != nil { former = nil }
      for watched in watched where watched.bus == bus { watched.cancelled = watched.cancelled ?? now() }
    }
  }

  // MARK: - What the contract says

  extension World {
    /// Judges after all threads have ended; what is found is added to the failures.
    func judge() {
      for post in posts {
        for watched in watched where watched.bus == post.bus { judge(post, watched) }
        judgeOrder(post)
      }
      judgeReaders()
      judgeReleases()
    }

    private func judge(_ post: Post, _ watched: Watched) {
      let calls = calls.filter { $0.number == post.number && $0.watched === watched }
      let isMeant = watched.subject == nil || watched.subject === post.subject
      // Another thread's post may be said to begin later than it did, but not once it has reached a handler.
      let hasReached = self.calls.first { $0.number == post.number }?.time ?? .max
      let isTooLate = watched.subscribing > (watched.subscriber == post.thread ? post.begun : hasReached)
      // Of a post under way when it was cancelled, the rest is not for it if that was done by the poster.
      let isOver = calls.contains { watched.canceller == post.thread && $0.time > watched.cancelled ?? .max }
      let mustNot =
        !isMeant || (watched.cancelled ?? .max) < post.begun || watched.subscribing > post.ended || isTooLate || isOver
      let must = isMeant && watched.subscribed < post.begun && (watched.cancelling ?? .max) > post.ended
      if calls.count > 1 { fail("post \(post.number) reached \(watched.name) \(calls.count) times") }
      if !calls.isEmpty, mustNot { fail("post \(post.number) reached \(watched.name) and must not (rules 5, 6, 20)") }
      if calls.isEmpty, must { fail("post \(post.number) missed \(watched.name) (rule 11)") }
    }

    private func judgeOrder(_ post: Post) {
      let called = calls.filter { $0.number == post.number }.map(\.watched)
      for (one, next) in zip(called, called.dropFirst()) {
        let isEarlier = one.priority == next.priority && next.subscribed < one.subscribing
        if one.priority < next.priority || isEarlier { fail("post \(post.number) was delivered out of order (rule 1)") }
      }
    }

    private func judgeReleases() {
      for watched in watched where (watched.cancelled != nil) != watched.isReleased {
        fail("\(watched.name) was \(watched.isReleased ? "released too early" : "never released")")
      }
      let cores = buses.compactMap { $0.map { WeakReference($0.core) } }
      for index in buses.indices { buses[index] = nil }
      for watched in watched { watched.subscription = nil }
      kept = []
      readers = []
      if living != 0 { fail("\(living) handlers are left when all is gone") }
      if cores.contains(where: { $0.object != nil }) { fail("a bus is left when all is gone") }
    }
  }
#endif
