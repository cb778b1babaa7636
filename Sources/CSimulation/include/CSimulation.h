#ifndef CSIMULATION_H
#define CSIMULATION_H

#include <stdbool.h>

/// Offers every job that is about to be queued on the global executor to a function first.
///
/// It uses the hook of the concurrency runtime (`swift_task_enqueueGlobal_hook`). If another library already uses the
/// hook, this function does not change it.
///
/// - Parameter take: takes the job and returns true, or returns false; it is called on the thread that queues the job.
///   A taken job must be run with `csimulation_run`. A job that is not taken goes to the global executor.
/// - Returns: false if this runtime has no such hook, or the hook is in use.
bool csimulation_offer_global_jobs(bool (*take)(void *job));

/// Begins to count the jobs that the main queue runs, and the calls of main-actor functions.
///
/// It uses a hook of the concurrency runtime (`swift_task_getMainExecutor_hook`), which is called before such a job runs
/// and when an asynchronous main-actor function begins. If another library already uses the hook, this function does not change it.
///
/// - Returns: false if this runtime has no such hook, or the hook is in use; then the counts stay 0.
bool csimulation_count_main_jobs(void);

/// The number of jobs that the main queue has begun to run since `csimulation_count_main_jobs`.
///
/// Code outside of tasks that names the main actor's executor is counted as well, on any thread.
unsigned long csimulation_main_jobs(void);

/// The number of calls of asynchronous main-actor functions by tasks that prefer an executor.
///
/// Calls of other executors' tasks may be counted as well.
unsigned long csimulation_main_actor_calls(void *executor);

/// Runs a job up to its next suspension, on this thread, without any actor.
void csimulation_run(void *job);

/// Whether `csimulation_run` runs a job on this thread.
bool csimulation_is_running(void);

#endif
