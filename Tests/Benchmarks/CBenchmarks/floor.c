#include "CBenchmarks.h"

// The calling convention of Swift closures whose argument is passed by address, which is how the bus calls them.
typedef __attribute__((swiftcall)) void (*handler_function)(
    const void *event, __attribute__((swift_context)) const void *context);

__thread long bench_thread_tally;

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

const void *bench_counting_function(void) { return (const void *)add_to_counter; }
const void *bench_tallying_function(void) { return (const void *)add_to_tally; }

void bench_floor_post(const bench_handler *handlers, long count, long amount, long posts) {
  for (long post = 0; post < posts; post++) {
    for (long index = 0; index < count; index++)
      ((handler_function)handlers[index].function)(&amount, handlers[index].context);
    // Without this the loop over no handlers would be dropped, and a post to nobody would cost nothing at all.
    __asm__ volatile("" ::: "memory");
  }
}
