#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAVE_LIMIT 128

static atomic_int armed_terminal = -1;
static struct termios armed_modes;
static char armed_bytes[LEAVE_LIMIT];
static size_t armed_count;

void unixhost_emergency_arm(int terminal, const struct termios *modes, const char *bytes, size_t count) {
  atomic_store(&armed_terminal, -1);
  armed_modes = *modes;
  armed_count = count > LEAVE_LIMIT ? LEAVE_LIMIT : count;
  memcpy(armed_bytes, bytes, armed_count);
  atomic_store(&armed_terminal, terminal);
}

void unixhost_emergency_disarm(void) { atomic_store(&armed_terminal, -1); }

bool unixhost_emergency_is_armed(void) { return atomic_load(&armed_terminal) >= 0; }

// The descriptor may be non-blocking; a terminal that takes nothing for a second is given up.
static void write_all(int descriptor, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(descriptor, bytes, count);
    if (written > 0) {
      bytes += written;
      count -= (size_t)written;
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    struct pollfd ready = {descriptor, POLLOUT, 0};
    if (written >= 0 || errno != EAGAIN || poll(&ready, 1, 1000) <= 0) return;
  }
}

void unixhost_emergency_restore(void) {
  int saved_errno = errno;
  int terminal = atomic_exchange(&armed_terminal, -1);
  if (terminal >= 0 && tcgetpgrp(terminal) == getpgrp()) {
    write_all(terminal, armed_bytes, armed_count);
    tcsetattr(terminal, TCSANOW, &armed_modes);
  }
  unixhost_stderr_release();
  errno = saved_errno;
}

// MARK: Crashes

static const int crash_signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
#define CRASH_SIGNAL_COUNT (sizeof crash_signals / sizeof *crash_signals)
static struct sigaction crash_actions_found[CRASH_SIGNAL_COUNT];

static void on_crash(int number, siginfo_t *info, void *context) {
  (void)context;
  unixhost_emergency_restore();
  for (size_t i = 0; i < CRASH_SIGNAL_COUNT; i++)
    if (crash_signals[i] == number) sigaction(number, &crash_actions_found[i], NULL);
  // A fault happens again when the instruction is executed again, now for the handler that was there before and with an
  // untouched context. A signal that was sent, or a trap that has moved on, does not: it is sent again, and stays blocked
  // until this handler has returned.
  if (info->si_code <= 0 || number == SIGTRAP) raise(number);
}

void unixhost_emergency_install(void) {
  static atomic_bool is_installed;
  if (atomic_exchange(&is_installed, true)) return;
  for (size_t i = 0; i < CRASH_SIGNAL_COUNT; i++) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_crash;
    // An empty mask: the backtracer would not survive being called with every signal blocked.
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(crash_signals[i], &action, &crash_actions_found[i]);
  }
  atexit(unixhost_emergency_restore);
}

// The handler's own needs are small; the frame that the kernel builds, with all vector registers, is not.
#define EMERGENCY_STACK_SIZE (64 * 1024)

void unixhost_emergency_stack_install(void) {
  stack_t stack;
  // The backtracer, where it is on, has given the thread one.
  if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_DISABLE)) return;
  void *memory = mmap(NULL, EMERGENCY_STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack = (stack_t){.ss_sp = memory, .ss_size = EMERGENCY_STACK_SIZE};
  if (sigaltstack(&stack, NULL) != 0) munmap(memory, EMERGENCY_STACK_SIZE);
}

// MARK: Standard error

static int error_found = -1;    // where descriptor 2 pointed
static int error_memory = -1;
static atomic_bool error_is_captured;

static int open_memory(void) {
#if defined(__linux__)
  int memory = memfd_create("standard-error", MFD_CLOEXEC);
#else
  char path[] = "/tmp/standard-error.XXXXXX";
  int memory = mkstemp(path);
  if (memory >= 0) {
    unlink(path);
    fcntl(memory, F_SETFD, FD_CLOEXEC);
  }
#endif
  // Several processes may write there; none must overwrite another's lines.
  if (memory >= 0) fcntl(memory, F_SETFL, O_APPEND);
  return memory;
}

// What a program writes while it has its screen may be without end: of more than the limit only the last part stays.
#define ERROR_LIMIT (1024 * 1024)
#define ERROR_PART (256 * 1024)
static _Atomic off_t error_begins;  // what comes before it has been given back

void unixhost_stderr_capture(void) {
  if (atomic_load(&error_is_captured) || !isatty(2)) return;
  if (error_memory < 0) error_memory = open_memory();
  // Above the descriptors that a shell's redirections use. Made anew each time: somebody may have redirected 2 meanwhile.
  if (error_found >= 0) close(error_found);
  error_found = fcntl(2, F_DUPFD_CLOEXEC, 20);
  if (error_memory < 0 || error_found < 0) return;
  if (dup2(error_memory, 2) == 2) atomic_store(&error_is_captured, true);
}

void unixhost_stderr_trim(void) {
#if defined(__linux__)
  if (!atomic_load(&error_is_captured)) return;
  struct stat status;
  off_t begins = atomic_load(&error_begins);
  if (fstat(error_memory, &status) != 0 || status.st_size - begins <= ERROR_LIMIT) return;
  // A hole, and not a shorter file: others write at its end meanwhile. It begins at a whole page, so that nothing stays.
  off_t end = (status.st_size - ERROR_PART) & ~(off_t)0xFFFF;
  atomic_store(&error_begins, end);
  fallocate(error_memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begins, end - begins);
#endif
}

void unixhost_stderr_release(void) {
  if (!atomic_exchange(&error_is_captured, false)) return;
  dup2(error_found, 2);
  char buffer[4096];
  ssize_t count;
  off_t offset = atomic_exchange(&error_begins, 0);
  if (offset > 0) {
    static const char notice[] = "[what came before this on standard error was too much to keep]\n";
    write_all(2, notice, sizeof notice - 1);
  }
  while ((count = pread(error_memory, buffer, sizeof buffer, offset)) > 0) {
    write_all(2, buffer, (size_t)count);
    offset += count;
  }
  while (ftruncate(error_memory, 0) != 0 && errno == EINTR) {}
}
