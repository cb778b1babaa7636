/// A task executor on the main actor, for waits of the package there.
///
/// When a wait ends, the runtime first resumes the task on the executor that the task prefers, by default a thread of
/// the global pool, and returns to the main actor from there. If all threads of the pool are busy, the task would
/// never return. With this preference it resumes on the main actor at once.
///
/// Do not use it around the program's code: its `nonisolated` asynchronous functions would run on the main
/// actor, too.
package final class MainActorExecutor: TaskExecutor {
  package static let shared = MainActorExecutor()

  package func enqueue(_ job: consuming ExecutorJob) { MainActor.shared.enqueue(UnownedJob(job)) }
}
