// Restoring the terminal before a crash or a signal ends the process.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// MARK: Crashes

static const int crash_signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
#define CRASH_SIGNAL_COUNT (sizeof crash_signals / sizeof *crash_signals)
static struct sigaction crash_actions_found[CRASH_SIGNAL_COUNT];

static const struct sigaction *crash_action_found(int number) {
  size_t i = 0;
  while (crash_signals[i] != number) i++;
  return &crash_actions_found[i];
}

// Whether the signal certainly comes again when the handler returns, because the same instruction faults again. A signal
// that a process has sent does not, nor does a trap that has advanced the program counter, nor a memory error that the
// kernel reports early (BUS_MCEERR_AO).
static bool comes_again(int number, int code) {
  if (code <= 0) return false;
#ifdef SI_KERNEL
  if (code == SI_KERNEL) return number == SIGSEGV || number == SIGBUS;
#endif
  switch (number) {
  case SIGILL:
  case SIGFPE: return true;
  case SIGSEGV: return code == SEGV_MAPERR || code == SEGV_ACCERR;
  case SIGBUS: return code == BUS_ADRALN || code == BUS_ADRERR || code == BUS_OBJERR;
  default: return false;
  }
}

// Whether a signal that was ignored when the program was started has no effect: one that a process has sent, or a memory error
// that the kernel reports early. abort() sends its signal again with the default action, and the kernel does so for a trap.
static bool stays_ignored(int number, const siginfo_t *info) {
#ifdef BUS_MCEERR_AO
  if (number == SIGBUS && info->si_code == BUS_MCEERR_AO) return true;
#endif
  return info->si_code <= 0 && !(number == SIGABRT && info->si_pid == getpid());
}

// Calls the former handler with the original context, and with the signal mask that it would have had.
static void call_found(const struct sigaction *found, int number, siginfo_t *info, void *context) {
  sigset_t mask = ((ucontext_t *)context)->uc_sigmask;
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  pthread_sigmask(SIG_BLOCK, &found->sa_mask, NULL);
  if (!(found->sa_flags & SA_NODEFER)) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_BLOCK, &only, NULL);
  }
  if (found->sa_flags & SA_SIGINFO) {
    found->sa_sigaction(number, info, context);
  } else {
    found->sa_handler(number);
  }
}

static void on_crash(int number, siginfo_t *info, void *context) {
  const struct sigaction *found = crash_action_found(number);
  bool is_handled = (found->sa_flags & SA_SIGINFO) || (found->sa_handler != SIG_DFL && found->sa_handler != SIG_IGN);
  bool is_ignored = !is_handled && found->sa_handler == SIG_IGN;
  bool is_fault = comes_again(number, info->si_code);
  if (is_ignored && stays_ignored(number, info)) return;
  unixhost_emergency_restore();
  sigaction(number, found, NULL);
  // The fault happens again, now for the former handler and with an unchanged context.
  if (is_fault) return;
  // The former handler, such as Swift's backtracer, may return. The terminal has been given back, so the process must
  // end all the same.
  if (is_handled) call_found(found, number, info, context);
  unixhost_die_by_signal(number);
}

// MARK: Signals that end a process

// The signals whose default action ends a process, except those of a crash and those that a host catches. SIGPIPE is
// discarded, and SIGKILL cannot be caught.
static const int ending_signals[] = {
    SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGSYS,
#if defined(__linux__)
    SIGPOLL, SIGPWR,  SIGSTKFLT,
#endif
};

// A write beyond the limit for the size of a file fails with EFBIG, and also sends the writer this signal, as if from
// itself. The error is enough, except in a forked child, where the signal acts as it would without a host.
static bool is_about_own_write(int number, const siginfo_t *info) {
  return number == SIGXFSZ && info->si_code == SI_USER && info->si_pid == getpid() && !unixhost_is_forked_child();
}

static void on_ending(int number, siginfo_t *info, void *context) {
  (void)context;
  if (is_about_own_write(number, info)) return;
  unixhost_emergency_restore();
  unixhost_die_by_signal(number);
}

static void install_ending(int number) {
  struct sigaction action;
  // A program may handle the signal itself.
  if (sigaction(number, NULL, &action) != 0 || (action.sa_flags & SA_SIGINFO) || action.sa_handler != SIG_DFL) return;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_ending;
  // Block all signals, so that no second one ends the process on this thread before the handler has restored the
  // terminal.
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
    // The mask is empty, because the backtracer does not work with all signals blocked.
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(crash_signals[i], &action, &crash_actions_found[i]);
  }
  atexit(unixhost_emergency_restore);
#if !defined(__APPLE__)
  at_quick_exit(unixhost_emergency_restore);
#endif
}

// The handler needs little stack, but the frame that the kernel builds, with all vector registers, is large.
#define EMERGENCY_STACK_SIZE (64 * 1024)

void unixhost_emergency_stack_install(void) {
  stack_t stack;
  // If the backtracer is enabled, it has given the thread a signal stack.
  if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_DISABLE)) return;
  void *memory = mmap(NULL, EMERGENCY_STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack = (stack_t){.ss_sp = memory, .ss_size = EMERGENCY_STACK_SIZE};
  if (sigaltstack(&stack, NULL) != 0) munmap(memory, EMERGENCY_STACK_SIZE);
}
