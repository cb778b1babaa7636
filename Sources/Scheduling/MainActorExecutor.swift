/// A task executor on the main actor, for waits of the package there.
///
/// By default, the runtime resumes a task on a thread of the global pool first, and returns to the main actor from
/// there; while all threads of the pool are busy, it never does. Do not use this executor around the program's code:
/// its `nonisolated` asynchronous functions would run on the main actor, too.
package final class MainActorExecutor: TaskExecutor {
  package static let shared = MainActorExecutor()

  package func enqueue(_ job: consuming ExecutorJob) { MainActor.shared.enqueue(UnownedJob(job)) }
}
