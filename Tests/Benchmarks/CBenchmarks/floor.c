#include "CBenchmarks.h"

#include <time.h>

// Exported by the Swift runtime, for native objects: not for those of Objective-C.
extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);
extern void *swift_tryRetain(void *object);
extern void swift_release(void *object);

// The calling convention of Swift closures whose argument is passed by address, which is how the bus calls them.
typedef __attribute__((swiftcall)) void (*handler_function)(
    const void *event, __attribute__((swift_context)) const void *context);

typedef __attribute__((swiftcall)) void (*owner_function)(
    void *owner, const void *event, __attribute__((swift_context)) const void *context);

__thread long bench_thread_tally;

// A loop is faster or slower by where it lies in memory: each floor begins a cache line, wherever the linker puts it.
#define FLOOR __attribute__((aligned(64)))

// A Swift object's fields start behind its metadata pointer and its reference counts.
struct counter {
  void *header[2];
  long total;
};

static __attribute__((swiftcall)) void add_to_counter(
    const void *event, __attribute__((swift_context)) const void *context) {
  ((struct counter *)context)->total += *(const long *)event;
}

static __attribute__((swiftcall)) void add_to_tally(
    const void *event, __attribute__((swift_context)) const void *context) {
  (void)context;
  bench_thread_tally += *(const long *)event;
}

static __attribute__((swiftcall)) void add_to_owner(
    void *owner, const void *event, __attribute__((swift_context)) const void *context) {
  (void)context;
  ((struct counter *)owner)->total += *(const long *)event;
}

const void *bench_counting_function(void) { return (const void *)add_to_counter; }
const void *bench_tallying_function(void) { return (const void *)add_to_tally; }

const void *bench_owner_counting_function(void) { return (const void *)add_to_owner; }

FLOOR void bench_floor_post(const bench_handler *handlers, long count, long amount, long posts) {
  for (long post = 0; post < posts; post++) {
    for (long index = 0; index < count; index++)
      ((handler_function)handlers[index].function)(&amount, handlers[index].context);
    // Without this the loop over no handlers would be dropped, and a post without subscribers would cost nothing at all.
    __asm__ volatile("" ::: "memory");
  }
}

bench_owner_handler bench_owner_handler_make(const void *function, void *owner) {
  return (bench_owner_handler){function, swift_unownedRetain(owner)};
}

void bench_owner_handler_end(bench_owner_handler handler) { swift_unownedRelease(handler.owner); }

static inline void call_if_alive(bench_owner_handler handler, const long *amount) {
  void *owner = swift_tryRetain(handler.owner);
  if (!owner) return;
  ((owner_function)handler.function)(owner, amount, 0);
  swift_release(owner);
}

FLOOR void bench_owner_floor_post(const bench_owner_handler *handlers, long count, long amount, long posts) {
  for (long post = 0; post < posts; post++)
    for (long index = 0; index < count; index++) call_if_alive(handlers[index], &amount);
}

// What SuspendingClock reads, which is an application's clock unless the program names another.
static inline int64_t nanoseconds(void) {
  struct timespec time;
#ifdef __APPLE__
  clock_gettime(CLOCK_UPTIME_RAW, &time);
#else
  clock_gettime(CLOCK_MONOTONIC, &time);
#endif
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

FLOOR void bench_measured_floor_post(
    const bench_owner_handler *handlers, int64_t *durations, long count, long amount, long posts) {
  for (long post = 0; post < posts; post++) {
    int64_t began = nanoseconds();
    for (long index = 0; index < count; index++) {
      call_if_alive(handlers[index], &amount);
      int64_t ended = nanoseconds();
      durations[index] = ended - began;
      began = ended;
    }
    __asm__ volatile("" ::: "memory");
  }
}

void bench_owner_call(const void *function, void *owner, const long *amount) {
  ((owner_function)function)(owner, amount, 0);
}
