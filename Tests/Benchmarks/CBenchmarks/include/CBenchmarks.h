/// What the benchmarks need of C: the floor, a tally of each thread, counters of the heap and of reference counts.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- The floor: what a delivery costs when nothing is left but the call ----

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
