import Dispatch
import PubSub
import Testing

/// Counts atomically enough for a test.
private final class Count: Sendable {
  private let value = Guarded(0)
  func add(_ number: Int) { value.withLock { $0 += number } }
  var total: Int { value.withLock { $0 } }
}

private final class Flag: Sendable {
  private let value = Guarded(false)
  func set() { value.withLock { $0 = true } }
  var isSet: Bool { value.withLock { $0 } }
}

/// What a handler captures: it must be there while the handler runs, and gone in the end.
private final class Captured: Sendable {
  private let state = Guarded((isDrained: false, isAlive: true))
  private let living: Count

  init(_ living: Count) {
    self.living = living
    living.add(1)
  }

  deinit {
    state.withLock { $0.isAlive = false }
    living.add(-1)
  }

  func drained() { state.withLock { $0.isDrained = true } }

  /// Whether a delivery is right now.
  var mayBeDelivered: Bool { state.withLock { $0.isAlive && !$0.isDrained } }
}

@Suite(.serialized) struct `Threads that post, subscribe, cancel and release at random` {
  private static let operations = 3_000

  @Test(arguments: 0..<6)
  func `lose nothing, double nothing, and leave nothing behind`(round: Int) async {
    let seed = UInt64.random(in: .min ... .max)
    print("StressTests: round \(round), seed \(seed)")
    let (living, wrong, posted, received) = (Count(), Count(), Count(), Count())
    do {
      let bus = EventBus()
      let subjects = (0..<4).map { _ in Thing() }
      // One that stands all the time gets every event exactly once.
      let constant = bus.subscribe(to: Tick.self) { _ in received.add(1) }
      await withTaskGroup { group in
        for thread in 0..<4 {
          group.addTask {
            await Self.onThread {
              Self.run(
                bus, subjects, seed: seed &+ UInt64(thread), living: living, wrong: wrong, posted: posted)
            }
          }
        }
      }
      withExtendedLifetime(constant) {}
    }
    #expect(received.total == posted.total, "seed \(seed)")
    #expect(wrong.total == 0, "no delivery after a drained cancel, none to what is gone; seed \(seed)")
    #expect(living.total == 0, "everything that was captured is released; seed \(seed)")
  }

  @Test func `Rule 6: a drained handler is not running, whoever posts`() async {
    let seed = UInt64.random(in: .min ... .max)
    print("StressTests: drain, seed \(seed)")
    let bus = EventBus()
    let (living, wrong) = (Count(), Count())
    let isOver = Flag()
    await withTaskGroup { group in
      for _ in 0..<2 { group.addTask { await Self.onThread { while !isOver.isSet { bus.post(Tick()) } } } }
      for _ in 0..<400 {
        let captured = Captured(living)
        let subscription = bus.subscribe(to: Tick.self) { _ in if !captured.mayBeDelivered { wrong.add(1) } }
        await subscription.cancelAndDrain()
        captured.drained()
      }
      isOver.set()
    }
    #expect(wrong.total == 0)
  }

  /// On a thread of its own: what runs here must be preempted, not only interleaved where it waits.
  private static func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        body()
        continuation.resume()
      }
    }
  }

  private static func run(
    _ bus: EventBus, _ subjects: [Thing], seed: UInt64, living: Count, wrong: Count, posted: Count
  ) {
    var random = SplitMix64(seed: seed)
    var subscriptions: [Subscription] = []
    var owners: [Captured] = []
    for _ in 0..<operations {
      switch Int.random(in: 0..<12, using: &random) {
      case 0...4:
        bus.post(Tick(), from: Bool.random(using: &random) ? subjects.randomElement(using: &random) : nil)
        posted.add(1)
      case 5, 6:
        let captured = Captured(living)
        let nests = Int.random(in: 0..<20, using: &random) == 0
        bus.subscribe(
          to: Tick.self,
          from: Int.random(in: 0..<3, using: &random) == 0 ? subjects.randomElement(using: &random) : nil,
          priority: Int.random(in: 0..<8, using: &random) == 0 ? .high : .normal
        ) { _ in
          if !captured.mayBeDelivered { wrong.add(1) }
          if nests { bus.post(Tock()) }
        }.store(in: &subscriptions)
      case 7:
        let captured = Captured(living)
        owners.append(captured)
        bus.subscribe(captured, to: Tick.self) { owner, _ in if !owner.mayBeDelivered { wrong.add(1) } }
      case 8:
        let captured = Captured(living)
        bus.subscribe(to: Tock.self) { _ in if !captured.mayBeDelivered { wrong.add(1) } }.store(in: &subscriptions)
      case 9: if !owners.isEmpty { owners.swapAt(0, owners.count - 1); owners.removeLast() }
      case 10:
        // In no order: a random one goes.
        if !subscriptions.isEmpty {
          subscriptions.swapAt(Int.random(in: 0..<subscriptions.count, using: &random), subscriptions.count - 1)
          subscriptions.removeLast()
        }
      default: if subscriptions.count > 20 { subscriptions.removeFirst(15) }
      }
    }
  }
}
