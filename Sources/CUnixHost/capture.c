// Capture of standard error: kept in memory while the program has its screen, and printed afterwards.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int error_found = -1;    // where descriptor 2 pointed
static atomic_int error_memory = -1;
static atomic_bool error_is_captured;

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

static int open_memory(void) {
#if defined(__linux__)
  // A system may refuse memory that could be executed; Linux before 6.3 does not know the flag.
  int memory = memfd_create("standard-error", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
  if (memory < 0 && errno == EINVAL) memory = memfd_create("standard-error", MFD_CLOEXEC);
#else
  char path[] = "/tmp/standard-error.XXXXXX";
  int memory = mkstemp(path);
  if (memory >= 0) {
    unlink(path);
    fcntl(memory, F_SETFD, FD_CLOEXEC);
  }
#endif
  // Several processes may write there, and must not overwrite each other's lines.
  if (memory >= 0) fcntl(memory, F_SETFL, O_APPEND);
  return memory;
}

// Returns the memory, which the first thread that needs it opens.
static int take_memory(void) {
  int none = -1;
  if (atomic_load(&error_memory) >= 0) return atomic_load(&error_memory);
  int memory = open_memory();
  if (memory >= 0 && !atomic_compare_exchange_strong(&error_memory, &none, memory)) close(memory);
  return atomic_load(&error_memory);
}

bool unixhost_stderr_keep(const void *bytes, size_t count) {
  int memory = take_memory();
  return memory >= 0 && write(memory, bytes, count) == (ssize_t)count;
}

// A program may write any amount while it has its screen; beyond this limit only the last part is kept.
#define ERROR_LIMIT (1024 * 1024)
#define ERROR_PART (256 * 1024)
// The part that is printed when the screen is left: some hundred lines, which a terminal accepts at once.
#define ERROR_SHOWN (128 * 1024)
// The time limit for printing, in milliseconds.
static _Atomic int showing_patience = 1000;
static _Atomic off_t error_begins;  // what comes before it has been given back

void unixhost_stderr_set_patience(int milliseconds) { atomic_store(&showing_patience, milliseconds); }

// A limit for the size of files holds for the memory, too, which does not become shorter when old output is freed: output
// beyond the limit would be lost, and end a child.
static bool may_grow(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
}

void unixhost_stderr_capture(void) {
  if (atomic_load(&error_is_captured) || !isatty(2) || !may_grow()) return;
  int memory = take_memory();
  // Use a number above the descriptors of a shell's redirections. Copy it each time, because the program may have
  // redirected 2 meanwhile.
  if (error_found >= 0) close(error_found);
  error_found = fcntl(2, F_DUPFD_CLOEXEC, 20);
  if (memory < 0 || error_found < 0) return;
  if (dup2(memory, 2) == 2) atomic_store(&error_is_captured, true);
}

bool unixhost_stderr_tend(void) {
  struct stat status;
  if (error_memory < 0 || fstat(error_memory, &status) != 0) return false;
#if defined(__linux__)
  off_t begins = atomic_load(&error_begins);
  if (status.st_size - begins > ERROR_LIMIT) {
    // Punch a hole instead of shortening the file, because other processes write at its end. Align it to pages, so that
    // all memory is freed.
    off_t end = (status.st_size - ERROR_PART) & ~(off_t)0xFFFF;
    atomic_store(&error_begins, end);
    fallocate(error_memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begins, end - begins);
  }
#endif
  // A child process of the program has this memory as its standard error as long as it runs.
  return !atomic_load(&error_is_captured) && status.st_size > 0;
}

static bool write_text(const char *text, int64_t deadline) {
  size_t count = strlen(text);
  return unixhost_write_until(2, text, count, deadline) == count;
}

void unixhost_stderr_show(void) {
  static atomic_bool is_showing;
  struct stat status;
  if (error_memory < 0 || fstat(error_memory, &status) != 0 || status.st_size == 0) return;
  if (atomic_exchange(&is_showing, true)) return;
  char buffer[4096];
  ssize_t count;
  bool is_taken = true;
  off_t offset = atomic_exchange(&error_begins, 0);
  if (status.st_size - offset > ERROR_SHOWN) offset = status.st_size - ERROR_SHOWN;
  // One deadline for all output: a slow reader must not delay the end of the process.
  int64_t deadline = unixhost_now() + (int64_t)atomic_load(&showing_patience) * 1000000;
  if (offset > 0) is_taken = write_text("[what came before this on standard error was too much to show]\n", deadline);
  while (is_taken && (count = pread(error_memory, buffer, sizeof buffer, offset)) > 0) {
    is_taken = unixhost_write_until(2, buffer, (size_t)count, deadline) == (size_t)count;
    offset += count;
  }
  if (!is_taken) write_text("\n[the rest of standard error was not taken in time]\n", deadline);
  while (ftruncate(error_memory, 0) != 0 && errno == EINTR) {}
  atomic_store(&is_showing, false);
}

// Whether descriptor 2 is the memory: the program may have redirected it during the capture.
static bool is_memory(void) {
  struct stat present, memory;
  return fstat(2, &present) == 0 && fstat(error_memory, &memory) == 0 && present.st_dev == memory.st_dev &&
         present.st_ino == memory.st_ino;
}

void unixhost_stderr_release(bool shows) {
  if (atomic_exchange(&error_is_captured, false) && is_memory()) dup2(error_found, 2);
  if (shows) unixhost_stderr_show();
}
