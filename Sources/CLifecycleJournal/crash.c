// Only async-signal-safe calls are made in the handler: it may have interrupted any code, the journal's own included.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CLifecycleJournal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// The signals by which a process ends for a mistake of its own code.
static const struct {
  int number;
  const char *name;
} crash_signals[] = {
    {SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"}, {SIGSEGV, "SIGSEGV"},
};
#define CRASH_SIGNAL_COUNT (sizeof crash_signals / sizeof *crash_signals)
static struct sigaction actions_found[CRASH_SIGNAL_COUNT];

// An open journal.
struct slot {
  atomic_int descriptor;  // plus one; 0 if the slot is free, -1 while it is filled
  int64_t base;           // the time of this file's clock at which the records' clock was 0, in nanoseconds
  int64_t limit;
  pid_t owner;  // a forked child has a copy, and a crash of it is not the parent's
};
#define SLOT_COUNT 32
static struct slot slots[SLOT_COUNT];

// The number of handlers that may use a descriptor.
static atomic_int writers;

// The clock of the records of a real application: it stands still while the machine sleeps.
static int64_t now(void) {
  struct timespec time;
#if defined(__APPLE__)
  clock_gettime(CLOCK_UPTIME_RAW, &time);
#else
  clock_gettime(CLOCK_MONOTONIC, &time);
#endif
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static size_t append(char *line, size_t count, const char *text) {
  while (*text) line[count++] = *text++;
  return count;
}

static size_t append_number(char *line, size_t count, uint64_t number, int width) {
  for (int i = width - 1; i >= 0; i--, number /= 10) line[count + (size_t)i] = (char)('0' + number % 10);
  return count + (size_t)width;
}

static void write_line(const struct slot *slot, int descriptor, const char *name) {
  char line[128];
  int64_t instant = now() - slot->base;
  if (instant < 0) instant = 0;
  // The first line feed ends a line that the crash has cut.
  size_t count = append(line, 0, "\n{\"journal\":\"crash\",\"t\":");
  uint64_t seconds = (uint64_t)instant / 1000000000;
  int width = 1;
  for (uint64_t rest = seconds / 10; rest > 0; rest /= 10) width++;
  count = append_number(line, count, seconds, width);
  count = append(line, count, ".");
  count = append_number(line, count, (uint64_t)instant % 1000000000, 9);
  count = append(line, count, ",\"signal\":\"");
  count = append(line, count, name);
  count = append(line, count, "\"}\n");
  // A write beyond the limit would raise another fatal signal.
  struct stat status;
  if (slot->limit >= 0 && (fstat(descriptor, &status) != 0 || status.st_size + (int64_t)count > slot->limit)) return;
  ssize_t ignored = write(descriptor, line, count);
  (void)ignored;
}

// Calls the action that was found before: another handler, such as Swift's backtracer, or the end of the process.
//
// A handler is called with the original context, because the signal need not come again: another process may have sent
// it, or an instruction that traps may have been passed.
static void call_found(const struct sigaction *found, int number, siginfo_t *info, void *context) {
  bool is_handler = (found->sa_flags & SA_SIGINFO) || (found->sa_handler != SIG_DFL && found->sa_handler != SIG_IGN);
  sigaction(number, found, NULL);
  if (!is_handler) {
    // The signal stays blocked until the handler has returned, and ends the process then.
    raise(number);
    return;
  }
  // The mask that the handler would have had: Swift's backtracer meets faults of its own, which must not be blocked.
  sigset_t mask = ((ucontext_t *)context)->uc_sigmask;
  if (!(found->sa_flags & SA_NODEFER)) sigaddset(&mask, number);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  pthread_sigmask(SIG_BLOCK, &found->sa_mask, NULL);
  if (found->sa_flags & SA_SIGINFO) {
    found->sa_sigaction(number, info, context);
  } else {
    found->sa_handler(number);
  }
  // Swift's backtracer leaves the default action, and returns also from a signal that does not come again.
  struct sigaction present;
  if (sigaction(number, NULL, &present) == 0 && !(present.sa_flags & SA_SIGINFO) && present.sa_handler == SIG_DFL)
    raise(number);
}

static void on_crash(int number, siginfo_t *info, void *context) {
  int saved_errno = errno;
  for (size_t i = 0; i < CRASH_SIGNAL_COUNT; i++) {
    if (crash_signals[i].number != number) continue;
    atomic_fetch_add(&writers, 1);
    for (size_t j = 0; j < SLOT_COUNT; j++) {
      int descriptor = atomic_load(&slots[j].descriptor) - 1;
      if (descriptor >= 0 && slots[j].owner == getpid()) write_line(&slots[j], descriptor, crash_signals[i].name);
    }
    atomic_fetch_sub(&writers, 1);
    errno = saved_errno;
    call_found(&actions_found[i], number, info, context);
  }
}

// After a stack overflow a handler needs another stack.
static void install_stack(void) {
#if defined(__APPLE__)
  bool is_main = pthread_main_np() != 0;
#else
  bool is_main = getpid() == gettid();
#endif
  const size_t size = 64 * 1024;
  stack_t stack;
  if (!is_main || sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_DISABLE)) return;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack = (stack_t){.ss_sp = memory, .ss_size = size};
  if (sigaltstack(&stack, NULL) != 0) munmap(memory, size);
}

static void install(void) {
  for (size_t i = 0; i < CRASH_SIGNAL_COUNT; i++) {
    struct sigaction action;
    if (sigaction(crash_signals[i].number, NULL, &action) != 0) continue;
    // The process survives this signal.
    if (!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN) continue;
    actions_found[i] = action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_crash;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    // Another thread may have installed a handler meanwhile.
    sigaction(crash_signals[i].number, &action, &actions_found[i]);
  }
}

int journal_crash_arm(int descriptor, int64_t instant, int64_t limit) {
  static pthread_once_t is_installed = PTHREAD_ONCE_INIT;
  pthread_once(&is_installed, install);
  // Each time: the first journal may be opened by another thread than the main one, which needs the stack.
  install_stack();
  for (int i = 0; i < SLOT_COUNT; i++) {
    int free_slot = 0;
    if (!atomic_compare_exchange_strong(&slots[i].descriptor, &free_slot, -1)) continue;
    slots[i].base = now() - instant;
    slots[i].limit = limit;
    slots[i].owner = getpid();
    atomic_store(&slots[i].descriptor, descriptor + 1);
    return i;
  }
  return -1;
}

void journal_crash_disarm(int slot) {
  if (slot < 0 || slot >= SLOT_COUNT) return;
  atomic_store(&slots[slot].descriptor, 0);
  // A handler may be about to write. Without a limit this thread could wait for ever for a handler that is stuck.
  int64_t deadline = now() + 1000000000;
  while (atomic_load(&writers) != 0 && now() < deadline) {}
}
