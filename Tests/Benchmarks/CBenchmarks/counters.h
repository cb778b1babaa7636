/// What the two halves of the counters share.
#pragma once

#include <stdbool.h>

#include "CBenchmarks.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BENCH_SANITIZED 1
#endif
#endif

/// The heap's functions are replaced with glibc only, and not in a sanitizer's build, which replaces them itself.
#if defined(__GLIBC__) && !defined(BENCH_SANITIZED)
#define BENCH_COUNTS 1
#endif

extern _Thread_local bool bench_is_counting;
extern _Thread_local bench_counts bench_counted;

/// Puts counting functions in the place of the Swift runtime's, or takes them out; false if the runtime has no such place.
bool bench_hook_reference_counts(bool on);
