// The C part of the Unix host: code that runs inside signal handlers, and declarations that Swift cannot import.
//
// Functions marked "async-signal-safe" may be called from a signal handler. All state belongs to the process, as signal
// dispositions do, so only one host runs at a time.
#ifndef CUNIXHOST_H
#define CUNIXHOST_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

// MARK: The main loop

#if !defined(__APPLE__)
// Runs Foundation's main run loop until it has handled work of the main actor or a source, in a program that contains the
// bridge to Foundation. Returns false, without waiting, in any other program, or if the run loop cannot run. First thread
// only.
bool unixhost_run_loop_turn(void);
#endif

// MARK: Standard streams

// Occupies the numbers of standard streams that are closed when the program starts. Otherwise a file that the program
// opens could get such a number, and then receive output that other code writes to standard error.
void unixhost_streams_hold(void);

// MARK: Time and output

// CLOCK_MONOTONIC in nanoseconds. Async-signal-safe.
int64_t unixhost_now(void);

// Writes to any descriptor, and waits at most until a deadline on the clock of unixhost_now, even if the descriptor blocks.
// Bytes that it accepts at once are written even after the deadline; 0 has always passed. The non-blocking flag is shared with
// other processes, so the function does not change it. Returns the number of bytes written. Async-signal-safe.
size_t unixhost_write_until(int descriptor, const void *bytes, size_t count, int64_t deadline);

// Writes to standard error. If it accepts no output, the first call waits for a quarter of a second, and later calls do
// not wait until it accepts output again. Returns false if not all bytes were written. Async-signal-safe.
bool unixhost_stderr_write(const void *bytes, size_t count);

// MARK: Pipes

// Creates a non-blocking pipe: ends[0] to read, ends[1] to write. On Linux it is close-on-exec from the start, so that
// a child process that another thread creates meanwhile does not inherit it. Returns 0, or -1 with errno.
int unixhost_pipe(int ends[2]);

// MARK: Signals

// One caught signal. The handler writes it to a pipe. Its 16 bytes are less than PIPE_BUF, so each write is atomic.
struct unixhost_signal {
  int32_t number;
  int32_t code;     // si_code: positive means that the kernel sent it, for instance because of a key on the terminal
  int64_t arrived;  // when the handler ran, as unixhost_now tells the time
};

// Opens the pipe (once in the life of the process) and empties it. Returns its non-blocking read end, or -1 with errno.
int unixhost_signals_open(void);

// Returns whether the current disposition of the signal is "ignore".
bool unixhost_signal_is_ignored(int number);

// Installs a handler that writes a record into the pipe whenever the signal arrives. Stores the disposition found. In a
// child that was forked without exec, the handler restores that disposition instead, and sends the signal again.
// After SIGTSTP, SIGTERM, SIGINT and SIGHUP a shell may take the terminal, so for these the handler first leaves the
// screen: unixhost_emergency_leave.
int unixhost_signal_catch(int number);

// Whether this process was forked, without exec, from the one that catches signals. Async-signal-safe.
bool unixhost_is_forked_child(void);

// The present handler of a signal that the host has caught.
enum unixhost_signal_holder {
  UNIXHOST_SIGNAL_OURS,
  UNIXHOST_SIGNAL_HANDLED,  // other code has installed a handler
  UNIXHOST_SIGNAL_IGNORED,  // other code has set the signal to be ignored
  UNIXHOST_SIGNAL_DEFAULT,  // other code has restored the default action
};

// The greatest length of a file name, with its zero byte.
#define UNIXHOST_NAME_LIMIT 256

// Installs the host's handler of a caught signal again if other code has replaced it. Returns what the signal was before;
// for a handler, `library` receives the name of the file that contains it, or an empty text. The handler that was
// replaced may still be running.
enum unixhost_signal_holder unixhost_signal_reclaim(int number, char library[UNIXHOST_NAME_LIMIT]);

// Removes these signals, a bit each (1 << (number - 1)), from all signalfds of the process, and returns those that a
// signalfd had. A signalfd, such as that of a dispatch source, takes a signal before the handler when its reader is
// faster. One that is not close-on-exec keeps them, because the process may have inherited it. Does nothing where there are no
// signalfds. Linear in the number of descriptors.
uint64_t unixhost_signalfds_reclaim(uint64_t signals);

// Returns those of the signals, a bit each, that wait for a thread which blocks them. libdispatch's handler blocks a signal
// on the thread that it runs on, and sends it to this thread again for the signalfd; if that no longer has the signal, it
// waits there for ever. Linear in the number of threads.
uint64_t unixhost_signals_stuck(uint64_t signals);

// Installs a handler that does nothing, except in a forked child, as with `catch`. Unlike SIG_IGN it does not survive exec.
// Stores the disposition found.
int unixhost_signal_discard(int number);

// Restores the dispositions that `catch` and `discard` found. Until a deadline on the clock of unixhost_now, SIGTERM,
// SIGINT and SIGHUP have no effect: they repeat the order that was obeyed, and must not end a process that ends by
// itself.
void unixhost_signals_restore(int64_t deadline);

// The signals of faults.
#define UNIXHOST_FAULTS SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS

// Unblocks, for the calling thread, the signals of faults. A fault with its signal blocked, as a program inherits it from the
// process that starts it, ends the process without a handler.
void unixhost_faults_unblock(void);

// Unblocks, for the calling thread, the signals that the host catches, those of faults, and SIGTTIN and SIGTTOU. A thread
// inherits the mask of its creator, and Swift's own threads block nearly all signals. The program may have blocked other
// signals in all its threads, to wait for them with sigwait; they stay blocked.
void unixhost_signals_unblock(void);

// Removes the oldest record and returns true; returns false when there is none. A signal that found the pipe full comes
// last, with code 0. A record with number 0 may also come, which only wakes the reader.
bool unixhost_signal_next(struct unixhost_signal *record);

// Returns the number of recorded SIGCONTs. Each is counted after its record was written, so that every counted record
// can be read.
uint32_t unixhost_continue_count(void);

// Returns the number of SIGCONTs whose handler has begun.
uint32_t unixhost_continues_begun(void);

// Returns the same number, and one more if a SIGCONT waits for its handler. SIGCONT continues all threads, and its handler
// runs on one that does not block it, such as the first one: a thread of the pool may run before. One system call.
uint32_t unixhost_continues_arrived(void);

// Stops the process with the default action of SIGTSTP, and returns once it has been continued.
//
// With `whole_group` the whole process group receives the signal, because the shell waits until all processes of a job
// have stopped. If a SIGCONT was counted since `continue_count` was read, the stop is cancelled, and no process stops.
// Returns true after a continue or a cancelled stop. Returns false if the kernel refused the stop, as it does for
// orphaned groups.
bool unixhost_stop(bool whole_group, uint32_t continue_count);

// Ends the process with the default action of a signal, whatever handler it has. Process 1 of a container, for which the
// kernel performs no default action, exits with the status 128 + number instead. Async-signal-safe.
_Noreturn void unixhost_die_by_signal(int number);

// MARK: Emergency

// The greatest number of bytes that leave a program's screen.
#define UNIXHOST_LEAVE_LIMIT 1024

// Arms the terminal: if the process crashes or calls exit, the modes `found` are restored and these bytes, at most
// UNIXHOST_LEAVE_LIMIT, are written to it. `own` are the modes that the program sets. `shell` is the process group of
// the shell that runs the program's job, or 0. The function copies all arguments. A terminal that is armed already, with
// the same bytes, stays armed meanwhile.
//
// The terminal is restored only while the process's group, `shell`, or the leader of the session owns it. Another job
// may have a screen of its own there.
void unixhost_emergency_arm(
    int terminal, pid_t shell, const struct termios *found, const struct termios *own, const char *bytes, size_t count);

// Disarms the terminal, which then needs no restoring.
void unixhost_emergency_disarm(void);

// Notes that a process group has the terminal for a loan; 0 for none. When the process crashes or calls exit,
// unixhost_emergency_restore then makes the process's own group the foreground group again.
void unixhost_emergency_lend(int terminal, pid_t group);

// Sets whether unread input is the program's, as it is when the terminal is armed. Leaving the screen discards such
// input once. Input after a key that makes the host leave is for the shell. Async-signal-safe.
void unixhost_emergency_claim_input(bool claims);

// Returns whether a terminal is armed; false as soon as unixhost_emergency_restore has begun.
bool unixhost_emergency_is_armed(void);

// Whether signal handlers have left the screen.
enum unixhost_leaving { UNIXHOST_NOT_LEFT, UNIXHOST_LEFT_IN_PART, UNIXHOST_LEFT };

// Returns the result of unixhost_emergency_leave since the terminal was armed.
enum unixhost_leaving unixhost_emergency_left(void);

// Returns how many of the armed bytes have been written to the terminal since it was armed.
size_t unixhost_emergency_left_count(void);

// Leaves the screen of the armed terminal and restores its modes, without waiting. The terminal stays armed, and the
// host writes the bytes that it did not accept.
//
// It also does so if the shell has the terminal, because another process of the job has stopped or ended, or SIGSTOP
// has stopped this one: then the shell's prompt is on this program's screen. Modes that the shell has set are kept.
// Async-signal-safe.
void unixhost_emergency_leave(void);

// Leaves the screen like unixhost_emergency_leave, for the host's thread. Within `milliseconds` it writes the bytes that
// a handler could not write because the terminal was full, and waits while another job has the terminal. No other code
// would write them. Returns whether nothing is left to do: false if the terminal was full, or another job's, all that
// time.
bool unixhost_emergency_leave_rest(int milliseconds);

// Writes to the armed terminal without waiting. Returns -1 with ECANCELED, and writes nothing, if a handler has left the
// screen (unless the program shares the shell's screen) or the terminal is no longer armed. Only one thread may call it.
ssize_t unixhost_terminal_write(int terminal, const void *bytes, size_t count, bool is_shared);

// Restores the armed terminal, once, as unixhost_emergency_leave does, and ends the capture of standard error. Waits at
// most a second for the terminal, and a second for standard error. The process is about to end: no terminal is armed any
// more. Async-signal-safe.
void unixhost_emergency_restore(void);

// Installs the code that restores the terminal when the process crashes, calls exit, or is ended by a signal that it
// does not handle itself. Call it after the Swift runtime has installed its crash handlers (the backtracer). On a fault
// the code restores these handlers, and lets the fault happen again. A signal that does not happen again is passed to
// these handlers, and ends the process when they return. Further calls do nothing.
void unixhost_emergency_install(void);

// Gives the calling thread an alternate signal stack, if it has none: after a stack overflow it could not run handlers
// otherwise. For a thread that lives as long as the process.
void unixhost_emergency_stack_install(void);

// Captures output to descriptor 2 in memory, if it is a terminal and files may have any size (RLIMIT_FSIZE). Otherwise the
// output of a program before a trap would vanish with the alternate screen.
void unixhost_stderr_capture(void);

// Restores descriptor 2, unless the program has redirected it, and writes the captured output there, within a time limit. If
// another job has the terminal (`shows` is false), the output is kept, and written by unixhost_stderr_show or at the end of the
// next capture. Children that were started meanwhile keep the memory as their standard error. Async-signal-safe.
void unixhost_stderr_release(bool shows);

// Adds text to the captured output in memory, also while nothing is captured; any thread may call it. Returns false if
// there is no memory.
bool unixhost_stderr_keep(const void *bytes, size_t count);

// Sets the time limit of unixhost_stderr_release, by default a second; for tests.
void unixhost_stderr_set_patience(int milliseconds);

// For the thread that captures, about once a second. While output is captured, frees the memory of old output if it has
// become large, and keeps the latest part. Otherwise returns whether there is output to show, which a child or
// unixhost_stderr_keep has added.
bool unixhost_stderr_tend(void);

// Writes the output in memory to descriptor 2, within a time limit, and removes it from memory. Async-signal-safe.
void unixhost_stderr_show(void);

// MARK: Wall clock

// An event of a wall-clock timer.
enum unixhost_clock_notice { UNIXHOST_CLOCK_QUIET, UNIXHOST_CLOCK_SET, UNIXHOST_CLOCK_REACHED };

// Opens a timer that also reports when the clock is set (Linux), non-blocking and close-on-exec. Returns -1 with errno
// on failure.
int unixhost_clock_timer_open(void);

// Arms the timer for a time since 1970. Returns false if the clock was set since the timer was opened or armed last, and no
// event has reported that; no event will.
bool unixhost_clock_timer_arm(int timer, int64_t seconds);

// Reads the next event of the timer.
enum unixhost_clock_notice unixhost_clock_timer_take(int timer);

// MARK: Service manager

// The address of a manager: a path with its zero byte, or an abstract name after a zero byte.
struct unixhost_notify_address {
  const uint8_t *bytes;
  size_t count;
};

// Opens a datagram socket, whose sends wait at most a quarter of a second for a manager that does not read. Returns -1
// with errno on failure.
int unixhost_notify_open(void);

// Sends one datagram; waits for a busy manager only if `waits` is true. Returns false, with errno, if it could not be
// sent.
bool unixhost_notify_send(
    int socket, struct unixhost_notify_address to, const uint8_t *bytes, size_t count, bool waits);

// Sends `BARRIER=1` with the write end of a pipe, and waits until the manager has closed it, which means that it has
// handled all earlier datagrams. Returns false if the time has passed.
bool unixhost_notify_barrier(int socket, struct unixhost_notify_address to, int milliseconds);

// Stores the number of the calling process's pidfd, which the kernel gives to no other process until the next boot.
// Returns false where the system has no such numbers (before Linux 6.9).
bool unixhost_pidfd_identifier(uint64_t *identifier);

// MARK: Main queue

#if !defined(__APPLE__)
// libdispatch's entry points for run loops: a descriptor that is readable when the main queue has work, and the function
// that performs it.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);
#endif

#endif
