#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

// When the process was last seen in the terminal's foreground, as unixhost_now tells the time.
static _Atomic int64_t last_seen;

// What a signal handler has done about the screen since the terminal was armed.
static atomic_int left = UNIXHOST_NOT_LEFT;

// The thread that is inside unixhost_terminal_write.
static atomic_uintptr_t writer;

// How many handlers read what is armed, beside those that restore it and end the process.
static atomic_int readers;

// How many threads are in unixhost_emergency_restore and may have found the terminal armed.
static atomic_int restorers;

// How long one thread waits for another that is in the middle of a short piece of work, in nanoseconds. Without a limit a
// handler could wait for the thread that it interrupted.
#define PATIENCE 2000000

static void wait_for_readers(void) {
  int64_t deadline = unixhost_now() + PATIENCE;
  while (atomic_load(&readers) + atomic_load(&restorers) != 0 && unixhost_now() < deadline) {}
}

// A write to a terminal that does not block ends within microseconds.
static void wait_for_writer(void) {
  uintptr_t self = (uintptr_t)pthread_self();
  int64_t deadline = unixhost_now() + PATIENCE;
  uintptr_t other;
  while ((other = atomic_load(&writer)) != 0 && other != self && unixhost_now() < deadline) {}
}

void unixhost_emergency_arm(
    int terminal, const struct termios *found, const struct termios *own, const char *bytes, size_t count) {
  unixhost_emergency_disarm();
  armed_process = getpid();
  found_modes = *found;
  own_modes = *own;
  armed_count = count > LEAVE_LIMIT ? LEAVE_LIMIT : count;
  memcpy(armed_bytes, bytes, armed_count);
  atomic_store(&left, UNIXHOST_NOT_LEFT);
  unixhost_emergency_seen();
  atomic_store(&armed_terminal, terminal);
}

void unixhost_emergency_disarm(void) {
  atomic_store(&armed_terminal, -1);
  wait_for_readers();
}

void unixhost_emergency_seen(void) { atomic_store(&last_seen, unixhost_now()); }

bool unixhost_emergency_is_armed(void) { return atomic_load(&armed_terminal) >= 0; }

enum unixhost_leaving unixhost_emergency_left(void) { return (enum unixhost_leaving)atomic_load(&left); }

// Whose a terminal is that was armed.
enum ownership {
  OURS,
  // Another job's, which got it so short a time ago that nothing but a shell's prompt can stand on this program's screen.
  JUST_LOST,
  // Another job's, whose screen it may be; or this process is a child that was forked and has a copy of all this.
  FOREIGN,
};

// The host looks every second whose the terminal is, unless the process is stopped: then another program may have it.
#define LOST_RECENTLY 2000000000  // nanoseconds

static enum ownership look_at(int terminal) {
  if (terminal < 0 || getpid() != armed_process) return FOREIGN;
  if (tcgetpgrp(terminal) == getpgrp()) return OURS;
  return unixhost_now() - atomic_load(&last_seen) < LOST_RECENTLY ? JUST_LOST : FOREIGN;
}

static bool are_alike(const struct termios *one, const struct termios *other) {
  return one->c_iflag == other->c_iflag && one->c_oflag == other->c_oflag && one->c_lflag == other->c_lflag;
}

// Gives back the modes that were found, and writes the leaving sequences: how much of them.
static size_t leave(int terminal, enum ownership ownership, int milliseconds) {
  sigset_t only, mask;
  sigemptyset(&only);
  sigaddset(&only, SIGTTOU);
  struct termios now;
  if (ownership == OURS) {
    // If the shell takes the terminal just now, the signal breaks this off, and its modes stay.
    pthread_sigmask(SIG_UNBLOCK, &only, &mask);
    tcsetattr(terminal, TCSANOW, &found_modes);
  } else {
    // Some shells set no modes of their own for their prompt. Blocked, the signal lets a process in the background do this.
    pthread_sigmask(SIG_BLOCK, &only, &mask);
    if (tcgetattr(terminal, &now) == 0 && are_alike(&now, &own_modes)) tcsetattr(terminal, TCSANOW, &found_modes);
  }
  pthread_sigmask(SIG_BLOCK, &only, NULL);
  size_t written = unixhost_write_within(terminal, armed_bytes, armed_count, milliseconds);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  return written;
}

void unixhost_emergency_restore(void) {
  // A child that was forked shares what its parent captures, too.
  if (getpid() != armed_process) return;
  int saved_errno = errno;
  // Counted before the exchange: a thread that finds nothing armed must see that another one restores it.
  atomic_fetch_add(&restorers, 1);
  int terminal = atomic_exchange(&armed_terminal, -1);
  enum ownership ownership = look_at(terminal);
  if (ownership != FOREIGN) {
    wait_for_writer();
    leave(terminal, ownership, EMERGENCY_PATIENCE);
  }
  if (terminal >= 0) unixhost_stderr_release();
  atomic_fetch_sub(&restorers, 1);
  if (terminal < 0) {
    // The caller is about to end the process, perhaps for a second signal that came while another thread handles the first.
    for (int i = 0; i < EMERGENCY_PATIENCE && atomic_load(&restorers) != 0; i++) poll(NULL, 0, 1);
    unixhost_stderr_release();
  }
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
  // A handler on this very thread, or one that had no more patience, has left the screen before these bytes were written.
  int whole = UNIXHOST_LEFT;
  if (!is_leaving) atomic_compare_exchange_strong(&left, &whole, UNIXHOST_LEFT_IN_PART);
  atomic_store(&writer, 0);
  errno = saved_errno;
  return written;
}

void unixhost_emergency_leave(void) {
  atomic_fetch_add(&readers, 1);
  int terminal = atomic_load(&armed_terminal);
  enum ownership ownership = look_at(terminal);
  int state = UNIXHOST_NOT_LEFT;
  if (ownership != FOREIGN && atomic_compare_exchange_strong(&left, &state, UNIXHOST_LEFT_IN_PART)) {
    wait_for_writer();
    // What the terminal does not take now is the host's thread's to write.
    if (leave(terminal, ownership, 0) == armed_count) atomic_store(&left, UNIXHOST_LEFT);
  }
  atomic_fetch_sub(&readers, 1);
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
  // No second signal may end the process on this thread before the first one's handler has restored the terminal.
  sigfillset(&action.sa_mask);
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
// What is shown of it when the screen is left: some hundred lines, which a terminal takes in no time.
#define ERROR_SHOWN (128 * 1024)
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

static bool write_text(const char *text, int64_t deadline) {
  size_t count = strlen(text);
  return unixhost_write_until(2, text, count, deadline) == count;
}

void unixhost_stderr_release(void) {
  if (!atomic_exchange(&error_is_captured, false)) return;
  dup2(error_found, 2);
  char buffer[4096];
  ssize_t count;
  bool is_taken = true;
  off_t offset = atomic_exchange(&error_begins, 0);
  struct stat status;
  if (fstat(error_memory, &status) == 0 && status.st_size - offset > ERROR_SHOWN) offset = status.st_size - ERROR_SHOWN;
  // For all of it together: a reader that takes a little at a time must not hold up the end.
  int64_t deadline = unixhost_now() + (int64_t)EMERGENCY_PATIENCE * 1000000;
  if (offset > 0) is_taken = write_text("[what came before this on standard error was too much to show]\n", deadline);
  while (is_taken && (count = pread(error_memory, buffer, sizeof buffer, offset)) > 0) {
    is_taken = unixhost_write_until(2, buffer, (size_t)count, deadline) == (size_t)count;
    offset += count;
  }
  if (!is_taken) write_text("\n[the rest of standard error was not taken in time]\n", deadline);
  while (ftruncate(error_memory, 0) != 0 && errno == EINTR) {}
}
