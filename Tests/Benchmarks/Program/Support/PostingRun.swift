import BenchmarkHarness
import CBenchmarks
import Foundation
import Synchronization

/// What threads did that posted side by side.
struct PostingRun {
  /// From the first post to the end of the last.
  let wall: Duration
  /// Processor time of the posting threads together.
  let cpuTime: Duration
  /// What their tallies grew by.
  let total: Int

  /// Lets threads post side by side, and another one do something else meanwhile.
  ///
  /// - Parameters:
  ///   - threads: how many post.
  ///   - disturb: repeated without pause on a further thread until all have posted; nil for no such thread.
  ///   - post: what each of them does.
  init(threads: Int, disturb: (@Sendable () -> Void)? = nil, post: @escaping @Sendable () -> Void) {
    let crew = Crew(size: threads + (disturb == nil ? 0 : 1))
    let posters = (0..<threads).map { _ in WorkerThread { crew.work(post) } }
    let disturber = disturb.map { disturb in WorkerThread { crew.workUntilEnd(disturb) } }
    for poster in posters { poster.join() }
    crew.end()
    disturber?.join()
    let parts = crew.parts
    wall = parts.map(\.start).min()!.duration(to: parts.map(\.end).max()!)
    cpuTime = parts.reduce(.zero) { $0 + $1.cpuTime }
    total = parts.reduce(0) { $0 + $1.total }
  }
}

/// Threads that start at the same moment, and what each of them did.
private final class Crew: Sendable {
  struct Part: Sendable {
    let start: ContinuousClock.Instant
    let end: ContinuousClock.Instant
    let cpuTime: Duration
    let total: Int
  }

  private let missing: Mutex<Int>
  private let gate = DispatchSemaphore(value: 0)
  private let size: Int
  private let hasEnded = Atomic(false)
  private let finished = Mutex<[Part]>([])

  init(size: Int) {
    self.size = size
    missing = Mutex(size)
  }

  var parts: [Part] { finished.withLock { $0 } }

  func end() { hasEnded.store(true, ordering: .relaxed) }

  func work(_ body: () -> Void) {
    meet()
    let (cpuTime, total) = (Stopwatch.threadTime, bench_tally())
    let start = ContinuousClock.now
    body()
    let end = ContinuousClock.now
    let part = Part(
      start: start, end: end, cpuTime: Stopwatch.threadTime - cpuTime, total: bench_tally() - total)
    finished.withLock { $0.append(part) }
  }

  func workUntilEnd(_ body: () -> Void) {
    meet()
    while !hasEnded.load(ordering: .relaxed) { body() }
  }

  /// Waits for all the others.
  private func meet() {
    let isLast = missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isLast { for _ in 1..<size { gate.signal() } } else { gate.wait() }
  }
}
