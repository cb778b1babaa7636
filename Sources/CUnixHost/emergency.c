#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAVE_LIMIT 128

// How long the terminal and standard error may take nothing while the process ends, in milliseconds.
#define EMERGENCY_PATIENCE 1000

static atomic_int armed_terminal = -1;
static pid_t armed_process;
static struct termios found_modes;  // to be given back
static struct termios own_modes;
static char armed_bytes[LEAVE_LIMIT];
static size_t armed_count;

// What a signal handler has done about the screen since the terminal was armed.
static atomic_int left = UNIXHOST_NOT_LEFT;

// The thread that is inside unixhost_terminal_write.
static atomic_uintptr_t writer;

void unixhost_emergency_arm(
    int terminal, const struct termios *found, const struct termios *own, const char *bytes, size_t count) {
  atomic_store(&armed_terminal, -1);
  armed_process = getpid();
  found_modes = *found;
  own_modes = *own;
  armed_count = count > LEAVE_LIMIT ? LEAVE_LIMIT : count;
  memcpy(armed_bytes, bytes, armed_count);
  atomic_store(&left, UNIXHOST_NOT_LEFT);
  atomic_store(&armed_terminal, terminal);
}

void unixhost_emergency_disarm(void) { atomic_store(&armed_terminal, -1); }

bool unixhost_emergency_is_armed(void) { return atomic_load(&armed_terminal) >= 0; }

enum unixhost_leaving unixhost_emergency_left(void) { return (enum unixhost_leaving)atomic_load(&left); }

// A child that was forked and has not called exec has a copy of all this, and no business with the terminal.
static bool is_ours(int terminal) { return terminal >= 0 && getpid() == armed_process; }

static bool are_alike(const struct termios *one, const struct termios *other) {
  return one->c_iflag == other->c_iflag && one->c_oflag == other->c_oflag && one->c_lflag == other->c_lflag;
}

// Gives back the modes that were found. If the shell has taken the terminal a moment ago, it may have set modes for its prompt,
// which must stay; some shells set none, and the modes are still this program's.
static void give_modes_back(int terminal) {
  struct termios now;
  bool is_foreground = tcgetpgrp(terminal) == getpgrp();
  if (!is_foreground && (tcgetattr(terminal, &now) != 0 || !are_alike(&now, &own_modes))) return;
  // A process in the background may change the modes only while it blocks SIGTTOU; one that has just lost the foreground must not.
  sigset_t only, mask;
  sigemptyset(&only);
  sigaddset(&only, SIGTTOU);
  pthread_sigmask(is_foreground ? SIG_UNBLOCK : SIG_BLOCK, &only, &mask);
  tcsetattr(terminal, TCSANOW, &found_modes);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void unixhost_emergency_restore(void) {
  int saved_errno = errno;
  int terminal = atomic_exchange(&armed_terminal, -1);
  if (is_ours(terminal)) {
    give_modes_back(terminal);
    unixhost_write_within(terminal, armed_bytes, armed_count, EMERGENCY_PATIENCE);
  }
  unixhost_stderr_release();
  errno = saved_errno;
}

ssize_t unixhost_terminal_write(int terminal, const void *bytes, size_t count, bool is_leaving) {
  atomic_store(&writer, (uintptr_t)pthread_self());
  // The handler sets `left` and then looks at `writer`; here it is the other way round, so that one of the two sees the other.
  if (!unixhost_emergency_is_armed() || (!is_leaving && atomic_load(&left) != UNIXHOST_NOT_LEFT)) {
    atomic_store(&writer, 0);
    errno = ECANCELED;
    return -1;
  }
  ssize_t written = write(terminal, bytes, count);
  int saved_errno = errno;
  atomic_store(&writer, 0);
  errno = saved_errno;
  return written;
}

// A write to a terminal that does not block ends within microseconds.
#define WRITER_PATIENCE 2000000  // nanoseconds

void unixhost_emergency_leave(void) {
  int terminal = atomic_load(&armed_terminal);
  int not_left = UNIXHOST_NOT_LEFT;
  if (!is_ours(terminal) || !atomic_compare_exchange_strong(&left, &not_left, UNIXHOST_LEFT_IN_PART)) return;
  uintptr_t self = (uintptr_t)pthread_self();
  int64_t deadline = unixhost_now() + WRITER_PATIENCE;
  uintptr_t other;
  while ((other = atomic_load(&writer)) != 0 && other != self && unixhost_now() < deadline) {}
  // The terminal was opened without blocking. What it does not take now is the host's thread's to write.
  ssize_t written = write(terminal, armed_bytes, armed_count);
  give_modes_back(terminal);
  if (written == (ssize_t)armed_count) atomic_store(&left, UNIXHOST_LEFT);
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

// MARK: Signals that end a process

// Those whose default action ends a process, beside the ones that crash it and the ones that a host listens to. SIGPIPE is
// discarded, and SIGKILL cannot be caught.
static const int ending_signals[] = {
    SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ,
#if defined(__linux__)
    SIGPOLL, SIGPWR,  SIGSTKFLT,
#endif
};

// A write beyond the limit of a file's size sends the writer this signal, as if from itself, and fails with EFBIG. The error
// is enough.
static bool is_about_own_write(int number, const siginfo_t *info) {
  return number == SIGXFSZ && info->si_code == SI_USER && info->si_pid == getpid();
}

static void on_ending(int number, siginfo_t *info, void *context) {
  (void)context;
  if (is_about_own_write(number, info)) return;
  unixhost_emergency_restore();
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, NULL);
  // Blocked until this handler has returned; then it ends the process.
  raise(number);
}

static void install_ending(int number) {
  struct sigaction action;
  // A program may handle the signal itself.
  if (sigaction(number, NULL, &action) != 0 || (action.sa_flags & SA_SIGINFO) || action.sa_handler != SIG_DFL) return;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_ending;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(number, &action, NULL);
}

void unixhost_emergency_install(void) {
  static atomic_bool is_installed;
  if (atomic_exchange(&is_installed, true)) return;
  for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) install_ending(ending_signals[i]);
#if defined(__linux__)
  for (int number = SIGRTMIN; number <= SIGRTMAX; number++) install_ending(number);
#endif
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
  bool is_taken = true;
  off_t offset = atomic_exchange(&error_begins, 0);
  if (offset > 0) {
    static const char notice[] = "[what came before this on standard error was too much to keep]\n";
    is_taken = unixhost_stderr_write(notice, sizeof notice - 1);
  }
  while (is_taken && (count = pread(error_memory, buffer, sizeof buffer, offset)) > 0) {
    is_taken = unixhost_stderr_write(buffer, (size_t)count);
    offset += count;
  }
  while (ftruncate(error_memory, 0) != 0 && errno == EINTR) {}
}
