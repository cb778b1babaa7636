import PubSub
import Scheduling
internal import Synchronization

/// What all workers of one round share: the bus, the ledgers, the subscribers, and what went wrong.
final class StressContext: @unchecked Sendable {
  /// Set once, and let go of when the work is done, if the round ends with its bus.
  private(set) var bus: EventBus!
  let posters: Int
  let ledgers: [Ledger]
  let pool: Pool
  private let subjects: Guarded<[Subject]>
  private let nextSubject = Atomic(1)
  private let living = Guarded<(count: Int, most: Int, waiter: CheckedContinuation<Void, Never>?)>((0, 0, nil))
  private let failures = Guarded<[String]>([])
  private let deliveries = Atomic(0)
  private let subscriptions = Atomic(0)
  private let isOver = Atomic(false)

  init(bus: EventBus, posters: Int, poolSize: Int) {
    self.bus = bus
    self.posters = posters
    ledgers = (0..<Channel.count).map { _ in Ledger(posters: posters) }
    pool = Pool(limit: poolSize)
    subjects = Guarded([])
    for _ in 0..<4 { replaceSubject(0) }
  }

  /// No worker works any more: handlers do nothing besides.
  func endWork() { isOver.store(true, ordering: .releasing) }

  var isWorking: Bool { !isOver.load(ordering: .acquiring) }

  func releaseBus() { bus = nil }

  /// One of the subjects.
  func subject(_ random: UInt64) -> Subject { subjects.withLock { $0[Int(random % UInt64($0.count))] } }

  /// Lets go of a subject; a thread that posts from it keeps it a little longer.
  func replaceSubject(_ random: UInt64) {
    let new = Subject(identity: nextSubject.add(1, ordering: .relaxed).oldValue, posters: posters)
    // Released without the lock.
    let former = subjects.withLock { subjects -> Subject? in
      guard subjects.count == 4 else {
        subjects.append(new)
        return nil
      }
      let index = Int(random % 4)
      defer { subjects[index] = new }
      return subjects[index]
    }
    withExtendedLifetime(former) {}
  }

  // MARK: Counting

  var totals: (deliveries: Int, subscriptions: Int, mostLiving: Int) {
    (deliveries.load(ordering: .relaxed), subscriptions.load(ordering: .relaxed), living.withLock { $0.most })
  }

  func count(deliveries count: Int) { deliveries.add(count, ordering: .relaxed) }

  func add(living change: Int) {
    if change > 0 { subscriptions.add(1, ordering: .relaxed) }
    let waiter = living.withLock { living -> CheckedContinuation<Void, Never>? in
      living.count += change
      living.most = max(living.most, living.count)
      guard living.count == 0 else { return nil }
      defer { living.waiter = nil }
      return living.waiter
    }
    waiter?.resume()
  }

  /// Returns when nothing lives that a handler captured.
  func allAreGone() async {
    await withCheckedContinuation { continuation in
      let isSo = living.withLock { living in
        if living.count > 0 { living.waiter = continuation }
        return living.count == 0
      }
      if isSo { continuation.resume() }
    }
  }

  // MARK: What went wrong

  func fail(_ sentence: String) { failures.withLock { if $0.count < 20 { $0.append(sentence) } } }

  var allFailures: [String] { failures.withLock { $0 } }
}

/// The subscriptions that stand, from which any thread may take one to cancel it.
final class Pool: Sendable {
  /// A subscription, or an owner that keeps one.
  struct Held: Sendable {
    var subscription: EventBus.Subscription?
    let witness: Witness
  }

  private let shards: [GuardedArray]
  let limit: Int

  final class GuardedArray: Sendable {
    let held = Guarded<[Held]>([])
  }

  init(limit: Int) {
    self.limit = limit
    shards = (0..<8).map { _ in GuardedArray() }
  }

  func add(_ held: Held, _ random: UInt64) { shards[Int(random % 8)].held.withLock { $0.append(held) } }

  func take(_ random: UInt64) -> Held? {
    shards[Int(random % 8)].held.withLock { held in
      guard !held.isEmpty else { return nil }
      held.swapAt(Int((random / 8) % UInt64(held.count)), held.count - 1)
      return held.removeLast()
    }
  }

  /// Whether so many stand where a subscription would be added that one should be taken instead.
  func isFull(_ random: UInt64) -> Bool { shards[Int(random % 8)].held.withLock { $0.count * 8 >= limit } }

  func takeAll() -> [Held] {
    shards.flatMap { shard in
      shard.held.withLock { held in
        defer { held = [] }
        return held
      }
    }
  }
}
