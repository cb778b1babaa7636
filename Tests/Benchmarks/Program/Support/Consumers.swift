import BenchmarkHarness
import Foundation
import Synchronization

/// Tasks that take events, and the moment when all of them have them all.
final class Consumers {
  let count: Int
  let events: Int
  private let ready = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)
  private var totals: [() -> Int] = []
  private var duration: Duration?

  init(count: Int, events: Int) { (self.count, self.events) = (count, events) }

  /// Starts a task for each consumer, and returns when all have made their iterators: some subscribe only then.
  func start<Sequence: AsyncSequence & Sendable>(
    _ makeSequence: () -> Sequence, amount: @escaping @Sendable (Sequence.Element) -> Int
  ) where Sequence.Failure == Never, Sequence.Element: Sendable {
    for _ in 0..<count {
      let (sequence, total, events) = (makeSequence(), Counter(), events)
      totals.append { total.total }
      Task.detached { [ready, done] in
        var iterator = sequence.makeAsyncIterator()
        ready.signal()
        while total.total < events, let element = await iterator.next(isolation: nil) { total.total += amount(element) }
        done.signal()
      }
    }
    for _ in 0..<count { ready.wait() }
  }

  /// A handler's share of the work.
  func makeHandler() -> Handler {
    let handler = Handler(events: events, done: done)
    totals.append { handler.total }
    return handler
  }

  /// Posts all events and waits, for a minute at most, until all consumers have taken them.
  func post(_ post: () -> Void) {
    let start = ContinuousClock.now
    for _ in 0..<events { post() }
    for _ in 0..<count where done.wait(timeout: .now() + 60) == .timedOut { return }
    duration = start.duration(to: .now)
  }

  /// From the first post until the last consumer had the last event.
  func elapsed(_ place: String) throws -> Duration {
    try WorkNotDone.check(totals.reduce(0) { $0 + $1() }, expected: count * events, place)
    guard let duration else { throw WorkNotDone("\(place): a consumer did not end") }
    return duration
  }

  /// Counts what one handler is told; atomically, as Foundation calls one handler several times at once.
  final class Handler: Sendable {
    private let count = Atomic(0)
    private let events: Int
    private let done: DispatchSemaphore

    init(events: Int, done: DispatchSemaphore) {
      self.events = events
      self.done = done
    }

    var total: Int { count.load(ordering: .relaxed) }

    /// Asynchronous, as handlers are that have something to wait for.
    func take(_ amount: Int) async {
      if count.add(amount, ordering: .relaxed).newValue == events { done.signal() }
    }
  }
}
