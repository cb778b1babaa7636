#ifndef CSIMULATION_H
#define CSIMULATION_H

#include <stdbool.h>
#include <stdint.h>

/// Offers every job that is about to be queued on the global executor to a function first.
///
/// It uses the hook of the concurrency runtime (`swift_task_enqueueGlobal_hook`). If another library already uses the
/// hook, this function does not change it.
///
/// - Parameter take: takes the job and returns true, or returns false; it is called on the thread that queues the job,
///   with the identity of the job's task, 0 for the job of an actor. A job that is not taken goes to the global executor.
/// - Returns: false if this runtime has no such hook, or the hook is in use.
bool csimulation_offer_global_jobs(bool (*take)(void *job, uint64_t task));

/// The runtime's reference to a serial executor: an object and its witness table.
typedef struct {
  void *object;
  void *witness;
} csimulation_executor;

/// Lets a function choose the main actor's executor for the present task.
///
/// It uses a hook of the concurrency runtime (`swift_task_getMainExecutor_hook`), which is called when code enters the
/// main actor, checks that it is on it, or makes a task for it. If another library already uses the hook, this function
/// does not change it.
///
/// - Parameter choose: returns the executor, or an object of NULL for the main actor's own; it is called on the thread
///   of the task, and never outside of tasks.
/// - Returns: false if this runtime has no such hook, or the hook is in use.
bool csimulation_choose_main_executor(csimulation_executor (*choose)(void));

/// Lets code of this thread have the main actor's own executor, also in a task that would get another one, until it is
/// called again with false.
void csimulation_pause_choice(bool pauses);

/// The identity of a job's task, unique in the process; 0 for the job of an actor.
uint64_t csimulation_task(void *job);

/// The identity of the present task; 0 outside of tasks.
uint64_t csimulation_current_task(void);

/// The object of the task executor that the present task prefers; NULL outside of tasks, and without a preference.
void *csimulation_preferred_executor(void);

/// Runs a job up to its next suspension, on this thread, without any actor.
void csimulation_run(void *job);

/// Whether `csimulation_run` runs a job on this thread.
bool csimulation_is_running(void);

#endif
