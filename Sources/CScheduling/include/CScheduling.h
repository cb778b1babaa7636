// The thread of TimerThread.swift, and its wait.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Starts the thread, which takes no signals but those of a fault or a profiler, unless it runs in this process. Returns false if the system cannot create
/// it. One thread at a time may call it.
bool scheduling_timer_start(void (*_Nonnull body)(void));

/// Waits for a wake-up, or until the time has passed. Only the thread calls it.
void scheduling_timer_wait(int64_t nanoseconds);

/// Ends the present wait or, if there is none, the next one. Does nothing if the thread does not run.
void scheduling_timer_wake(void);

/// Whether the system creates threads for this process at present.
bool scheduling_thread_can_start(void);
