#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
package import PubSub
import Scheduling

/// Threads and tasks that post, subscribe, cancel, drain and release at random, until each has done so much.
package struct StressRound: Sendable {
  package var seed: UInt64
  /// How many threads there are at a time; each is replaced by a new one now and then.
  package var threads = 3
  package var tasks = 2
  /// How much each of them does.
  package var operations = 2_000

  package init(seed: UInt64) { self.seed = seed }

  /// What was done, and what was wrong with it.
  package struct Outcome: Sendable {
    package var posts = 0
    package var deliveries = 0
    package var subscriptions = 0
    package var cancels = 0
    /// The most handlers that stood or waited to be released.
    package var mostLiving = 0
    package var failures: [String] = []

    /// Nothing yet.
    package init() {}
  }

  /// Runs on a bus, or on one of its own that is released while others still subscribe.
  ///
  /// When it returns, there is no subscriber any more, and what the handlers had captured is gone.
  package func run(on bus: EventBus? = nil) async -> Outcome {
    var random = SplitMix64(seed: seed)
    let count = threads + tasks
    // The last poster is the one that ends the round.
    let context = StressContext(
      bus: bus ?? EventBus(), posters: count + 1, poolSize: [8, 64, 400][Int(random.next() % 3)])
    let posters = (0...count).map { Poster($0, context, seed: random.next()) }
    let last = posters[count]
    var constants = keepConstants(context)
    await withTaskGroup { group in
      for poster in posters[..<threads] { group.addTask { await Self.runThreads(poster, operations) } }
      for poster in posters[threads..<count] { group.addTask { await Self.runTask(poster, operations) } }
    }
    context.endWork()
    await flush(context, last)
    for poster in posters { poster.finish() }
    context.releaseBus()
    await end(context, last, &constants)
    await context.allAreGone()
    let (deliveries, subscriptions, mostLiving) = context.totals
    var outcome = Outcome()
    outcome.posts = posters.map(\.posts).reduce(0, +)
    outcome.deliveries = deliveries
    outcome.subscriptions = subscriptions
    outcome.cancels = posters.map(\.cancels).reduce(0, +)
    outcome.mostLiving = mostLiving
    outcome.failures = context.allFailures
    return outcome
  }

  /// Those that stand from the beginning to the end see everything.
  private func keepConstants(_ context: StressContext) -> [Pool.Held] {
    let bus: EventBus = context.bus
    func held(_ witness: Witness, _ subscription: EventBus.Subscription) -> Pool.Held {
      witness.didSubscribe(subscription)
      return .init(subscription: subscription, witness: witness)
    }
    let plain = Witness(context, "constant plain", .synchronous, channels: Channel.plain..<Channel.plain + 1)
    let mailbox = Witness(context, "constant mailbox", .mailbox, channels: Channel.plain..<Channel.plain + 1)
    let all = Witness(context, "constant all", .synchronous, channels: 0..<Channel.count)
    let divers = Witness(
      context, "constant divers", .synchronous, channels: Channel.deep..<Channel.deep + Channel.levels)
    return [
      held(plain, bus.subscribe(to: Plain.self) { plain.receive($0.stamp) }),
      held(mailbox, bus.receive(Plain.self) { (event: Plain) async in mailbox.receive(event.stamp) }),
      held(
        all,
        bus.subscribeToAll { (event: any EventBus.Event) throws -> Void in
          if let event = event as? any StampedEvent { all.receive(event.stamp) }
        }),
      held(
        divers,
        bus.subscribe(to: Deep.self) { event in
          divers.receive(event.stamp)
          let level = event.stamp.channel - Channel.deep
          if level + 1 < Channel.levels { event.stamp.poster.dive(to: level + 1) }
        }),
    ]
  }
}

// MARK: - Workers

extension StressRound {
  /// One thread after another, each for a while: records are given back and taken over.
  private static func runThreads(_ poster: Poster, _ operations: Int) async {
    var left = operations
    while left > 0 {
      let share = min(left, 50 + poster.draw(500))
      left -= share
      await onThread { for _ in 0..<share { act(poster) } }
    }
  }

  private static func onThread(_ body: @escaping @Sendable () -> Void) async {
    let handOver = HandOver()
    await withCheckedContinuation { continuation in
      WorkerThread.start {
        body()
        handOver.pass()
        continuation.resume()
      }
    }
    handOver.pass()
  }

  /// Orders what a thread did before the thread that goes on after it.
  ///
  /// The continuation sees to that by itself; but where it is resumed before it is awaited, ThreadSanitizer does not see it.
  private final class HandOver: Sendable {
    private let lock = Guarded(())
    func pass() { lock.withLock { _ in } }
  }

  /// What threads and tasks do alike.
  private static func act(_ poster: Poster) {
    let context = poster.context
    switch poster.draw(100) {
    case 0..<50: poster.post()
    case 50..<53: poster.dive()
    case 53..<76: if context.pool.isFull(poster.draw()) { poster.cancelAnother() } else { poster.subscribe() }
    case 76..<97: poster.cancelAnother()
    case 97: context.replaceSubject(poster.draw())
    case 98: if poster.draw(20) == 0 { _ = context.bus.subscriptions }
    default:
      guard poster.draw(10) == 0 else { break }
      let tracing = context.bus.trace { _ in }
      let observer = context.bus.subscribe(to: EventBus.Undelivered.self) { _ in }
      poster.post()
      withExtendedLifetime((tracing, observer)) {}
    }
  }

  private static func runTask(_ poster: Poster, _ operations: Int) async {
    for _ in 0..<operations / 4 {
      switch poster.draw(10) {
      case 0, 1: await poster.drainAnother()
      case 2: await poster.postAndWait(Plain.self, Channel.plain)
      case 3:
        let subject = poster.context.subject(poster.draw())
        await poster.postAndWait(Plain.self, Channel.plain, from: subject)
      case 4: await poster.postAndWait(Kept.self, Channel.kept)
      case 5: await poster.iterate()
      default: act(poster)
      }
    }
  }
}

// MARK: - The end

extension StressRound {
  /// Has every mailbox handle what it holds.
  private func flush(_ context: StressContext, _ last: Poster) async {
    await last.postAndWait(Plain.self, Channel.plain)
    await last.postAndWait(Kept.self, Channel.kept)
  }

  private func end(_ context: StressContext, _ last: Poster, _ constants: inout [Pool.Held]) async {
    var rest = context.pool.takeAll() + constants
    constants = []
    while let held = rest.popLast() {
      if held.witness.subject == 0 { held.witness.didFlush() }
      held.witness.willCancel()
      guard let subscription = held.subscription else { continue }
      switch last.draw(3) {
      case 0: subscription.cancel()
      case 1: await subscription.cancelAndDrain()
      default: break
      }
    }
  }
}

/// Threads of the operating system's, each for one piece of work.
enum WorkerThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  static func start(_ run: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, &attributes,
      { argument in
        Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(Body(run)).toOpaque())
    precondition(status == 0, "no thread could be started")
    pthread_attr_destroy(&attributes)
  }
}
