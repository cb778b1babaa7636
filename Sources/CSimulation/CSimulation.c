#include "CSimulation.h"
#include <stddef.h>

#define SWIFT_CALL __attribute__((swiftcall))

typedef SWIFT_CALL void (*queue_job)(void *job);
typedef SWIFT_CALL void (*queue_job_hook)(void *job, queue_job original);
typedef SWIFT_CALL csimulation_executor (*get_executor)(void);
typedef SWIFT_CALL csimulation_executor (*get_executor_hook)(get_executor original);

// These symbols belong to the Swift concurrency runtime. They are weak, so that a runtime without them still links.
extern queue_job_hook swift_task_enqueueGlobal_hook __attribute__((weak));
extern get_executor_hook swift_task_getMainExecutor_hook __attribute__((weak));
extern SWIFT_CALL void *swift_task_getCurrent(void) __attribute__((weak));
extern SWIFT_CALL uint64_t swift_task_getJobTaskId(void *job) __attribute__((weak));
extern SWIFT_CALL csimulation_executor swift_task_getPreferredTaskExecutor(void) __attribute__((weak));
extern SWIFT_CALL void swift_job_run(void *job, void *executor, void *witness) __attribute__((weak));

static bool (*offer)(void *job, uint64_t task);
static csimulation_executor (*choice)(void);
static __thread int running;
static __thread bool chooses_not;

static SWIFT_CALL void queue_or_offer(void *job, queue_job original) {
  if (!__atomic_load_n(&offer, __ATOMIC_ACQUIRE)(job, swift_task_getJobTaskId(job))) original(job);
}

bool csimulation_offer_global_jobs(bool (*take)(void *job, uint64_t task)) {
  if (&swift_task_enqueueGlobal_hook == NULL || swift_job_run == NULL || swift_task_getJobTaskId == NULL) return false;
  if (swift_task_enqueueGlobal_hook != NULL) return false;
  __atomic_store_n(&offer, take, __ATOMIC_RELEASE);
  swift_task_enqueueGlobal_hook = queue_or_offer;
  return true;
}

static SWIFT_CALL csimulation_executor choose_or_get(get_executor original) {
  if (!chooses_not && swift_task_getCurrent() != NULL) {
    csimulation_executor chosen = __atomic_load_n(&choice, __ATOMIC_ACQUIRE)();
    if (chosen.object != NULL) return chosen;
  }
  return original();
}

bool csimulation_choose_main_executor(csimulation_executor (*choose)(void)) {
  if (&swift_task_getMainExecutor_hook == NULL || swift_task_getCurrent == NULL) return false;
  if (swift_task_getPreferredTaskExecutor == NULL || swift_task_getMainExecutor_hook != NULL) return false;
  __atomic_store_n(&choice, choose, __ATOMIC_RELEASE);
  swift_task_getMainExecutor_hook = choose_or_get;
  return true;
}

void csimulation_pause_choice(bool pauses) { chooses_not = pauses; }

uint64_t csimulation_task(void *job) {
  return job == NULL || swift_task_getJobTaskId == NULL ? 0 : swift_task_getJobTaskId(job);
}

uint64_t csimulation_current_task(void) {
  return csimulation_task(swift_task_getCurrent == NULL ? NULL : swift_task_getCurrent());
}

void *csimulation_preferred_executor(void) {
  return swift_task_getPreferredTaskExecutor == NULL ? NULL : swift_task_getPreferredTaskExecutor().object;
}

void csimulation_run(void *job) {
  running += 1;
  // NULL for the actor and for its witness means the generic executor.
  swift_job_run(job, NULL, NULL);
  running -= 1;
}

bool csimulation_is_running(void) { return running > 0; }
