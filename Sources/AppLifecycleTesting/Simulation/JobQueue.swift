internal import Scheduling

/// The jobs that are ready to run; taking the first is cheap, because the space is reclaimed only when the queue is
/// empty.
struct JobQueue {
  private var jobs: [UnownedJob] = []
  private var head = 0

  var isEmpty: Bool { head == jobs.count }

  mutating func append(_ job: UnownedJob) { jobs.append(job) }

  mutating func popFirst() -> UnownedJob? {
    guard head < jobs.count else {
      jobs.removeAll(keepingCapacity: true)
      head = 0
      return nil
    }
    defer { head += 1 }
    return jobs[head]
  }

  /// Makes a random job the first.
  mutating func bringForward(using random: inout SplitMix64) {
    guard head < jobs.count else { return }
    jobs.swapAt(head, Int.random(in: head..<jobs.count, using: &random))
  }
}
