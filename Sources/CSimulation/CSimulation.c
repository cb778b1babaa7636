#include "CSimulation.h"
#include <stddef.h>
#include <stdint.h>

#define SWIFT_CALL __attribute__((swiftcall))

typedef SWIFT_CALL void (*queue_job)(void *job);
typedef SWIFT_CALL void (*queue_job_hook)(void *job, queue_job original);

// The runtime's reference to a serial executor: an object and a witness table.
typedef struct {
  void *object;
  void *witness;
} executor_reference;
typedef SWIFT_CALL executor_reference (*get_executor)(void);
typedef SWIFT_CALL executor_reference (*get_executor_hook)(get_executor original);

// These symbols belong to the Swift concurrency runtime. They are weak, so that a runtime without them still links.
extern queue_job_hook swift_task_enqueueGlobal_hook __attribute__((weak));
extern get_executor_hook swift_task_getMainExecutor_hook __attribute__((weak));
extern SWIFT_CALL void *swift_task_getCurrent(void) __attribute__((weak));
extern SWIFT_CALL executor_reference swift_task_getPreferredTaskExecutor(void) __attribute__((weak));
extern SWIFT_CALL void swift_job_run(void *job, void *executor, void *witness) __attribute__((weak));

static bool (*offer)(void *job);
static __thread int running;
static unsigned long main_jobs;

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

// Executors that share a counter only seem to be busy for longer.
static unsigned long *calls_of(void *executor) {
  static unsigned long calls[1 << 10];
  return &calls[(uint32_t)((uintptr_t)executor >> 4) * 0x9E3779B1u >> 22];
}

// The main queue asks for its executor before it runs a job, at which time no task is current. A main-actor function
// asks as part of its task.
static SWIFT_CALL executor_reference count_main_job(get_executor original) {
  if (swift_task_getCurrent() == NULL) {
    __atomic_fetch_add(&main_jobs, 1, __ATOMIC_RELAXED);
  } else {
    void *executor = swift_task_getPreferredTaskExecutor().object;
    if (executor != NULL) __atomic_fetch_add(calls_of(executor), 1, __ATOMIC_RELAXED);
  }
  return original();
}

bool csimulation_count_main_jobs(void) {
  if (&swift_task_getMainExecutor_hook == NULL || swift_task_getCurrent == NULL) return false;
  if (swift_task_getPreferredTaskExecutor == NULL || swift_task_getMainExecutor_hook != NULL) return false;
  swift_task_getMainExecutor_hook = count_main_job;
  return true;
}

unsigned long csimulation_main_jobs(void) { return __atomic_load_n(&main_jobs, __ATOMIC_RELAXED); }

unsigned long csimulation_main_actor_calls(void *executor) {
  return __atomic_load_n(calls_of(executor), __ATOMIC_RELAXED);
}

void csimulation_run(void *job) {
  running += 1;
  // NULL for the actor and for its witness means the generic executor.
  swift_job_run(job, NULL, NULL);
  running -= 1;
}

bool csimulation_is_running(void) { return running > 0; }
