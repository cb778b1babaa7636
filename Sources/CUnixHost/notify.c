#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CUnixHost.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

int unixhost_notify_open(void) {
#if defined(__linux__)
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
#else
  int descriptor = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (descriptor >= 0) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
#endif
  struct timeval limit = {0, 250000};
  if (descriptor >= 0) setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  return descriptor;
}

// `passed` is a descriptor to send along, or -1.
static bool send_message(
    int descriptor, struct unixhost_notify_address to, const void *bytes, size_t count, int passed, bool waits) {
  struct sockaddr_un destination;
  memset(&destination, 0, sizeof destination);
  if (to.count > sizeof destination.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  destination.sun_family = AF_UNIX;
  memcpy(destination.sun_path, to.bytes, to.count);
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  memset(&control, 0, sizeof control);
  struct iovec part = {(void *)bytes, count};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_name = &destination;
  message.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + to.count);
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (passed >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &passed, sizeof passed);
  }
  ssize_t sent;
  do {
    sent = sendmsg(descriptor, &message, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT));
    // An interrupted wait would begin again.
    waits = false;
  } while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)count;
}

bool unixhost_notify_send(
    int descriptor, struct unixhost_notify_address to, const uint8_t *bytes, size_t count, bool waits) {
  return send_message(descriptor, to, bytes, count, -1, waits);
}

bool unixhost_notify_barrier(int descriptor, struct unixhost_notify_address to, int milliseconds) {
  int ends[2];
  if (unixhost_pipe(ends) != 0) return false;
  bool is_sent = send_message(descriptor, to, "BARRIER=1", strlen("BARRIER=1"), ends[1], true);
  close(ends[1]);
  // The only remaining write end is the one in the message to the manager.
  struct pollfd closed = {ends[0], 0, 0};
  int64_t deadline = unixhost_now() + (int64_t)milliseconds * 1000000;
  int count = 0;
  while (is_sent) {
    int64_t left = (deadline - unixhost_now()) / 1000000;
    count = poll(&closed, 1, left > 0 ? (int)left : 0);
    if (count >= 0 || errno != EINTR) break;
  }
  close(ends[0]);
  return count > 0;
}
