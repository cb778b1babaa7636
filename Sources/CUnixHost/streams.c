#include "CUnixHost.h"

#include <fcntl.h>
#include <unistd.h>

void unixhost_streams_hold(void) {
  for (int number = 0; number <= 2; number++) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    // Open it in the opposite direction, so that using the stream remains an error. It gets the lowest free number,
    // unless another thread was faster.
    int held = open("/dev/null", (number == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    if (held > number) close(held);
  }
}
