#include "CScheduling.h"

#include <stddef.h>

#define SWIFT_CALL __attribute__((swiftcall))

typedef struct {
  void *object;
  uintptr_t witness;
} executor;

// These symbols belong to the Swift concurrency runtime, whose public interface has this question only as a check that ends the process.
// They are weak, so that a runtime without them still links.
extern SWIFT_CALL executor swift_task_getMainExecutor(void) __attribute__((weak));
extern SWIFT_CALL bool swift_task_isCurrentExecutorWithFlags(executor executor, uint64_t flags) __attribute__((weak));

bool scheduling_is_in_main_actor_job(void) {
  if (swift_task_getMainExecutor == NULL || swift_task_isCurrentExecutorWithFlags == NULL) return false;
  // Without flags the answer is no, where the check would end the process.
  return swift_task_isCurrentExecutorWithFlags(swift_task_getMainExecutor(), 0);
}
