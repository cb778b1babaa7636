// Restoring the terminal, whatever happens to the program.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

// The time for which the terminal may accept no output while the process ends, in milliseconds.
#define EMERGENCY_PATIENCE 1000

static atomic_int armed_terminal = -1;

// Whether the process ends, so that the terminal stays given back, whatever another thread does.
static atomic_bool is_over;

static pid_t armed_process;

// The modes of the terminal. While it is armed again, threads that restore it read one pair, and the other one is written.
struct modes {
  struct termios found;  // to be given back
  struct termios own;
};
static struct modes armed_modes[2];
static atomic_uint modes_place;

static const struct modes *present_modes(void) { return &armed_modes[atomic_load(&modes_place)]; }

static char armed_bytes[UNIXHOST_LEAVE_LIMIT];
static size_t armed_count;
static bool armed_blocks;  // a write to the terminal may wait

// The group of the shell that runs this process's job; 0 if it is unknown.
static atomic_int shell_group;

// In the lower half: how many of the armed bytes have been written. They continue where they were interrupted, because
// some of them, such as those that pop a stack, must not be written twice. In the upper half: the generation of `left`.
// A handler that is delayed until the terminal is armed again must not count for the new screen.
static _Atomic uint64_t left_count;
#define COUNT_OF(state) ((size_t)((state) & UINT32_MAX))
#define GENERATION_OF(state) ((unsigned)((state) >> 32))

// In the lowest bits: whether a signal handler has left the screen since the terminal was armed. Above them: how often
// it was armed. A handler that is delayed until the terminal is armed again must not report that the new screen has
// been left.
static atomic_uint left = UNIXHOST_NOT_LEFT;
#define LEFT_BITS 3u

// Whether output for the screen was written while a handler left it, or perhaps afterwards.
static atomic_bool is_spoiled;

// Whether unread input was typed for the program, and not for the shell.
static atomic_bool input_is_ours;

// The thread that is inside unixhost_terminal_write.
static atomic_uintptr_t writer;

// The thread that restores modes and writes leaving sequences, one at a time.
static atomic_uintptr_t leaver;

// The number of handlers that read the armed state, except those that restore the terminal and end the process.
static atomic_int readers;

// The number of threads in unixhost_emergency_restore that may have found the terminal armed.
static atomic_int restorers;

// The time for which one thread waits for another in a short critical section, in nanoseconds. Without a limit a
// handler could wait for ever for the thread that it interrupted.
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

static void set_modes(pid_t shell, const struct termios *found, const struct termios *own) {
  unsigned other = 1 - atomic_load(&modes_place);
  armed_modes[other] = (struct modes){*found, *own};
  atomic_store(&modes_place, other);
  atomic_store(&shell_group, shell);
}

static void begin_stay(void) {
  unsigned generation = (atomic_load(&left) | LEFT_BITS) + 1;
  atomic_store(&left_count, (uint64_t)generation << 32);
  atomic_store(&left, generation | UNIXHOST_NOT_LEFT);
  atomic_store(&is_spoiled, false);
  atomic_store(&input_is_ours, true);
}

void unixhost_emergency_arm(
    int terminal, pid_t shell, const struct termios *found, const struct termios *own, const char *bytes, size_t count) {
  if (count > UNIXHOST_LEAVE_LIMIT) count = UNIXHOST_LEAVE_LIMIT;
  bool is_armed = atomic_load(&armed_terminal) == terminal && armed_process == getpid();
  if (is_armed && count == armed_count && memcmp(bytes, armed_bytes, count) == 0) {
    // The terminal has this program's modes and screen. It stays armed, because another thread may crash meanwhile.
    wait_for_readers();
    set_modes(shell, found, own);
    begin_stay();
    // A handler that began before leaves the screen of the earlier stay.
    wait_for_readers();
    return;
  }
  unixhost_emergency_disarm();
  armed_process = getpid();
  set_modes(shell, found, own);
  armed_count = count;
  memcpy(armed_bytes, bytes, armed_count);
  armed_blocks = !(fcntl(terminal, F_GETFL) & O_NONBLOCK);
  begin_stay();
  atomic_store(&armed_terminal, terminal);
  // The restore sets `is_over` and then takes the terminal. This function uses the opposite order, so that one of the two
  // sees the other.
  int own_terminal = terminal;
  if (atomic_load(&is_over)) atomic_compare_exchange_strong(&armed_terminal, &own_terminal, -1);
}

void unixhost_emergency_disarm(void) {
  atomic_store(&armed_terminal, -1);
  wait_for_readers();
}

bool unixhost_emergency_is_armed(void) { return atomic_load(&armed_terminal) >= 0; }

enum unixhost_leaving unixhost_emergency_left(void) {
  unsigned state = atomic_load(&left) & LEFT_BITS;
  return state == UNIXHOST_LEFT && atomic_load(&is_spoiled) ? UNIXHOST_LEFT_IN_PART : (enum unixhost_leaving)state;
}

size_t unixhost_emergency_left_count(void) {
  return atomic_load(&is_spoiled) ? 0 : COUNT_OF(atomic_load(&left_count));
}

static unsigned current_generation(void) { return atomic_load(&left) & ~LEFT_BITS; }

// The generation, once a thread that arms the terminal again has set both words that have it.
static unsigned settled_generation(void) {
  int64_t deadline = unixhost_now() + PATIENCE;
  while (GENERATION_OF(atomic_load(&left_count)) != current_generation() && unixhost_now() < deadline) {}
  return current_generation();
}

// The owner of the armed terminal.
enum ownership {
  OURS,
  // The shell of this job, or the one that leads the session: its prompt is on this program's screen.
  SHELLS,
  // Another job, which may have a screen of its own; or this process is a forked child with a copy of this state.
  FOREIGN,
  // The other end is closed.
  GONE,
};

static enum ownership look_at(int terminal) {
  if (terminal < 0 || getpid() != armed_process) return FOREIGN;
  pid_t group = tcgetpgrp(terminal);
  if (group < 0) return GONE;
  if (group == getpgrp()) return OURS;
  return group == shell_group || group == getsid(0) ? SHELLS : FOREIGN;
}

static bool may_write(enum ownership ownership) { return ownership == OURS || ownership == SHELLS; }

// The interval at which another job's terminal is looked at, in milliseconds.
#define LOOK_INTERVAL 5

// Waits until no other job has the terminal, or the deadline has passed. A program that sends signals, such as kill(1),
// is a job that has the terminal for a moment.
static enum ownership wait_for_shell(int terminal, int64_t deadline) {
  enum ownership ownership;
  while ((ownership = look_at(terminal)) == FOREIGN && unixhost_now() < deadline) poll(NULL, 0, LOOK_INTERVAL);
  return ownership;
}

// Whether every flag of a word that this program has changed is as it has set it, whatever other flags say.
static bool is_as_set(tcflag_t now, tcflag_t own, tcflag_t found) { return ((now ^ own) & (own ^ found)) == 0; }

// Whether the modes are this program's, also if another process has changed one of them. A shell's line editor leaves on
// at least the keys that make signals. A program that changes no modes has none to give back.
static bool are_own(const struct termios *now) {
  const struct modes *modes = present_modes();
  const struct termios *own = &modes->own, *found = &modes->found;
  bool changes = own->c_iflag != found->c_iflag || own->c_oflag != found->c_oflag || own->c_lflag != found->c_lflag;
  return changes && is_as_set(now->c_iflag, own->c_iflag, found->c_iflag) &&
         is_as_set(now->c_oflag, own->c_oflag, found->c_oflag) &&
         is_as_set(now->c_lflag, own->c_lflag, found->c_lflag);
}

// Writes the leaving sequences of a generation from where they were interrupted, and looks at the owner before each
// write. Returns whether all of them have been written.
static bool write_leaving(int terminal, unsigned generation, int64_t deadline) {
  uint64_t state = atomic_load(&left_count);
  if (GENERATION_OF(state) == generation && atomic_exchange(&is_spoiled, false))
    atomic_compare_exchange_strong(&left_count, &state, (uint64_t)generation << 32);
  state = atomic_load(&left_count);
  while (GENERATION_OF(state) == generation && COUNT_OF(state) < armed_count && may_write(look_at(terminal))) {
    const char *bytes = armed_bytes + COUNT_OF(state);
    size_t written = unixhost_write_until(terminal, bytes, armed_count - COUNT_OF(state), 0);
    // If it fails, the terminal was armed again, or another thread writes the same bytes, and the state is the new one.
    if (atomic_compare_exchange_strong(&left_count, &state, state + written)) state += written;
    if (written != 0) continue;
    int64_t left_time = (deadline - unixhost_now()) / 1000000;
    if (left_time <= 0) break;
    struct pollfd writable = {terminal, POLLOUT, 0};
    poll(&writable, 1, left_time < LOOK_INTERVAL ? (int)left_time : LOOK_INTERVAL);
  }
  return GENERATION_OF(state) == generation && COUNT_OF(state) >= armed_count;
}

// Waits until no other thread leaves the screen, or the deadline has passed. A fault on such a thread ends the process,
// and its handler goes on in the thread's place.
static bool begin_leaving(int64_t deadline) {
  uintptr_t self = (uintptr_t)pthread_self(), other = 0;
  while (!atomic_compare_exchange_strong(&leaver, &other, self) && other != self) {
    if (unixhost_now() >= deadline) return false;
    poll(NULL, 0, 1);
    other = 0;
  }
  return true;
}

// Restores the modes that were found, and writes the leaving sequences. Returns whether that is complete.
static bool leave(int terminal, enum ownership ownership, unsigned generation, int64_t deadline) {
  static const int faults[] = {UNIXHOST_FAULTS};
  sigset_t only, others, mask;
  sigemptyset(&only);
  sigaddset(&only, SIGTTOU);
  sigfillset(&others);
  sigdelset(&others, SIGTTOU);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&others, faults[i]);
  struct termios now;
  // Another signal's handler on this thread would leave the screen in the middle of this.
  pthread_sigmask(SIG_BLOCK, &others, &mask);
  if (!begin_leaving(deadline)) {
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return false;
  }
  // If the shell takes the terminal at this moment, SIGTTOU interrupts the call, and the shell's modes stay; in an
  // orphaned group the call fails with EIO.
  pthread_sigmask(ownership == OURS ? SIG_UNBLOCK : SIG_BLOCK, &only, NULL);
  bool is_restored = ownership == OURS && tcsetattr(terminal, TCSANOW, &present_modes()->found) == 0;
  // Keys and reports that the program has not read must not appear at the shell's prompt.
  if (is_restored && atomic_exchange(&input_is_ours, false)) tcflush(terminal, TCIFLUSH);
  // While the signal is blocked, a background process may set the modes and write.
  pthread_sigmask(SIG_BLOCK, &only, NULL);
  // Some shells set no modes of their own for their prompt.
  if (!is_restored && tcgetattr(terminal, &now) == 0 && are_own(&now)) {
    tcsetattr(terminal, TCSANOW, &present_modes()->found);
  }
  bool is_complete = write_leaving(terminal, generation, deadline);
  atomic_store(&leaver, 0);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  return is_complete;
}

// The process group to which this process has given the terminal for a loan; 0 without one.
static atomic_int borrower;
static atomic_int lent_terminal = -1;

void unixhost_emergency_lend(int terminal, pid_t group) {
  atomic_store(&borrower, 0);
  atomic_store(&lent_terminal, terminal);
  atomic_store(&borrower, group);
}

// Ends a loan to another group. Otherwise the script that has started the program would become a background job of a child
// that still runs. The signal SIGTTOU must be blocked.
static void end_loan(void) {
  pid_t group = atomic_load(&borrower);
  int terminal = atomic_load(&lent_terminal);
  if (group > 0 && tcgetpgrp(terminal) == group) tcsetpgrp(terminal, getpgrp());
}

void unixhost_emergency_claim_input(bool claims) { atomic_store(&input_is_ours, claims); }

static bool is_left_by_another_thread(void) {
  uintptr_t other = atomic_load(&leaver);
  return other != 0 && other != (uintptr_t)pthread_self();
}

void unixhost_emergency_restore(void) {
  // A forked child also shares the capture of its parent.
  if (getpid() != armed_process) return;
  int saved_errno = errno;
  // On this thread the handler of a second signal would interrupt the restore, wait for it in vain, and end the
  // process. On another thread such a handler can wait.
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &mask);
  // Count before the exchange, so that a thread that finds no armed terminal sees that another thread restores it.
  atomic_fetch_add(&restorers, 1);
  atomic_store(&is_over, true);
  int terminal = atomic_exchange(&armed_terminal, -1);
  if (terminal >= 0) {
    int64_t deadline = unixhost_now() + (int64_t)EMERGENCY_PATIENCE * 1000000;
    enum ownership ownership = wait_for_shell(terminal, deadline);
    if (may_write(ownership)) {
      wait_for_writer();
      leave(terminal, ownership, settled_generation(), deadline);
    }
    unixhost_stderr_release(ownership != FOREIGN);
  } else {
    end_loan();
  }
  atomic_fetch_sub(&restorers, 1);
  if (terminal < 0) {
    // Wait, because the caller is about to end the process, perhaps for a second signal while another thread handles
    // the first.
    for (int i = 0; i < EMERGENCY_PATIENCE && (atomic_load(&restorers) != 0 || is_left_by_another_thread()); i++)
      poll(NULL, 0, 1);
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  errno = saved_errno;
}

// Writes without waiting, also to a descriptor that blocks.
static ssize_t write_now(int terminal, const void *bytes, size_t count) {
  if (!armed_blocks) return write(terminal, bytes, count);
  size_t written = unixhost_write_until(terminal, bytes, count, 0);
  errno = EAGAIN;
  return written > 0 ? (ssize_t)written : -1;
}

ssize_t unixhost_terminal_write(int terminal, const void *bytes, size_t count, bool is_shared) {
  atomic_store(&writer, (uintptr_t)pthread_self());
  // The handler sets `left` and then reads `writer`. This function uses the opposite order, so that one of the two sees
  // the other.
  if (!unixhost_emergency_is_armed() || (!is_shared && unixhost_emergency_left() != UNIXHOST_NOT_LEFT)) {
    atomic_store(&writer, 0);
    errno = ECANCELED;
    return -1;
  }
  ssize_t written = write_now(terminal, bytes, count);
  int saved_errno = errno;
  // A handler on this thread, or one whose wait has ended, may have left the screen before these bytes were written.
  if (!is_shared && unixhost_emergency_left() != UNIXHOST_NOT_LEFT) atomic_store(&is_spoiled, true);
  atomic_store(&writer, 0);
  errno = saved_errno;
  return written;
}

void unixhost_emergency_leave(void) {
  atomic_fetch_add(&readers, 1);
  unsigned generation = atomic_load(&left) & ~LEFT_BITS;
  int terminal = atomic_load(&armed_terminal);
  enum ownership ownership = look_at(terminal);
  unsigned state = generation | UNIXHOST_NOT_LEFT;
  if (may_write(ownership) && atomic_compare_exchange_strong(&left, &state, generation | UNIXHOST_LEFT_IN_PART)) {
    wait_for_writer();
    // The host's thread writes the bytes that the terminal does not accept now.
    state = generation | UNIXHOST_LEFT_IN_PART;
    if (leave(terminal, ownership, generation, 0)) atomic_compare_exchange_strong(&left, &state, generation | UNIXHOST_LEFT);
  }
  atomic_fetch_sub(&readers, 1);
}

bool unixhost_emergency_leave_rest(int milliseconds) {
  int64_t deadline = unixhost_now() + (int64_t)milliseconds * 1000000;
  int terminal = atomic_load(&armed_terminal);
  if (terminal < 0) return true;
  enum ownership ownership = wait_for_shell(terminal, deadline);
  unixhost_emergency_leave();
  // A handler on another thread may be about to write.
  wait_for_readers();
  if (unixhost_emergency_left() == UNIXHOST_LEFT || ownership == GONE) return true;
  if (!may_write(ownership) || !leave(terminal, ownership, current_generation(), deadline)) return false;
  atomic_store(&left, (atomic_load(&left) & ~LEFT_BITS) | UNIXHOST_LEFT);
  return true;
}
