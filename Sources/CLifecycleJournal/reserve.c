#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CLifecycleJournal.h"

#include <errno.h>
#include <fcntl.h>

int journal_reserve(int descriptor, int64_t offset, int64_t count) {
#if defined(__linux__)
  return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, count);
#else
  (void)descriptor, (void)offset, (void)count;
  errno = ENOTSUP;
  return -1;
#endif
}
