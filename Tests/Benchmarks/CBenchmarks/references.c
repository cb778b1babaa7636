// Counts retains and releases through the places that the Swift runtime keeps for Instruments: function pointers that it
// calls through while a flag is set.
#include <stdatomic.h>
#include <stddef.h>

#include "counters.h"

// Saves all registers that any convention of the runtime's could require, as some platforms' compilers rely on it.
#define HOOK static __attribute__((preserve_most))

typedef void *(*retain_function)(void *);
typedef void *(*retain_many_function)(void *, uint32_t);
typedef void (*release_function)(void *);
typedef void (*release_many_function)(void *, uint32_t);

#define RUNTIME extern __attribute__((weak))
RUNTIME _Atomic(bool) _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly;
RUNTIME _Atomic(retain_function) _swift_retain;
RUNTIME _Atomic(retain_many_function) _swift_retain_n;
RUNTIME _Atomic(retain_function) _swift_tryRetain;
RUNTIME _Atomic(release_function) _swift_release;
RUNTIME _Atomic(release_many_function) _swift_release_n;

static retain_function original_retain, original_try_retain;
static retain_many_function original_retain_many;
static release_function original_release;
static release_many_function original_release_many;

static inline void count_retains(long count) {
  if (bench_is_counting) bench_counted.retains += count;
}

static inline void count_releases(long count) {
  if (bench_is_counting) bench_counted.releases += count;
}

HOOK void *counting_retain(void *object) {
  count_retains(1);
  return original_retain(object);
}

HOOK void *counting_retain_many(void *object, uint32_t count) {
  count_retains(count);
  return original_retain_many(object, count);
}

HOOK void *counting_try_retain(void *object) {
  count_retains(1);
  return original_try_retain(object);
}

HOOK void counting_release(void *object) {
  count_releases(1);
  original_release(object);
}

HOOK void counting_release_many(void *object, uint32_t count) {
  count_releases(count);
  original_release_many(object, count);
}

bool bench_hook_reference_counts(bool on) {
  if (!&_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly || !&_swift_retain ||
      !&_swift_retain_n || !&_swift_tryRetain || !&_swift_release || !&_swift_release_n)
    return false;
  if (!original_retain) {
    original_retain = _swift_retain;
    original_retain_many = _swift_retain_n;
    original_try_retain = _swift_tryRetain;
    original_release = _swift_release;
    original_release_many = _swift_release_n;
  }
  _swift_retain = on ? (retain_function)counting_retain : original_retain;
  _swift_retain_n = on ? (retain_many_function)counting_retain_many : original_retain_many;
  _swift_tryRetain = on ? (retain_function)counting_try_retain : original_try_retain;
  _swift_release = on ? (release_function)counting_release : original_release;
  _swift_release_n = on ? (release_many_function)counting_release_many : original_release_many;
  // Off, every count is a direct call again, as it is in a program that no tool looks into.
  _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly = on;
  return true;
}
