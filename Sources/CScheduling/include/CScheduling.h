// The thread of TimerThread.swift, and its wait; the threads of WorkThread.swift; the variables of Environment.swift; the main executor.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Starts the thread, which takes no signals but those of a fault or a profiler, unless it runs in this process. Returns false if the system cannot create
/// it. One thread at a time may call it.
bool scheduling_timer_start(void (*_Nonnull body)(void));

/// Waits for a wake-up, or until the time has passed, or for less. Only the thread calls it.
void scheduling_timer_wait(int64_t nanoseconds);

/// Ends the present wait or, if there is none, the next one. Does nothing if the thread does not run.
void scheduling_timer_wake(void);

/// Runs a body on a thread that runs no other body at the time: a new one, unless a thread has ended its body in the last five seconds. It takes
/// no signals but those of a fault or a profiler. With a name, which must stay valid, the thread is a new one, and takes the signals that the
/// caller takes. Returns false if the system cannot create it.
bool scheduling_thread_start(const char *_Nullable name, void (*_Nonnull body)(void *_Nonnull), void *_Nonnull argument);

/// Whether the system creates threads for this process at present.
bool scheduling_thread_can_start(void);

/// Returns the value of an environment variable. Returns NULL if it is not set, or if the program has privileges that its caller lacks:
/// set-user-ID, set-group-ID, file capabilities.
const char *_Nullable scheduling_getenv(const char *_Nonnull name);

/// Whether this code runs in a job of the main actor. False if the runtime cannot tell, as in a block of the main queue, which is no job.
bool scheduling_is_in_main_actor_job(void);
