#define _GNU_SOURCE
#include "CPseudoTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

int cpt_open_terminal(char *slave, size_t length, unsigned short rows, unsigned short columns) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0) return -1;
  if (grantpt(master) || unlockpt(master) || ptsname_r(master, slave, length) ||
      cpt_set_window_size(master, rows, columns)) {
    int error = errno;
    close(master);
    errno = error;
    return -1;
  }
  return master;
}

int cpt_set_window_size(int terminal, unsigned short rows, unsigned short columns) {
  struct winsize size = {.ws_row = rows, .ws_col = columns};
  return ioctl(terminal, TIOCSWINSZ, &size);
}

int cpt_spawn(const struct cpt_start *start, char *const arguments[], char *const environment[], pid_t *pid) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  sigset_t none, all;
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  int error = 0;
  if (start->directory) error = posix_spawn_file_actions_addchdir_np(&actions, start->directory);
  if (start->terminal) {
    // glibc makes the session before it performs the file actions, so this open acquires the controlling terminal.
    flags |= POSIX_SPAWN_SETSID;
    if (!error) error = posix_spawn_file_actions_addopen(&actions, 0, start->terminal, O_RDWR, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, 0, 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, 0, 2);
  } else {
    if (start->leads_session) flags |= POSIX_SPAWN_SETSID;
    for (int i = 0; i < 3 && !error; i++)
      error = start->descriptors[i] < 0 ? posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0)
                                        : posix_spawn_file_actions_adddup2(&actions, start->descriptors[i], i);
  }
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  if (!error) error = posix_spawnattr_setflags(&attributes, flags);
  if (!error) error = posix_spawnp(pid, arguments[0], &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

pid_t cpt_fork(int signal) {
  pid_t child = fork();
  if (child == 0 && signal) kill(getpid(), signal);
  while (child == 0) pause();
  return child;
}

int cpt_send_to_self(int signal, int code) {
  siginfo_t info = {.si_signo = signal, .si_code = code};
  return (int)syscall(SYS_rt_sigqueueinfo, getpid(), signal, &info);
}

int cpt_wait(pid_t pid, enum cpt_event_kind *kind, int *value) {
  for (;;) {
    siginfo_t info = {0};
    if (waitid(P_PID, pid, &info, WEXITED | WSTOPPED | WCONTINUED | WNOWAIT)) {
      if (errno == EINTR) continue;
      return -1;
    }
    if (info.si_code == CLD_STOPPED || info.si_code == CLD_CONTINUED) {
      // Consume what was seen; the child may have moved on meanwhile, then there is nothing, and the next look tells.
      info.si_pid = 0;
      if (waitid(P_PID, pid, &info, WSTOPPED | WCONTINUED | WNOHANG)) {
        if (errno == EINTR) continue;
        return -1;
      }
      if (info.si_pid == 0) continue;
    }
    *value = info.si_status;
    switch (info.si_code) {
    case CLD_EXITED: *kind = CPT_EXITED; return 0;
    case CLD_STOPPED: *kind = CPT_STOPPED; return 0;
    case CLD_CONTINUED: *kind = CPT_CONTINUED; return 0;
    default: *kind = CPT_KILLED; return 0;
    }
  }
}

int cpt_reap(pid_t pid) {
  siginfo_t info;
  int result;
  do result = waitid(P_PID, pid, &info, WEXITED);
  while (result && errno == EINTR);
  return result;
}

int cpt_process_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int cpt_process_signal(int process, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, process, signal, NULL, 0);
}

int cpt_waker_open(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int cpt_signal_descriptor_open(int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  return signalfd(-1, &only, SFD_CLOEXEC);
}

int cpt_watch_open(const char *path) {
  int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watch < 0) return -1;
  if (inotify_add_watch(watch, path, IN_MODIFY) < 0) {
    int error = errno;
    close(watch);
    errno = error;
    return -1;
  }
  return watch;
}

int cpt_notify_open(const char *address, size_t count) {
  struct sockaddr_un place = {.sun_family = AF_UNIX};
  int yes = 1;
  if (count > sizeof place.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(place.sun_path, address, count);
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  if (setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) ||
      bind(descriptor, (struct sockaddr *)&place, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + count))) {
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
  }
  return descriptor;
}

ssize_t cpt_notify_receive(int socket, char *bytes, size_t count, pid_t *sender, int *passed) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {bytes, count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  *sender = 0;
  *passed = -1;
  ssize_t received;
  do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received < 0) return -1;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_CREDENTIALS) {
      struct ucred who;
      memcpy(&who, CMSG_DATA(header), sizeof who);
      *sender = who.pid;
    } else if (header->cmsg_type == SCM_RIGHTS) {
      memcpy(passed, CMSG_DATA(header), sizeof *passed);
    }
  }
  return received;
}

int cpt_stream_listen(const char *path) {
  struct sockaddr_un place = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof place.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(place.sun_path, path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  if (bind(descriptor, (struct sockaddr *)&place, sizeof place) || listen(descriptor, 1)) {
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
  }
  return descriptor;
}

int cpt_shift_clock(long nanoseconds) {
  struct timex change = {.modes = ADJ_SETOFFSET | ADJ_NANO};
  // The fraction must not be negative.
  change.time.tv_sec = nanoseconds < 0 ? -1 : 0;
  change.time.tv_usec = nanoseconds < 0 ? 1000000000 + nanoseconds : nanoseconds;
  return adjtimex(&change) < 0 ? -1 : 0;
}
