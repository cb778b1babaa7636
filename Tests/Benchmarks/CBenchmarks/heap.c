// Counts allocations by standing in for the C library's functions: the linker prefers the program's own definitions, for the
// shared libraries too. Outside of counting they cost a look at one word of the thread.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#if defined(__linux__)
#include <malloc.h>
#endif

#include "counters.h"

_Thread_local bool bench_is_counting;
_Thread_local bench_counts bench_counted;

#ifdef BENCH_COUNTS
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static inline void count_allocation(void) {
  if (__builtin_expect(bench_is_counting, 0)) bench_counted.allocations++;
}

static inline void count_deallocation(void) {
  if (__builtin_expect(bench_is_counting, 0)) bench_counted.deallocations++;
}

void *malloc(size_t size) {
  count_allocation();
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  count_allocation();
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  count_allocation();
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
  count_allocation();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  void *block = memalign(alignment, size);
  if (!block) return ENOMEM;
  *result = block;
  return 0;
}

void free(void *block) {
  count_deallocation();
  __libc_free(block);
}

uint64_t bench_heap_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}
#else
uint64_t bench_heap_in_use(void) { return 0; }
#endif

bool bench_can_count(void) {
#ifdef BENCH_COUNTS
  if (!bench_hook_reference_counts(true)) return false;
  return bench_hook_reference_counts(false);
#else
  return false;
#endif
}

void bench_start_counting(void) {
  bench_hook_reference_counts(true);
  bench_counted = (bench_counts){0};
  bench_is_counting = true;
}

bench_counts bench_stop_counting(void) {
  bench_is_counting = false;
  bench_hook_reference_counts(false);
  return bench_counted;
}
