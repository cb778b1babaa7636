/// What the benchmarks need of C: the floor, a tally of each thread, counters of the heap and of reference counts.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- The floor of a plain handler: the call ----

/// A Swift function of one indirect argument with the context that its closure captured.
typedef struct {
  const void *_Nonnull function;
  const void *_Nonnull context;
} bench_handler;

/// Adds the event's first word to the word behind the context's object header, as a Swift closure does that captured
/// one counter and nothing else.
const void *_Nonnull bench_counting_function(void);

/// Adds the event's first word to the calling thread's tally.
const void *_Nonnull bench_tallying_function(void);

/// Makes `posts` posts of an event that holds `amount`: each calls the `count` handlers in order.
void bench_floor_post(const bench_handler *_Nonnull handlers, long count, long amount, long posts);

// ---- The floors of an owner's handler: the owner is retained if it is alive, the handler is called, the owner is released ----

/// A Swift function of an owner and an event, with the owner, whose memory an unowned count keeps.
typedef struct {
  const void *_Nonnull function;
  void *_Nonnull owner;
} bench_owner_handler;

/// Adds the event's first word to the word behind the owner's object header, as a Swift closure does that captured nothing.
const void *_Nonnull bench_owner_counting_function(void);

/// Takes the unowned count that keeps the memory of a native Swift object.
bench_owner_handler bench_owner_handler_make(const void *_Nonnull function, void *_Nonnull owner);

/// Releases that unowned count.
void bench_owner_handler_end(bench_owner_handler handler);

/// Makes `posts` posts of an event that holds `amount`: each calls the handlers of the owners that are alive, in order.
void bench_owner_floor_post(const bench_owner_handler *_Nonnull handlers, long count, long amount, long posts);

/// The same, and reads the monotonic clock once more after each handler, to note the nanoseconds that the handler took.
void bench_measured_floor_post(
    const bench_owner_handler *_Nonnull handlers, int64_t *_Nonnull durations, long count, long amount, long posts);

/// Calls the handler of an owner that the caller keeps alive, with an event that holds `amount`.
void bench_owner_call(const void *_Nonnull function, void *_Nonnull owner, const long *_Nonnull amount);

// ---- A counter for each thread, for handlers that run on several at once ----

extern __thread long bench_thread_tally;

/// Adds to the calling thread's tally.
static inline __attribute__((always_inline)) void bench_tally_add(long amount) { bench_thread_tally += amount; }

/// The calling thread's tally since it started.
static inline long bench_tally(void) { return bench_thread_tally; }

// ---- Counters ----

/// What the calling thread did while counting was on.
typedef struct {
  long allocations;
  long deallocations;
  long retains;
  long releases;
} bench_counts;

/// Whether allocations and reference counts can be counted in this build.
bool bench_can_count(void);

/// Starts counting, from zero, on the calling thread.
void bench_start_counting(void);

/// Stops counting.
bench_counts bench_stop_counting(void);

/// The bytes that the process has allocated and not freed; 0 where the C library does not tell.
uint64_t bench_heap_in_use(void);

#ifdef __cplusplus
}
#endif
