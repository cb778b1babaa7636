import Foundation
package import Testing

/// Runs a test that takes seconds without a break beside the threads on which all other tests run.
///
/// Those are as few as there are processors: some of these tests occupy them all, and what waits with a real deadline for a
/// program or a terminal gets no turn until they are done. So do tests of how a process exits: the testing library blocks a
/// thread until that process has ended. Here they have threads of their own, and the system serves these last.
package struct LongRunningTrait: TestTrait, SuiteTrait, TestScoping {
  /// Runs the test, or the case of one.
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(LowPriorityThreads.shared) { try await function() }
  }

  /// A suite's tests have it, too.
  package var isRecursive: Bool { true }
}

extension Trait where Self == LongRunningTrait {
  /// For a test that keeps its thread for a second or more, computing or waiting.
  package static var longRunning: Self { Self() }
}

/// Threads that the system serves after all others of the process.
private final class LowPriorityThreads: TaskExecutor {
  static let shared = LowPriorityThreads()

  /// The jobs that wait, first come, first served.
  private let jobs = JobQueue()

  private init() {
    // More than there are processors, as some of the tests wait.
    for _ in 0..<8 {
      let thread = Thread { [jobs, self] in
        #if os(Linux)
          // Of this thread alone, and of the processes that it starts: on Linux a thread has a niceness of its own.
          setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
        #else
          Thread.current.qualityOfService = .utility
        #endif
        while true { jobs.next().runSynchronously(on: asUnownedTaskExecutor()) }
      }
      // As deep as the main thread may go: explorations recurse.
      thread.stackSize = 8 << 20
      thread.start()
    }
  }

  func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }
}

/// A queue at which threads wait.
private final class JobQueue: @unchecked Sendable {
  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []

  func append(_ job: UnownedJob) {
    condition.lock()
    jobs.append(job)
    condition.signal()
    condition.unlock()
  }

  func next() -> UnownedJob {
    condition.lock()
    defer { condition.unlock() }
    while jobs.isEmpty { condition.wait() }
    return jobs.removeFirst()
  }
}
