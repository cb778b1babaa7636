// Hook points: places between two steps of a thread at which a step of another thread can matter. In debug builds a
// test may install a scheduler, which decides at each hook point which thread continues. Other builds contain no hook
// code. See Docs/Verification.md.
#pragma once

#include <stddef.h>

#pragma clang assume_nonnull begin

/// The state that a thread reports to the scheduler.
typedef enum pubsub_move {
    /// The thread is between two steps.
    PUBSUB_STEPS,
    /// The thread is about to take a lock, and must not continue before the lock is free; then it owns the lock.
    PUBSUB_LOCKS,
    /// The thread has taken a lock that was free.
    PUBSUB_HAS_LOCKED,
    /// The thread has released a lock.
    PUBSUB_HAS_UNLOCKED,
} pubsub_move;

/// A function that a thread calls at a hook point; it returns when the thread may continue.
typedef void (*pubsub_scheduler)(pubsub_move move, const char *place, const void *_Nullable lock);

extern pubsub_scheduler _Nullable pubsub_present_scheduler;

/// Installs a scheduler for all threads, or removes it (NULL); in debug builds only.
void pubsub_install_scheduler(pubsub_scheduler _Nullable scheduler);

static inline __attribute__((always_inline)) void pubsub_hook(
    pubsub_move move, const char *place, const void *_Nullable lock) {
    pubsub_scheduler scheduler = __atomic_load_n(&pubsub_present_scheduler, __ATOMIC_RELAXED);
    if (__builtin_expect(scheduler != NULL, 0)) scheduler(move, place, lock);
}

#ifdef PUBSUB_HOOKS
#define PUBSUB_HOOK(place) pubsub_hook(PUBSUB_STEPS, place, NULL)
#else
#define PUBSUB_HOOK(place) ((void)0)
#endif

#pragma clang assume_nonnull end
