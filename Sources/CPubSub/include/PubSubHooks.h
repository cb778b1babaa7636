// Hook points: places between two steps of a thread at which a step of another thread matters. In debug builds a test may install
// a scheduler, which decides at each of them whose turn it is; other builds contain nothing of this. See Docs/Verification.md.
#pragma once

#include <stddef.h>

#pragma clang assume_nonnull begin

/// What a thread tells the scheduler.
typedef enum pubsub_move {
    /// It is between two steps.
    PUBSUB_STEPS,
    /// It is about to take a lock, and must not go on before that is free; then the lock is its own.
    PUBSUB_LOCKS,
    /// It has taken a lock that was free.
    PUBSUB_HAS_LOCKED,
    /// It has let go of a lock.
    PUBSUB_HAS_UNLOCKED,
} pubsub_move;

/// Called by a thread at a hook point; returns when it is that thread's turn.
typedef void (*pubsub_scheduler)(pubsub_move move, const char *place, const void *_Nullable lock);

extern pubsub_scheduler _Nullable pubsub_present_scheduler;

/// Installs a scheduler, or none, for all threads; in debug builds only.
void pubsub_install_scheduler(pubsub_scheduler _Nullable scheduler);

static inline __attribute__((always_inline)) void pubsub_hook(
    pubsub_move move, const char *place, const void *_Nullable lock) {
    pubsub_scheduler scheduler = __atomic_load_n(&pubsub_present_scheduler, __ATOMIC_RELAXED);
    if (__builtin_expect(scheduler != NULL, 0)) scheduler(move, place, lock);
}

#ifdef PUBSUB_HOOKS
#define PUBSUB_HOOK(place) pubsub_hook(PUBSUB_STEPS, place, NULL)
#define PUBSUB_HOOK_LOCK(move, lock) pubsub_hook(move, #lock, lock)
#else
#define PUBSUB_HOOK(place) ((void)0)
#define PUBSUB_HOOK_LOCK(move, lock) ((void)0)
#endif

#pragma clang assume_nonnull end
