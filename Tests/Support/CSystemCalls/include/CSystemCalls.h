#pragma once

/// Has the system refuse `membarrier` with EPERM, on this thread for good; returns 0, or an error number.
int refuse_membarrier(void);
