#include "CUnixHost.h"

#include <fcntl.h>
#include <unistd.h>

void unixhost_streams_hold(void) {
  for (int number = 0; number <= 2; number++) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    // In the direction that the stream does not have: using it stays an error. It is the lowest number that is free, unless
    // another thread was faster.
    int held = open("/dev/null", (number == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    if (held > number) close(held);
  }
}
