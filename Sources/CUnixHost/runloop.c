#include "CUnixHost.h"

#if !defined(__APPLE__)
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Defined by the bridge to Foundation's notification center. The linker leaves it null in a program without the bridge.
extern bool lifecycle_run_loop_turn(void) __attribute__((weak));

// Returns whether the process can open so many more descriptors.
static bool can_open(int count) {
  if (count == 0) return true;
  int descriptor = eventfd(0, EFD_CLOEXEC);
  if (descriptor < 0) return false;
  bool result = can_open(count - 1);
  close(descriptor);
  return result;
}

bool unixhost_run_loop_turn(void) {
  if (lifecycle_run_loop_turn == NULL) return false;
  // The run loop opens three descriptors when it begins, and traps if it cannot. The host reports that there are too few,
  // for which the main actor needs a turn.
  static bool has_begun = false;
  if (!has_begun) has_begun = can_open(3);
  return has_begun && lifecycle_run_loop_turn();
}
#endif
