import BenchmarkHarness
import CBenchmarks
import Foundation
import Synchronization

/// What threads did that posted side by side.
struct PostingRun {
  /// Nanoseconds by the clock on the wall for each piece of each thread's posts.
  let pieces: Samples
  /// Processor time of the posting threads together.
  let cpuTime: Duration
  /// What their tallies grew by.
  let total: Int

  /// Lets threads post side by side, and another one do something else meanwhile.
  ///
  /// - Parameters:
  ///   - threads: how many post.
  ///   - disturb: repeated without pause on a further thread until all have posted; nil for no such thread.
  ///   - pieces: how many times each of them posts.
  ///   - post: one piece of the posts.
  init(threads: Int, disturb: (@Sendable () -> Void)? = nil, pieces: Int, post: @escaping @Sendable () -> Void) {
    let crew = Crew(size: threads + (disturb == nil ? 0 : 1))
    let posters = (0..<threads).map { _ in WorkerThread { crew.work(pieces, post) } }
    let disturber = disturb.map { disturb in WorkerThread { crew.workUntilEnd(disturb) } }
    for poster in posters { poster.join() }
    crew.end()
    disturber?.join()
    let parts = crew.parts
    self.pieces = Samples(parts.flatMap(\.pieces))
    cpuTime = parts.reduce(.zero) { $0 + $1.cpuTime }
    total = parts.reduce(0) { $0 + $1.total }
  }
}

/// Threads that start at the same moment, and what each of them did.
private final class Crew: Sendable {
  struct Part: Sendable {
    let pieces: [Double]
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

  func work(_ count: Int, _ body: () -> Void) {
    var pieces: [Double] = []
    pieces.reserveCapacity(count)
    meet()
    let (cpuTime, total) = (Stopwatch.threadTime, bench_tally())
    var start = ContinuousClock.now
    for _ in 0..<count {
      body()
      let end = ContinuousClock.now
      pieces.append(start.duration(to: end).nanoseconds)
      start = end
    }
    let part = Part(
      pieces: pieces, cpuTime: Stopwatch.threadTime - cpuTime, total: bench_tally() - total)
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
