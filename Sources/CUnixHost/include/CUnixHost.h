// What the Unix host needs below Swift: code that runs inside signal handlers, and declarations that Swift cannot see.
//
// Functions marked "async-signal-safe" may be called from a signal handler. All state is of the process, as signal
// dispositions are: one host at a time.
#ifndef CUNIXHOST_H
#define CUNIXHOST_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

// MARK: Threads

// Runs `body` on a thread of its own, which takes every signal: a thread inherits its maker's mask, and Swift's own threads
// block SIGTTIN and SIGTTOU, whose default is what keeps a background job from wrecking the shell's terminal.
bool unixhost_thread_start(void (*body)(void *), void *argument);

// MARK: Standard streams

// Holds the numbers of standard streams that the program was started without: what it opens must not get them, and with them
// what others write to standard error.
void unixhost_streams_hold(void);

// MARK: Time and output

// CLOCK_MONOTONIC in nanoseconds. Async-signal-safe.
int64_t unixhost_now(void);

// Writes to any descriptor and waits at most so long in all, also where the descriptor blocks: the flag that would change that is
// shared with other processes and is not touched. How much was written. Async-signal-safe.
size_t unixhost_write_within(int descriptor, const void *bytes, size_t count, int milliseconds);

// The same until a time, as unixhost_now tells it. What the descriptor takes at once is written also after that.
size_t unixhost_write_until(int descriptor, const void *bytes, size_t count, int64_t deadline);

// Writes to standard error; one that takes nothing is waited for a quarter of a second the first time, and not at all while it
// still takes nothing afterwards. False if anything is missing. Async-signal-safe.
bool unixhost_stderr_write(const void *bytes, size_t count);

// MARK: Pipes

// Makes a non-blocking pipe: ends[0] to read, ends[1] to write. Where the system can (Linux), it is close-on-exec from the
// start: a child that another thread makes meanwhile must not inherit it. 0, or -1 with errno.
int unixhost_pipe(int ends[2]);

// MARK: Signals

// One caught signal. Written to a pipe by the handler; its 24 bytes are less than PIPE_BUF, so no record is ever torn.
struct unixhost_signal {
  int32_t number;
  int32_t code;     // si_code: positive means that the kernel sent it, for instance because of a key on the terminal
  int32_t sender;   // si_pid
  uint32_t user;    // si_uid
  int64_t arrived;  // when the handler ran, as unixhost_now tells the time
};

// Opens the pipe (once in the life of the process) and forgets what it holds. Its non-blocking read end, or -1 with errno.
int unixhost_signals_open(void);

// Whether the signal's disposition is "ignore" now.
bool unixhost_signal_is_ignored(int number);

// Writes a record into the pipe whenever the signal arrives. Remembers the disposition found. The signals after which a shell
// may take the terminal (SIGTSTP, SIGTERM, SIGINT, SIGHUP) make the handler leave the screen first: unixhost_emergency_leave.
int unixhost_signal_catch(int number);

// Gives the signal a handler that does nothing. Unlike SIG_IGN it does not survive exec. Remembers the disposition found.
int unixhost_signal_discard(int number);

// Gives back the dispositions that `catch` and `discard` found. Until the deadline (as unixhost_now tells the time) SIGTERM,
// SIGINT and SIGHUP do nothing: they are copies of the order that was obeyed, and must not end a process that ends by itself.
void unixhost_signals_restore(int64_t deadline);

// Takes the oldest record. False when there is none. A signal that found the pipe full comes last, with code 0; a record of
// number 0 may come with it, which only woke the reader.
bool unixhost_signal_next(struct unixhost_signal *record);

// How many SIGCONT have been recorded. Counted after the record was written, so that every counted one can be read.
uint32_t unixhost_continue_count(void);

// Stops the process with SIGTSTP, as a program does that does not catch it, and returns once it has been continued.
//
// With `whole_group` the rest of the process group is sent the signal, too: the shell waits until all of a job has stopped.
// If a SIGCONT was counted since `continue_count` was read, the stop has been withdrawn before it began: nothing is stopped.
// True: it was continued (or withdrawn). False: the kernel refused, as it does for orphaned groups.
bool unixhost_stop(bool whole_group, uint32_t continue_count);

// Ends the process by this signal, with its default action, whatever handler it has.
_Noreturn void unixhost_die_by_signal(int number);

// MARK: Emergency

// Names the terminal that has to be restored if the process crashes or calls exit: the modes that were found, and these bytes (at
// most 128). `own` are the modes that the program sets. Copies all of it.
void unixhost_emergency_arm(
    int terminal, const struct termios *found, const struct termios *own, const char *bytes, size_t count);

// The terminal needs no restoring any more.
void unixhost_emergency_disarm(void);

// The process has just been seen in the terminal's foreground. A terminal that another job got later than two seconds after that is
// never touched again.
void unixhost_emergency_seen(void);

// Whether a terminal is armed: false as soon as unixhost_emergency_restore has begun.
bool unixhost_emergency_is_armed(void);

// What signal handlers have done about the screen.
enum unixhost_leaving { UNIXHOST_NOT_LEFT, UNIXHOST_LEFT_IN_PART, UNIXHOST_LEFT };

// What unixhost_emergency_leave has done since the terminal was armed.
enum unixhost_leaving unixhost_emergency_left(void);

// Leaves the screen of the armed terminal and restores its modes; waits for nothing. The terminal stays armed: what it did not
// take is the host's to write.
//
// Also if the shell has taken the terminal within the last two seconds, because another process of the job has stopped or ended:
// the shell's prompt stands on this program's screen then. Modes that the shell has set stay. Async-signal-safe.
void unixhost_emergency_leave(void);

// The same, for the host's thread where the shell has the terminal by now: what a handler's leaving has not written, as the terminal was
// full, is written here, within so many milliseconds. Nothing else would write it.
void unixhost_emergency_leave_rest(int milliseconds);

// Writes to the armed terminal, which does not block. -1 with ECANCELED, and nothing is written, where a handler has left the
// screen (unless `is_leaving`) or the terminal is not armed any more. For one thread.
ssize_t unixhost_terminal_write(int terminal, const void *bytes, size_t count, bool is_leaving);

// Restores the armed terminal, once, as unixhost_emergency_leave does, and ends the capture of standard error. Waits a second at
// most for the terminal, and a second for standard error. Async-signal-safe.
void unixhost_emergency_restore(void);

// Restores the terminal when the process crashes, calls exit, or is ended by a signal that it does not handle itself. Install
// after the Swift runtime: it chains to the handlers of crashes that it finds, the backtracer's, by giving them back and letting
// the fault happen again. Works once; further calls do nothing.
void unixhost_emergency_install(void);

// Gives the calling thread a stack for handlers to run on, if it has none: one that has used up its own could not run them.
// For a thread that lives as long as the process.
void unixhost_emergency_stack_install(void);

// Sends what is written to descriptor 2 into memory, if it is a terminal: what a program prints before it traps would
// vanish with the alternate screen.
void unixhost_stderr_capture(void);

// Points descriptor 2 at where it was and writes there what was captured, within a time for all of it. Async-signal-safe.
void unixhost_stderr_release(void);

// How long that may take at most: a second unless a test sets more.
void unixhost_stderr_set_patience(int milliseconds);

// Gives back the memory of what was captured long ago, if it has become much; what came last stays. The thread that captures.
void unixhost_stderr_trim(void);

// MARK: Wall clock

// What a timer of the wall clock says.
enum unixhost_clock_notice { UNIXHOST_CLOCK_QUIET, UNIXHOST_CLOCK_SET, UNIXHOST_CLOCK_REACHED };

// A timer that also tells when the clock is set (Linux): non-blocking, close-on-exec. -1 with errno.
int unixhost_clock_timer_open(void);

// Lets the timer go off once the clock shows this time since 1970.
void unixhost_clock_timer_arm(int timer, int64_t seconds);

// Takes what the timer says.
enum unixhost_clock_notice unixhost_clock_timer_take(int timer);

// MARK: Service manager

// Where a manager listens: a path with its zero byte, or an abstract name after a zero byte.
struct unixhost_notify_address {
  const uint8_t *bytes;
  size_t count;
};

// A datagram socket. A manager that reads nothing holds a sender up for a quarter of a second at most. -1 with errno.
int unixhost_notify_open(void);

// Sends one datagram; waits for a manager that is busy only if it `waits`. False, with errno, if it could not be sent.
bool unixhost_notify_send(
    int socket, struct unixhost_notify_address to, const uint8_t *bytes, size_t count, bool waits);

// Sends `BARRIER=1` with the writing end of a pipe, and waits until the manager has closed that: it has handled what came
// before. False past the time.
bool unixhost_notify_barrier(int socket, struct unixhost_notify_address to, int milliseconds);

// MARK: Main queue

#if !defined(__APPLE__)
// libdispatch's entry points for run loops: a descriptor that is readable when the main queue has work, and the function
// that performs it.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);
#endif

#endif
