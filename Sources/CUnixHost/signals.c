#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SIGNAL_LIMIT 65

static atomic_int record_writer = -1;
static int record_reader = -1;
static atomic_uint continues_begun;  // handlers of SIGCONT that have begun
static atomic_uint continues;        // those whose records were written
static _Atomic uint64_t unrecorded;  // signals that found the pipe full, one bit each

static struct sigaction found[SIGNAL_LIMIT];
static bool is_changed[SIGNAL_LIMIT];

// The process that catches signals. A child that was forked without exec has these handlers, too.
static pid_t owner;

bool unixhost_is_forked_child(void) { return owner != 0 && getpid() != owner; }

// In a forked child, lets the signal act as it would without a host, and returns true. The child shares the pipe of its
// parent, and a signal to the child must not end the parent.
static bool acts_on_child(int number) {
  if (!unixhost_is_forked_child()) return false;
  sigaction(number, &found[number], NULL);
  // It stays blocked until the handler has returned.
  raise(number);
  return true;
}

static void record_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  int saved_errno = errno;
  if (acts_on_child(number)) {
    errno = saved_errno;
    return;
  }
  // The write below may let the thread that it wakes run first.
  if (number == SIGCONT) atomic_fetch_add(&continues_begun, 1);
  int64_t arrived = unixhost_now();
  // For a key the kernel has discarded the input before it; what follows the key is for the shell.
  if (info && info->si_code > 0 && (number == SIGTSTP || number == SIGINT)) unixhost_emergency_claim_input(false);
  // Leave the screen as early as possible: a wrapper in the same job has also received this signal, and may already
  // have stopped or ended, after which the shell takes the terminal.
  if (number == SIGTSTP || number == SIGTERM || number == SIGINT || number == SIGHUP) unixhost_emergency_leave();
  struct unixhost_signal record = {number, info ? info->si_code : 0, arrived};
  int writer = atomic_load(&record_writer);
  if (writer >= 0 && write(writer, &record, sizeof record) != (ssize_t)sizeof record) {
    atomic_fetch_or(&unrecorded, UINT64_C(1) << (number & 63));
    // The reader may have emptied the pipe in between, and may be waiting now. A record without a signal wakes it; a
    // pipe that is still full wakes it by itself.
    struct unixhost_signal wake = {0, 0, 0};
    ssize_t ignored = write(writer, &wake, sizeof wake);
    (void)ignored;
  }
  // Count after the write, so that every counted record can be read.
  if (number == SIGCONT) atomic_fetch_add(&continues, 1);
  errno = saved_errno;
}

static void discard_signal(int number) {
  int saved_errno = errno;
  acts_on_child(number);
  errno = saved_errno;
}

int unixhost_pipe(int ends[2]) {
#if defined(__linux__)
  return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
#else
  if (pipe(ends) != 0) return -1;
  for (int i = 0; i < 2; i++) {
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    fcntl(ends[i], F_SETFL, O_NONBLOCK);
  }
  return 0;
#endif
}

int unixhost_signals_open(void) {
  if (record_reader < 0 || owner != getpid()) {
    int ends[2];
    if (unixhost_pipe(ends) != 0) return -1;
    // A forked child with a host of its own leaves its parent's pipe.
    if (record_reader >= 0) {
      close(record_reader);
      close(atomic_load(&record_writer));
    }
    record_reader = ends[0];
    atomic_store(&record_writer, ends[1]);
    owner = getpid();
  }
  struct unixhost_signal forgotten;
  while (unixhost_signal_next(&forgotten)) {}
  return record_reader;
}

bool unixhost_signal_is_ignored(int number) {
  struct sigaction action;
  if (sigaction(number, NULL, &action) != 0) return false;
  return !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}

static int change(int number, struct sigaction *action) {
  struct sigaction before;
  if (number <= 0 || number >= SIGNAL_LIMIT) return -1;
  if (sigaction(number, action, &before) != 0) return -1;
  if (!is_changed[number]) {
    found[number] = before;
    is_changed[number] = true;
  }
  return 0;
}

int unixhost_signal_catch(int number) {
  // SIGTTIN and SIGTTOU must interrupt the call that caused them: if restarted, it would cause them again, for ever.
  bool restarts = number != SIGTTIN && number != SIGTTOU;
  struct sigaction action = {
      .sa_sigaction = record_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | (restarts ? SA_RESTART : 0)};
  sigfillset(&action.sa_mask);
  return change(number, &action);
}

// Writes the name of the file that contains a function, without its directory.
static void name_library(void *function, char library[UNIXHOST_NAME_LIMIT]) {
  Dl_info info;
  if (!dladdr(function, &info) || !info.dli_fname) return;
  const char *slash = strrchr(info.dli_fname, '/');
  snprintf(library, UNIXHOST_NAME_LIMIT, "%s", slash ? slash + 1 : info.dli_fname);
}

enum unixhost_signal_holder unixhost_signal_reclaim(int number, char library[UNIXHOST_NAME_LIMIT]) {
  library[0] = 0;
  struct sigaction present;
  if (sigaction(number, NULL, &present) != 0) return UNIXHOST_SIGNAL_OURS;
  bool has_info = present.sa_flags & SA_SIGINFO;
  if (has_info && present.sa_sigaction == record_signal) return UNIXHOST_SIGNAL_OURS;
  unixhost_signal_catch(number);
  if (!has_info && present.sa_handler == SIG_IGN) return UNIXHOST_SIGNAL_IGNORED;
  if (!has_info && present.sa_handler == SIG_DFL) return UNIXHOST_SIGNAL_DEFAULT;
  name_library(has_info ? (void *)present.sa_sigaction : (void *)present.sa_handler, library);
  return UNIXHOST_SIGNAL_HANDLED;
}

int unixhost_signal_discard(int number) {
  struct sigaction action = {.sa_handler = discard_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
  return change(number, &action);
}

// Until this time an order to end repeats the one that was obeyed.
static _Atomic int64_t copies_end;

// Handles an order that arrives while the process ends by itself.
static void on_late_order(int number) {
  int saved_errno = errno;
  if (!acts_on_child(number) && unixhost_now() >= atomic_load(&copies_end)) {
    unixhost_die_by_signal(number);
  }
  errno = saved_errno;
}

static bool is_order(int number) { return number == SIGTERM || number == SIGINT || number == SIGHUP; }

void unixhost_signals_restore(int64_t deadline) {
  atomic_store(&copies_end, deadline);
  for (int number = 1; number < SIGNAL_LIMIT; number++) {
    if (!is_changed[number]) continue;
    bool was_default = !(found[number].sa_flags & SA_SIGINFO) && found[number].sa_handler == SIG_DFL;
    if (is_order(number) && was_default && unixhost_now() < deadline) {
      struct sigaction action = {.sa_handler = on_late_order, .sa_flags = SA_ONSTACK | SA_RESTART};
      sigaction(number, &action, NULL);
      // Keep the entry, because the next host must know the disposition that was found.
      continue;
    }
    sigaction(number, &found[number], NULL);
    is_changed[number] = false;
  }
}

bool unixhost_signal_next(struct unixhost_signal *record) {
  ssize_t count;
  do count = read(record_reader, record, sizeof *record);
  while (count < 0 && errno == EINTR);
  if (count == (ssize_t)sizeof *record) return true;
  uint64_t left = atomic_load(&unrecorded);
  for (int number = 1; left != 0 && number < 64; number++) {
    uint64_t bit = UINT64_C(1) << number;
    if (!(left & bit)) continue;
    atomic_fetch_and(&unrecorded, ~bit);
    *record = (struct unixhost_signal){number, 0, unixhost_now()};
    return true;
  }
  return false;
}

uint32_t unixhost_continue_count(void) { return atomic_load(&continues); }

uint32_t unixhost_continues_begun(void) { return atomic_load(&continues_begun); }

uint32_t unixhost_continues_arrived(void) {
  uint32_t before = unixhost_continues_begun();
  sigset_t pending;
  bool is_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGCONT);
  uint32_t after = unixhost_continues_begun();
  return after != before ? after : before + is_pending;
}

static void set_default(int number, struct sigaction *before) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(number, &action, before);
}

static void change_mask(int how, int number, sigset_t *before) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  pthread_sigmask(how, &only, before);
}

void unixhost_faults_unblock(void) {
  static const int faults[] = {UNIXHOST_FAULTS};
  sigset_t needed;
  sigemptyset(&needed);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigaddset(&needed, faults[i]);
  pthread_sigmask(SIG_UNBLOCK, &needed, NULL);
}

void unixhost_signals_unblock(void) {
  unixhost_faults_unblock();
  sigset_t needed;
  sigemptyset(&needed);
  // Their default actions keep a background job from changing the shell's terminal.
  sigaddset(&needed, SIGTTIN);
  sigaddset(&needed, SIGTTOU);
  for (int number = 1; number < SIGNAL_LIMIT; number++)
    if (is_changed[number]) sigaddset(&needed, number);
  pthread_sigmask(SIG_UNBLOCK, &needed, NULL);
}

bool unixhost_stop(bool whole_group, uint32_t continue_count) {
  if (atomic_load(&continues) != continue_count) return true;
  struct sigaction before;
  sigset_t mask;
  if (whole_group) {
    // Send the signal to the whole group, including this process, in one call. As soon as another process has stopped,
    // the shell may continue all of them, and this process must already have the signal pending by then. A separate
    // signal to this process could come after that SIGCONT. The kernel would then discard the SIGCONT, and this process
    // would stay stopped in a running job.
    change_mask(SIG_BLOCK, SIGTSTP, &mask);
    set_default(SIGTSTP, &before);
    kill(0, SIGTSTP);
    // The kernel may have chosen another thread, which has not run yet. Unblock the signal here, so that this thread
    // receives it.
    change_mask(SIG_UNBLOCK, SIGTSTP, NULL);
  } else {
    change_mask(SIG_UNBLOCK, SIGTSTP, &mask);
    set_default(SIGTSTP, &before);
    // raise sends the signal to this thread and returns only after the stop; kill to the own process may return before
    // it.
    raise(SIGTSTP);
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  // A stopped process was continued by a SIGCONT. Its handler may run on another thread, a moment later.
  for (int i = 0; i < 20 && atomic_load(&continues) == continue_count; i++) poll(NULL, 0, 5);
  sigaction(SIGTSTP, &before, NULL);
  return atomic_load(&continues) != continue_count;
}

void unixhost_die_by_signal(int number) {
  set_default(number, NULL);
  change_mask(SIG_UNBLOCK, number, NULL);
  raise(number);
  // The process is process 1 of its container, for which the kernel performs no default action.
  _exit(128 + number);
}
