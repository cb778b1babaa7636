#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

// The limit for retries of an interrupted write: if the terminal refuses a background job, each try is interrupted.
#define INTERRUPTION_LIMIT 16

int64_t unixhost_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Opens the same file once more without blocking; returns -1 if that is not possible. The flag belongs to the open
// file, which other processes share, so it must not be set on the descriptor itself.
static int reopen_without_blocking(int descriptor) {
#if defined(__linux__)
  char path[] = "/proc/self/fd/0000000000";
  char *digits = path + sizeof "/proc/self/fd/" - 1;
  int length = 1;
  for (int rest = descriptor; rest >= 10; rest /= 10) length++;
  digits[length] = 0;
  for (int rest = descriptor; length > 0; rest /= 10) digits[--length] = (char)('0' + rest % 10);
  return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
#else
  (void)descriptor;
  return -1;
#endif
}

// A way to write to a descriptor without waiting.
struct outlet {
  int descriptor;
  bool is_own;     // opened here, to be closed here
  bool is_socket;
  size_t piece;    // how much a write may hold that must not block
};

static struct outlet open_outlet(int descriptor) {
  struct outlet outlet = {descriptor, false, false, SIZE_MAX};
  int flags = fcntl(descriptor, F_GETFL);
  struct stat status;
  if (flags < 0 || (flags & O_NONBLOCK) || fstat(descriptor, &status) != 0) return outlet;
  outlet.is_socket = S_ISSOCK(status.st_mode);
  // A regular file does not block, and a second open would write from its beginning.
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) return outlet;
  int own = reopen_without_blocking(descriptor);
  if (own >= 0) {
    outlet.descriptor = own;
    outlet.is_own = true;
  } else {
    // After poll(2) a pipe accepts POSIX's smallest PIPE_BUF at once, and a terminal one byte.
    outlet.piece = S_ISFIFO(status.st_mode) ? 512 : 1;
  }
  return outlet;
}

// Waits until the descriptor accepts output or the deadline has passed.
static bool wait_until_writable(int descriptor, int64_t deadline) {
  struct pollfd writable = {descriptor, POLLOUT, 0};
  for (int tries = 0; tries < INTERRUPTION_LIMIT; tries++) {
    int64_t left = (deadline - unixhost_now()) / 1000000;
    int count = poll(&writable, 1, left > 0 ? (int)left : 0);
    if (count >= 0) return count > 0 && (writable.revents & POLLOUT);
    if (errno != EINTR) return false;
  }
  return false;
}

size_t unixhost_write_until(int descriptor, const void *bytes, size_t count, int64_t deadline) {
  struct outlet outlet = open_outlet(descriptor);
  bool may_block = outlet.piece != SIZE_MAX;
  size_t done = 0;
  int interruptions = 0;
  while (done < count) {
    if (may_block && !wait_until_writable(outlet.descriptor, deadline)) break;
    size_t piece = count - done < outlet.piece ? count - done : outlet.piece;
    const char *next = (const char *)bytes + done;
    ssize_t written = outlet.is_socket ? send(outlet.descriptor, next, piece, MSG_DONTWAIT | MSG_NOSIGNAL)
                                       : write(outlet.descriptor, next, piece);
    if (written > 0) {
      done += (size_t)written;
      continue;
    }
    if (written < 0 && errno == EINTR && ++interruptions < INTERRUPTION_LIMIT) continue;
    if (written == 0 || errno != EAGAIN || !wait_until_writable(outlet.descriptor, deadline)) break;
  }
  if (outlet.is_own) close(outlet.descriptor);
  return done;
}

// A reader of standard error may hang, so wait for it once, and not for each line; in nanoseconds.
#define STDERR_PATIENCE 250000000
static atomic_bool stderr_is_stalled;

bool unixhost_stderr_write(const void *bytes, size_t count) {
  size_t done = unixhost_write_until(2, bytes, count, atomic_load(&stderr_is_stalled) ? 0 : unixhost_now() + STDERR_PATIENCE);
  atomic_store(&stderr_is_stalled, done < count);
  return done == count;
}
