#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <errno.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/timerfd.h>

int unixhost_clock_timer_open(void) { return timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

bool unixhost_clock_timer_arm(int timer, int64_t seconds) {
  struct itimerspec time = {{0, 0}, {seconds, 0}};
  int result = timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &time, NULL);
  return result == 0 || errno != ECANCELED;
}

enum unixhost_clock_notice unixhost_clock_timer_take(int timer) {
  uint64_t count;
  if (read(timer, &count, sizeof count) == (ssize_t)sizeof count) return UNIXHOST_CLOCK_REACHED;
  return errno == ECANCELED ? UNIXHOST_CLOCK_SET : UNIXHOST_CLOCK_QUIET;
}
#else
int unixhost_clock_timer_open(void) {
  errno = ENOTSUP;
  return -1;
}

bool unixhost_clock_timer_arm(int timer, int64_t seconds) {
  (void)timer;
  (void)seconds;
  return true;
}

enum unixhost_clock_notice unixhost_clock_timer_take(int timer) {
  (void)timer;
  return UNIXHOST_CLOCK_QUIET;
}
#endif
