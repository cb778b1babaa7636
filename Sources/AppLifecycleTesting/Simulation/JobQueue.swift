internal import Scheduling

/// The jobs that are ready to run; taking the first is cheap, because the space is reclaimed only when half of it is unused.
struct JobQueue {
  /// The actor on which a job runs.
  enum Actor {
    case mainActor, other
  }

  private var jobs: [(job: UnownedJob, actor: Actor)] = []
  private var head = 0

  var isEmpty: Bool { head == jobs.count }

  mutating func append(_ job: UnownedJob, for actor: Actor) { jobs.append((job, actor)) }

  mutating func popFirst() -> UnownedJob? {
    guard head < jobs.count else { return nil }
    defer {
      head += 1
      // A chain of jobs, each of which makes the next one, never leaves the queue empty.
      if head > jobs.count / 2 {
        jobs.removeFirst(head)
        head = 0
      }
    }
    return jobs[head].job
  }

  /// Makes a random job the first; jobs of the main actor keep their order, as on the main queue.
  mutating func bringForward(using random: inout SplitMix64) {
    guard head < jobs.count else { return }
    var chosen = Int.random(in: head..<jobs.count, using: &random)
    if jobs[chosen].actor == .mainActor { chosen = jobs[head...].firstIndex { $0.actor == .mainActor } ?? chosen }
    // The others keep their order, too.
    jobs.insert(jobs.remove(at: chosen), at: head)
  }
}
