// A connection, as the two files of this target share it.

#pragma once

#include "CMosquitto.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

struct mqtt_connection {
  struct mosquitto *client;
  mqtt_events events;
  char *host;
  int port;
  int keep_alive;
  // Held while the library connects, reads or writes: two threads at once must not use a connection of TLS.
  pthread_mutex_t access;
  // Held for the next four members, and for no wait.
  pthread_mutex_t duty;
  // The number of the thread that serves the connection; another one takes over when a job takes long.
  int server;
  bool runs_job;
  // What the thread runs as soon as it has read what there is; it takes none before the broker has accepted it, nor as it ends.
  void *job;
  bool takes_jobs;
  // What the thread waits for: the socket, `watched` for `watched_events`, and `wake`.
  int poll;
  int watched;
  uint32_t watched_events;
  // Written when the thread has something to write, or is to end; `is_woken` spares further writes until the thread has seen it.
  int wake;
  atomic_bool is_woken;
  // The packets that were queued since the last were written.
  atomic_int queued;
  // The threads that serve the connection or, relieved of that, still run a job. Until the last one releases the context, nothing is freed.
  atomic_int threads;
  // 0 goes on, 1 ends in order, 2 ends at once.
  atomic_int end;
  // Whether the library has reported something since this was cleared.
  bool has_reported;
  // Whether the broker has accepted the connection.
  bool is_accepted;
  // Whether nothing is written or reported any more.
  bool is_over;
  // Whether a write may have failed; the signal of it may wait for a thread that has it blocked.
  atomic_bool may_have_failed;
  // Whether the thread has said farewell. The library closes its descriptor as soon as it has written the last packet; `remaining` is
  // another one for the same socket, or -1.
  bool is_leaving;
  int remaining;
  bool has_tls;
  // The library's first error in words, such as what is wrong with a certificate.
  char detail[256];
  char reason[600];
};

// MARK: In connection.c

// Notes why the connection ends; the first reason counts.
void mqtt_note(mqtt_connection *connection, const char *reason);
// Notes an error of the library, right after it: the process's errno belongs to MOSQ_ERR_ERRNO.
void mqtt_note_error(mqtt_connection *connection, int error);

// MARK: In thread.c

// Starts a thread that serves the connection; it takes no signals, as the program's own threads do. Returns 0, or an error of the system.
int mqtt_start(mqtt_connection *connection);
// Has the thread look at what there is to do.
void mqtt_wake(mqtt_connection *connection);
// The set of SIGPIPE.
sigset_t mqtt_only_pipe(void);
// Takes the SIGPIPE of a write that has failed on this thread, which has it blocked; the thread's next work may unblock it. Leaves errno.
void mqtt_take_pipe(void);
