import Foundation
import PubSub
import Scheduling
import StressEngine
import Synchronization
import TestTraits
import Testing

private final class Flag: Sendable {
  private let value = Guarded(false)
  func set() { value.withLock { $0 = true } }
  var isSet: Bool { value.withLock { $0 } }
}

private final class Counter: Sendable {
  let value = Atomic(0)
}

/// What a handler captures, and what may no longer be called once it is drained.
private final class Captured: Sendable {
  private let isDrained = Flag()
  func drained() { isDrained.set() }
  var mayBeDelivered: Bool { !isDrained.isSet }
}

/// The same as `swift run Stress` does for as long as it is told to, a few rounds of it.
@Suite(.longRunning, .serialized) struct `Threads and tasks that post, subscribe, cancel, drain and release at random` {
  @Test(arguments: [true, false])
  func `lose nothing, double nothing, and leave nothing behind`(onOneBus: Bool) async {
    let seed = UInt64.random(in: .min ... .max)
    print("StressTests: seed \(seed)")
    let bus = onOneBus ? EventBus() : nil
    for number in UInt64(0)..<3 {
      var round = StressRound(seed: seed &+ number)
      round.operations = 500
      let outcome = await round.run(on: bus)
      #expect(outcome.failures == [], "seed \(seed &+ number)")
      #expect(outcome.deliveries > 1_000)
    }
    #expect(bus?.subscriptions.count ?? 0 == 0)
  }

  @Test(arguments: Multitude.Order.allCases)
  func `A hundred thousand subscribers come, are delivered to, and go in any order`(order: Multitude.Order) {
    let seed = UInt64.random(in: .min ... .max)
    print("StressTests: multitude, seed \(seed)")
    let failures = Multitude(count: 100_000, order: order, seed: seed).run(on: EventBus())
    #expect(failures == [], "seed \(seed)")
  }

  @Test func `Rule 6: a drained handler is not running, whichever threads post`() async {
    let bus = EventBus()
    let (isOver, wasWrong) = (Flag(), Flag())
    await withTaskGroup { group in
      for _ in 0..<2 { group.addTask { await Self.onThread { while !isOver.isSet { bus.post(Tick()) } } } }
      for _ in 0..<400 {
        let captured = Captured()
        let subscription = bus.subscribe(to: Tick.self) { _ in if !captured.mayBeDelivered { wasWrong.set() } }
        await subscription.cancelAndDrain()
        captured.drained()
      }
      isOver.set()
    }
    #expect(!wasWrong.isSet)
  }

  /// A poster may be stopped in the middle of a post; then a try fails, which happens on a busy machine.
  ///
  /// Hence several batches: in one of them 95 tries of 100 succeed, and in half of them every other one. A batch in which the poster stands still
  /// does not count. Beside much other work the poster is often stopped, and more batches are needed.
  @Test func `Rule 6: under a poster that never pauses, what a handler captured is gone when cancel() returns`() async {
    let bus = EventBus()
    let isOver = Flag()
    let posts = Counter()
    let others = (0..<10).map { _ in bus.subscribe(to: Tick.self) { _ in posts.value.add(1, ordering: .relaxed) } }
    await withTaskGroup { group in
      group.addTask {
        await Self.onThread { while !isOver.isSet { for number in 0..<1_000 { bus.post(Tick(number: number)) } } }
      }
      group.addTask {
        await Self.onThread {
          var batches: [Int] = []
          while batches.count < 20 || batches.count < 200 && batches.max() ?? 0 < 95 {
            var (sum, isCounted) = (0, true)
            for _ in 0..<10 {
              let before = posts.value.load(ordering: .relaxed)
              sum += Self.promptReleases(of: 10, on: bus)
              isCounted = isCounted && posts.value.load(ordering: .relaxed) != before
            }
            if isCounted { batches.append(sum) } else { sched_yield() }
          }
          let sorted = batches.sorted()
          let (best, median) = (sorted.last ?? 0, sorted[sorted.count / 2])
          print("StressTests: of 100 tries released when cancel() returned: median \(median), best \(best)")
          #expect(best >= 95)
          #expect(median >= 50)
          isOver.set()
        }
      }
    }
    withExtendedLifetime(others) {}
  }

  /// In how many of so many tries what was captured was gone when `cancel()` returned.
  private static func promptReleases(of tries: Int, on bus: EventBus) -> Int {
    (0..<tries).count { _ in
      var captured: Captured? = Captured()
      weak let watched = captured
      let subscription = bus.subscribe(to: Tick.self) { [captured] _ in withExtendedLifetime(captured) {} }
      captured = nil
      subscription.cancel()
      return watched == nil
    }
  }

  /// On a thread of its own: what runs here must be preempted, not only interleaved where it waits.
  private static func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      // Not a thread of a pool: one that is full of other tests would never run the poster.
      Thread.detachNewThread {
        body()
        continuation.resume()
      }
    }
  }
}
