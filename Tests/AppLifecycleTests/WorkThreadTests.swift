#if os(Linux)
  import CSystemCalls
#endif
import Foundation
import Scheduling
import Testing

/// The thread on which a save writes.
@Suite(.timeLimit(.minutes(2))) struct `A thread for work` {
  /// The number of jobs that the present thread runs or has run.
  private static var jobsOfThread: Int {
    get { Thread.current.threadDictionary["jobs"] as? Int ?? 0 }
    set { Thread.current.threadDictionary["jobs"] = newValue }
  }

  /// Performs a job, and returns how many its thread has had with it.
  private func perform() async -> Int {
    await withCheckedContinuation { continuation in
      WorkThread.perform {
        Self.jobsOfThread += 1
        continuation.resume(returning: Self.jobsOfThread)
      }
    }
  }

  @Test func `takes another job when its own has ended`() async {
    // A job that comes before the thread waits has a thread of its own.
    for _ in 0..<10_000 where await perform() > 1 { return }
    Issue.record("each of ten thousand jobs had a thread of its own")
  }

  @Test func `runs no job while another one blocks it`() async {
    let (gate, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    for _ in 0..<3 {
      // The next one begins only when this one has its thread.
      await withCheckedContinuation { continuation in
        WorkThread.perform {
          continuation.resume()
          gate.wait()
          ended.signal()
        }
      }
    }
    for _ in 0..<100 { _ = await perform() }
    for _ in 0..<3 { gate.signal() }
    await withCheckedContinuation { continuation in
      WorkThread.perform {
        for _ in 0..<3 { ended.wait() }
        continuation.resume()
      }
    }
  }

  #if os(Linux)
    /// An encoder recurses, and the default is 128 KiB or 512 KiB on some systems.
    @Test func `has a stack of 8 MiB, also where the default is less`() async throws {
      // Enough for the threads that other tests start meanwhile.
      let before = set_default_stack(4 << 20)
      try #require(before > 0)
      defer { _ = set_default_stack(before) }
      let size = await withCheckedContinuation { continuation in
        #expect(WorkThread.start(named: "stack") { continuation.resume(returning: stack_of_this_thread()) })
      }
      #expect(size >= 8 << 20)
    }
  #endif
}
