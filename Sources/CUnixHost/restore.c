// Restoring the terminal, whatever happens to the program.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define LEAVE_LIMIT 128

// The time for which the terminal may accept no output while the process ends, in milliseconds.
#define EMERGENCY_PATIENCE 1000

static atomic_int armed_terminal = -1;
static pid_t armed_process;
static struct termios found_modes;  // to be given back
static struct termios own_modes;
static char armed_bytes[LEAVE_LIMIT];
static size_t armed_count;

// The time when the process was last seen in the terminal's foreground, on the clock of unixhost_now.
static _Atomic int64_t last_seen;

// In the lowest bits: whether a signal handler has left the screen since the terminal was armed. Above them: how often
// it was armed. A handler that is delayed until the terminal is armed again must not report that the new screen has
// been left.
static atomic_uint left = UNIXHOST_NOT_LEFT;
#define LEFT_BITS 3u

// Whether output for the screen was written while a handler left it, or perhaps afterwards.
static atomic_bool is_spoiled;

// The thread that is inside unixhost_terminal_write.
static atomic_uintptr_t writer;

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

void unixhost_emergency_arm(
    int terminal, const struct termios *found, const struct termios *own, const char *bytes, size_t count) {
  unixhost_emergency_disarm();
  armed_process = getpid();
  found_modes = *found;
  own_modes = *own;
  armed_count = count > LEAVE_LIMIT ? LEAVE_LIMIT : count;
  memcpy(armed_bytes, bytes, armed_count);
  atomic_store(&left, ((atomic_load(&left) | LEFT_BITS) + 1) | UNIXHOST_NOT_LEFT);
  atomic_store(&is_spoiled, false);
  unixhost_emergency_seen();
  atomic_store(&armed_terminal, terminal);
}

void unixhost_emergency_disarm(void) {
  atomic_store(&armed_terminal, -1);
  wait_for_readers();
}

void unixhost_emergency_seen(void) { atomic_store(&last_seen, unixhost_now()); }

bool unixhost_emergency_is_armed(void) { return atomic_load(&armed_terminal) >= 0; }

enum unixhost_leaving unixhost_emergency_left(void) {
  unsigned state = atomic_load(&left) & LEFT_BITS;
  return state == UNIXHOST_LEFT && atomic_load(&is_spoiled) ? UNIXHOST_LEFT_IN_PART : (enum unixhost_leaving)state;
}

// The owner of the armed terminal.
enum ownership {
  OURS,
  // Another job, which has taken it so recently that only a shell's prompt can be on this program's screen.
  JUST_LOST,
  // Another job, whose screen it may show; or this process is a forked child with a copy of this state.
  FOREIGN,
};

// The host checks the owner every second, unless the process is stopped; then another program may own the terminal.
#define LOST_RECENTLY 2000000000  // nanoseconds

static enum ownership look_at(int terminal) {
  if (terminal < 0 || getpid() != armed_process) return FOREIGN;
  if (tcgetpgrp(terminal) == getpgrp()) return OURS;
  return unixhost_now() - atomic_load(&last_seen) < LOST_RECENTLY ? JUST_LOST : FOREIGN;
}

static bool are_alike(const struct termios *one, const struct termios *other) {
  return one->c_iflag == other->c_iflag && one->c_oflag == other->c_oflag && one->c_lflag == other->c_lflag;
}

// Restores the modes that were found, and writes the leaving sequences. Returns the number of bytes written.
static size_t leave(int terminal, enum ownership ownership, int milliseconds) {
  sigset_t only, mask;
  sigemptyset(&only);
  sigaddset(&only, SIGTTOU);
  struct termios now;
  // If the shell takes the terminal at this moment, SIGTTOU interrupts the call, and the shell's modes stay; in an
  // orphaned group the call fails with EIO.
  pthread_sigmask(ownership == OURS ? SIG_UNBLOCK : SIG_BLOCK, &only, &mask);
  bool is_restored = ownership == OURS && tcsetattr(terminal, TCSANOW, &found_modes) == 0;
  // While the signal is blocked, a background process may set the modes and write.
  pthread_sigmask(SIG_BLOCK, &only, NULL);
  // Some shells set no modes of their own for their prompt.
  if (!is_restored && tcgetattr(terminal, &now) == 0 && are_alike(&now, &own_modes)) {
    tcsetattr(terminal, TCSANOW, &found_modes);
  }
  size_t written = unixhost_write_within(terminal, armed_bytes, armed_count, milliseconds);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  return written;
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
  int terminal = atomic_exchange(&armed_terminal, -1);
  enum ownership ownership = look_at(terminal);
  if (ownership != FOREIGN) {
    wait_for_writer();
    leave(terminal, ownership, EMERGENCY_PATIENCE);
  }
  if (terminal >= 0) unixhost_stderr_release();
  atomic_fetch_sub(&restorers, 1);
  if (terminal < 0) {
    // Wait, because the caller is about to end the process, perhaps for a second signal while another thread handles
    // the first.
    for (int i = 0; i < EMERGENCY_PATIENCE && atomic_load(&restorers) != 0; i++) poll(NULL, 0, 1);
    unixhost_stderr_release();
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  errno = saved_errno;
}

ssize_t unixhost_terminal_write(int terminal, const void *bytes, size_t count, bool is_leaving) {
  atomic_store(&writer, (uintptr_t)pthread_self());
  // The handler sets `left` and then reads `writer`. This function uses the opposite order, so that one of the two sees
  // the other.
  if (!unixhost_emergency_is_armed() || (!is_leaving && unixhost_emergency_left() != UNIXHOST_NOT_LEFT)) {
    atomic_store(&writer, 0);
    errno = ECANCELED;
    return -1;
  }
  ssize_t written = write(terminal, bytes, count);
  int saved_errno = errno;
  // A handler on this thread, or one whose wait has ended, may have left the screen before these bytes were written.
  if (!is_leaving && unixhost_emergency_left() != UNIXHOST_NOT_LEFT) atomic_store(&is_spoiled, true);
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
  if (ownership != FOREIGN && atomic_compare_exchange_strong(&left, &state, generation | UNIXHOST_LEFT_IN_PART)) {
    wait_for_writer();
    // The host's thread writes the bytes that the terminal does not accept now.
    size_t written = leave(terminal, ownership, 0);
    state = generation | UNIXHOST_LEFT_IN_PART;
    if (written == armed_count) atomic_compare_exchange_strong(&left, &state, generation | UNIXHOST_LEFT);
  }
  atomic_fetch_sub(&readers, 1);
}

void unixhost_emergency_leave_rest(int milliseconds) {
  unixhost_emergency_leave();
  // A handler on another thread may be about to write.
  wait_for_readers();
  if (unixhost_emergency_left() != UNIXHOST_LEFT_IN_PART) return;
  int terminal = atomic_load(&armed_terminal);
  enum ownership ownership = look_at(terminal);
  if (ownership != FOREIGN) leave(terminal, ownership, milliseconds);
}
