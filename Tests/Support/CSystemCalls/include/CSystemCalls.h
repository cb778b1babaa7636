#pragma once

#include <stddef.h>

/// Has the system refuse `membarrier` with EPERM, on this thread for good; returns 0, or an error number.
int refuse_membarrier(void);

/// Sets the stack size of new threads that ask for none; returns the size before, or 0 if the system has no such setting.
size_t set_default_stack(size_t size);

/// Returns the size of this thread's stack, or 0 if the system does not tell.
size_t stack_of_this_thread(void);
