#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#if defined(__linux__)
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// The type of the file system of pidfds; elsewhere all of them share one number.
#define PIDFD_FILE_SYSTEM 0x50494446

bool unixhost_pidfd_identifier(uint64_t *identifier) {
  int descriptor = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (descriptor < 0) return false;
  struct statfs system;
  struct stat status;
  bool is_found = fstatfs(descriptor, &system) == 0 && system.f_type == PIDFD_FILE_SYSTEM &&
                  fstat(descriptor, &status) == 0;
  if (is_found) *identifier = status.st_ino;
  close(descriptor);
  return is_found;
}
#else
bool unixhost_pidfd_identifier(uint64_t *identifier) {
  (void)identifier;
  return false;
}
#endif
