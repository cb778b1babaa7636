// The signalfds of other code, which take signals before a handler runs.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#if defined(__linux__)
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static bool is_signalfd(int directory, const char *name) {
  static const char kind[] = "anon_inode:[signalfd]";
  char target[sizeof kind];
  ssize_t count = readlinkat(directory, name, target, sizeof target);
  return count == (ssize_t)sizeof kind - 1 && memcmp(target, kind, sizeof kind - 1) == 0;
}

// Whether a descriptor may have come through exec. Its set then belongs to the process that has started this one, too. Libraries,
// such as libdispatch, open theirs close-on-exec.
static bool may_be_inherited(const char *name) { return !(fcntl(atoi(name), F_GETFD) & FD_CLOEXEC); }

// Reads a file of /proc, as much of it as there is room for.
static void read_text(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = file < 0 ? 0 : read(file, text, size - 1);
  if (file >= 0) close(file);
  text[count > 0 ? count : 0] = 0;
}

// Returns the signals in a line of such a file, a bit each; 0 if there is no such line.
static uint64_t signals_in(const char *text, const char *name) {
  const char *field = strstr(text, name);
  return field ? strtoull(field + strlen(name), NULL, 16) : 0;
}

// Returns the signals of a signalfd; 0 if they cannot be read.
static uint64_t signals_of(const char *name) {
  char path[64];
  char text[512];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%s", name);
  read_text(path, text, sizeof text);
  return signals_in(text, "sigmask:");
}

uint64_t unixhost_signalfds_reclaim(uint64_t signals) {
  DIR *descriptors = opendir("/proc/self/fd");
  if (!descriptors) return 0;
  uint64_t taken = 0;
  for (struct dirent *entry; (entry = readdir(descriptors));) {
    if (!is_signalfd(dirfd(descriptors), entry->d_name) || may_be_inherited(entry->d_name)) continue;
    uint64_t all = signals_of(entry->d_name);
    if (!(all & signals)) continue;
    sigset_t rest;
    sigemptyset(&rest);
    for (int number = 1; number <= 64; number++)
      if ((all & ~signals) >> (number - 1) & 1) sigaddset(&rest, number);
    // The call changes the set of an existing signalfd, and fails for any other descriptor.
    if (signalfd(atoi(entry->d_name), &rest, 0) >= 0) taken |= all & signals;
  }
  closedir(descriptors);
  return taken;
}

uint64_t unixhost_signals_stuck(uint64_t signals) {
  DIR *threads = opendir("/proc/self/task");
  if (!threads) return 0;
  uint64_t stuck = 0;
  for (struct dirent *entry; (entry = readdir(threads));) {
    if (entry->d_name[0] == '.') continue;
    char path[64];
    char text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", entry->d_name);
    read_text(path, text, sizeof text);
    stuck |= signals_in(text, "SigPnd:") & signals_in(text, "SigBlk:") & signals;
  }
  closedir(threads);
  return stuck;
}
#else
uint64_t unixhost_signals_stuck(uint64_t signals) {
  (void)signals;
  return 0;
}

uint64_t unixhost_signalfds_reclaim(uint64_t signals) {
  // A kqueue observes signals and takes none.
  (void)signals;
  return 0;
}
#endif
