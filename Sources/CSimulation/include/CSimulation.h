#ifndef CSIMULATION_H
#define CSIMULATION_H

#include <stdbool.h>

/// Has every job that is about to be queued on the global executor offered to a function first.
///
/// The hook is the concurrency runtime's own (`swift_task_enqueueGlobal_hook`). It is left alone where another library uses it.
///
/// - Parameter take: takes a job, which must then be run with `csimulation_run`, or returns false: the job goes where it goes
///   otherwise. It is called on the thread that queues the job.
/// - Returns: false if this runtime has no such hook, or the hook is in use.
bool csimulation_offer_global_jobs(bool (*take)(void *job));

/// Runs a job up to its next suspension, on this thread, without any actor.
void csimulation_run(void *job);

/// Whether `csimulation_run` runs a job on this thread.
bool csimulation_is_running(void);

#endif
