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
    while await perform() == 1 {}
  }

  @Test func `runs no job while another one blocks it`() async {
    let opened = DispatchSemaphore(value: 0)
    let blocked = (0..<3).map { _ in
      Task {
        await withCheckedContinuation { continuation in
          WorkThread.perform {
            opened.wait()
            continuation.resume()
          }
        }
      }
    }
    for _ in 0..<100 { _ = await perform() }
    for _ in blocked { opened.signal() }
    for task in blocked { await task.value }
  }
}
