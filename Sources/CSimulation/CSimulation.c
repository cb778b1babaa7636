#include "CSimulation.h"
#include <stddef.h>

#define SWIFT_CALL __attribute__((swiftcall))

typedef SWIFT_CALL void (*queue_job)(void *job);
typedef SWIFT_CALL void (*queue_job_hook)(void *job, queue_job original);

// Both symbols belong to the Swift concurrency runtime. They are weak, so that a runtime without them still links.
extern queue_job_hook swift_task_enqueueGlobal_hook __attribute__((weak));
extern SWIFT_CALL void swift_job_run(void *job, void *executor, void *witness) __attribute__((weak));

static bool (*offer)(void *job);
static __thread int running;

static SWIFT_CALL void queue_or_offer(void *job, queue_job original) {
  if (!__atomic_load_n(&offer, __ATOMIC_ACQUIRE)(job)) original(job);
}

bool csimulation_offer_global_jobs(bool (*take)(void *job)) {
  if (&swift_task_enqueueGlobal_hook == NULL || swift_job_run == NULL) return false;
  if (swift_task_enqueueGlobal_hook != NULL) return false;
  __atomic_store_n(&offer, take, __ATOMIC_RELEASE);
  swift_task_enqueueGlobal_hook = queue_or_offer;
  return true;
}

void csimulation_run(void *job) {
  running += 1;
  // NULL for the actor and for its witness means the generic executor.
  swift_job_run(job, NULL, NULL);
  running -= 1;
}

bool csimulation_is_running(void) { return running > 0; }
