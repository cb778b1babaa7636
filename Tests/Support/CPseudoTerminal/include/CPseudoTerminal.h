/// What Swift cannot reach by itself of the calls that the test harness needs: glibc's extensions, variadic calls and macros.
///
/// Every function returns -1 and sets errno on failure unless it says otherwise.
#ifndef CPSEUDOTERMINAL_H
#define CPSEUDOTERMINAL_H

#include <stddef.h>
#include <sys/types.h>

/// Opens a pseudo-terminal of the given size and writes the path of its slave.
/// @return the master: non-blocking, close-on-exec, not a controlling terminal.
int cpt_open_terminal(char *slave, size_t length, unsigned short rows, unsigned short columns);

/// Changes the size of a terminal; the kernel tells its foreground group by SIGWINCH.
int cpt_set_window_size(int terminal, unsigned short rows, unsigned short columns);

/// How a child is to be started.
struct cpt_start {
  /// The path of a slave: the child leads a session of its own, and this is its controlling terminal and its descriptors
  /// 0 to 2. Null: the child stays in the caller's session and gets `descriptors`.
  const char *terminal;
  /// Descriptors 0 to 2 of a child without a terminal of its own; -1 stands for /dev/null.
  int descriptors[3];
  /// Whether such a child leads a session of its own, without a terminal.
  int leads_session;
  /// The working directory, or null for the caller's.
  const char *directory;
};

/// Starts a program (searched in PATH) with no signal blocked or ignored and no descriptor above 2.
/// @return 0, or an error number; errno is not set.
int cpt_spawn(const struct cpt_start *start, char *const arguments[], char *const environment[], pid_t *pid);

/// Forks a child that runs no other program, sends itself a signal unless it is 0, and waits for signals for ever.
/// @return the child's number.
pid_t cpt_fork(int signal);

/// Sends the calling process a signal with a code that only the kernel gives, as if the kernel had sent it.
int cpt_send_to_self(int signal, int code);

/// What happened to a child.
enum cpt_event_kind { CPT_EXITED, CPT_KILLED, CPT_STOPPED, CPT_CONTINUED };

/// Blocks until a child stops, continues or ends. An end is only looked at: until `cpt_reap`, the child's number stays its own.
/// @return 0, with the kind and the exit status or signal.
int cpt_wait(pid_t pid, enum cpt_event_kind *kind, int *value);

/// Takes an ended child off the process table.
int cpt_reap(pid_t pid);

/// A descriptor for a process, readable once it has ended, whether it is a child or not.
int cpt_process_open(pid_t pid);

/// Sends a signal to the process of a descriptor from `cpt_process_open`.
int cpt_process_signal(int process, int signal);

/// A descriptor that becomes readable when eight bytes, a number other than 0, are written to it; close-on-exec.
int cpt_waker_open(void);

/// A signalfd with one signal; close-on-exec.
int cpt_signal_descriptor_open(int signal);

/// A descriptor that is readable when the file has grown; close-on-exec.
int cpt_watch_open(const char *path);

/// A datagram socket bound to this address, which tells the sender: a path, or an abstract name after a zero byte.
int cpt_notify_open(const char *address, size_t count);

/// Waits for a datagram.
/// @return its length; `sender` is the sender's process number, `passed` a descriptor that came along, or -1.
ssize_t cpt_notify_receive(int socket, char *bytes, size_t count, pid_t *sender, int *passed);

/// A stream socket that listens at this path.
int cpt_stream_listen(const char *path);

/// Sets the machine's clock forward, or back, by less than a second.
int cpt_shift_clock(long nanoseconds);

#endif
