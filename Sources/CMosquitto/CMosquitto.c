#if defined(MQTT)
#include "CMosquitto.h"
#include "CScheduling.h"

#include <errno.h>
#include <fcntl.h>
#include <mosquitto.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialize(void) { mosquitto_lib_init(); }

static void note(mqtt_connection *connection, const char *reason) {
  if (connection->reason[0] == 0) strncpy(connection->reason, reason, sizeof connection->reason - 1);
}

// MARK: What the library reports; one call at a time, because `access` is held

static void did_connect(struct mosquitto *client, void *context, int code) {
  (void)client;
  mqtt_connection *connection = context;
  connection->has_reported = true;
  if (code != 0) return note(connection, mosquitto_connack_string(code));
  connection->is_accepted = true;
  pthread_mutex_lock(&connection->duty);
  connection->takes_jobs = true;
  pthread_mutex_unlock(&connection->duty);
  // With a callback for them, the library writes a line for each packet.
  mosquitto_log_callback_set(client, NULL);
  connection->events.connected(connection->events.context);
}

static void did_log(struct mosquitto *client, void *context, int level, const char *text) {
  (void)client;
  mqtt_connection *connection = context;
  if (level != MOSQ_LOG_ERR || connection->detail[0] != 0) return;
  strncpy(connection->detail, text, sizeof connection->detail - 1);
}

static void did_subscribe(struct mosquitto *client, void *context, int identifier, int count, const int *granted) {
  (void)client;
  mqtt_connection *connection = context;
  connection->has_reported = true;
  connection->events.subscribed(connection->events.context, identifier, count, granted);
}

static void did_publish(struct mosquitto *client, void *context, int identifier) {
  (void)client;
  mqtt_connection *connection = context;
  connection->has_reported = true;
  connection->events.published(connection->events.context, identifier);
}

static void did_receive(struct mosquitto *client, void *context, const struct mosquitto_message *message) {
  (void)client;
  mqtt_connection *connection = context;
  connection->has_reported = true;
  if (message->qos > 0) atomic_fetch_add(&connection->queued, 1);
  connection->events.received(
      connection->events.context, message->topic, message->payload, (size_t)message->payloadlen, message->qos,
      message->retain);
}

// MARK: The thread

// The connection for which this thread reads.
static _Thread_local mqtt_connection *reading;

static void wake(mqtt_connection *connection);

bool mqtt_defer(mqtt_connection *preferred, void *job) {
  mqtt_connection *connection = reading != NULL ? reading : preferred;
  if (connection == NULL) return false;
  pthread_mutex_lock(&connection->duty);
  bool takes_it = connection->takes_jobs && !connection->runs_job && connection->job == NULL;
  if (takes_it) connection->job = job;
  pthread_mutex_unlock(&connection->duty);
  if (takes_it && reading == NULL) wake(connection);
  return takes_it;
}

static sigset_t only_pipe(void) {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  return pipe;
}

// Takes the SIGPIPE of a write that has failed on this thread, which has it blocked; the thread's next work may unblock it. Leaves errno.
static void take_pipe(void) {
  int number = errno;
  sigset_t pipe = only_pipe();
  struct timespec none = {0, 0};
  sigtimedwait(&pipe, NULL, &none);
  errno = number;
}

void mqtt_release(mqtt_connection *connection) {
  // The library ends TLS with a write if the socket is still open, and this may be a thread of the program.
  sigset_t pipe = only_pipe(), former;
  pthread_sigmask(SIG_BLOCK, &pipe, &former);
  mosquitto_destroy(connection->client);
  take_pipe();
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  pthread_mutex_destroy(&connection->access);
  pthread_mutex_destroy(&connection->duty);
  close(connection->wake);
  close(connection->poll);
  free(connection->host);
  free(connection);
}

static void wake(mqtt_connection *connection) {
  if (atomic_exchange(&connection->is_woken, true)) return;
  uint64_t one = 1;
  (void)!write(connection->wake, &one, sizeof one);
}

static bool watch(mqtt_connection *connection, int socket, uint32_t events) {
  int former = connection->watched;
  if (socket == former && events == connection->watched_events) return true;
  if (former >= 0 && socket != former) epoll_ctl(connection->poll, EPOLL_CTL_DEL, former, NULL);
  connection->watched = socket;
  connection->watched_events = events;
  struct epoll_event event = {.events = events, .data.fd = socket};
  return epoll_ctl(connection->poll, socket == former ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) == 0;
}

// Waits until a socket is ready or another thread wakes this one; returns the socket's events, or -1 and an errno.
static int wait_for(mqtt_connection *connection, int socket, uint32_t events, int milliseconds) {
  struct epoll_event ready[2];
  if (!watch(connection, socket, events)) return -1;
  int count = epoll_wait(connection->poll, ready, 2, milliseconds);
  if (count < 0) return errno == EINTR ? 0 : -1;
  int found = 0;
  for (int place = 0; place < count; place++) {
    // From here on other threads wake it again. What they have queued before is seen by the look that follows.
    if (ready[place].data.fd == connection->wake) atomic_exchange(&connection->is_woken, false);
    else found |= (int)ready[place].events;
  }
  return found;
}

static void set_cork(int socket, int is_on) { setsockopt(socket, IPPROTO_TCP, TCP_CORK, &is_on, sizeof is_on); }

// Writes what is queued. The library writes each packet alone; those of a row leave together.
static int write_all(mqtt_connection *connection) {
  bool is_row = atomic_exchange(&connection->queued, 0) > 1;
  if (is_row) set_cork(mosquitto_socket(connection->client), 1);
  int error = mosquitto_loop_write(connection->client, 1);
  int number = errno;
  if (is_row) set_cork(mosquitto_socket(connection->client), 0);
  errno = number;
  return error;
}

// Reads until nothing is left, also of what TLS has decrypted, which the socket does not show. `has_more` says that it stopped before: what comes
// after a pause is handed on before it looks for more.
//
// The library itself stops where errno is EAGAIN after a packet, also if a callback has left it so.
static int read_all(mqtt_connection *connection, bool *has_more) {
  int silent = 0;
  int most = *has_more ? 100 : 1;
  *has_more = false;
  for (int round = 0; round < most; round++) {
    connection->has_reported = false;
    errno = 0;
    int error = mosquitto_loop_read(connection->client, 1);
    if (error != MOSQ_ERR_SUCCESS || mosquitto_socket(connection->client) < 0) return error;
    if (connection->has_reported) silent = 0;
    // Of what the broker sends, only its answer to a ping is not reported.
    else if (errno == EAGAIN || ++silent == 2) return MOSQ_ERR_SUCCESS;
  }
  *has_more = true;
  return MOSQ_ERR_SUCCESS;
}

// Reads what the broker still sends until it closes, or `end` is 2. A socket that is closed with unread bytes resets the connection;
// the broker would then lose what it has not read, such as the order to forget the will.
static void drain(mqtt_connection *connection, int socket) {
  char bytes[4096];
  shutdown(socket, SHUT_WR);
  while (atomic_load(&connection->end) != 2) {
    if (wait_for(connection, socket, EPOLLIN, -1) < 0) break;
    ssize_t count = recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) break;
  }
  close(socket);
}

// The connection whose job runs on this thread, as long as no code of the program has run: the thread still blocks SIGPIPE.
static _Thread_local mqtt_connection *running;

void mqtt_enter_program(void) {
  if (running == NULL) return;
  if (atomic_load(&running->may_have_failed)) take_pipe();
  sigset_t pipe = only_pipe();
  pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
  running = NULL;
}

// Runs the job, if there is one; returns false if another thread has taken over meanwhile. `access` is held before and,
// unless that has happened, after.
static bool run_job(mqtt_connection *connection) {
  pthread_mutex_lock(&connection->duty);
  void *job = connection->job;
  connection->job = NULL;
  connection->runs_job = job != NULL;
  int number = connection->server;
  pthread_mutex_unlock(&connection->duty);
  if (job == NULL) return true;
  pthread_mutex_unlock(&connection->access);
  // An order to end that came before could not relieve this thread yet.
  if (atomic_load(&connection->end) != 0) mqtt_relieve(connection);
  running = connection;
  connection->events.run(connection->events.context, job);
  sigset_t pipe = only_pipe();
  if (running == NULL) pthread_sigmask(SIG_BLOCK, &pipe, NULL);
  running = NULL;
  pthread_mutex_lock(&connection->duty);
  bool serves = connection->server == number;
  if (serves) connection->runs_job = false;
  pthread_mutex_unlock(&connection->duty);
  if (serves) pthread_mutex_lock(&connection->access);
  return serves;
}

// Another thread serves the connection now; no error of the library has this number.
enum { relieved = 1000 };

// Notes an error of the library, right after it: the process's errno belongs to MOSQ_ERR_ERRNO.
static void note_error(mqtt_connection *connection, int error) {
  if (error == MOSQ_ERR_SUCCESS) return;
  atomic_store(&connection->may_have_failed, true);
  if (error == MOSQ_ERR_ERRNO) note(connection, strerror(errno));
  if (error == MOSQ_ERR_TLS && connection->detail[0] != 0) {
    char text[sizeof connection->reason];
    snprintf(text, sizeof text, "%s (%s)", mosquitto_strerror(error), connection->detail);
    note(connection, text);
  }
  note(connection, mosquitto_strerror(error));
}

// Serves the connection until it ends, and returns an error of the library.
static int serve(mqtt_connection *connection) {
  struct mosquitto *client = connection->client;
  int error = MOSQ_ERR_SUCCESS;
  // A thread that takes over does not know whether the one before has read all.
  bool has_more = true;
  pthread_mutex_lock(&connection->access);
  if (!connection->is_accepted) {
    error = mosquitto_connect(client, connection->host, connection->port, connection->keep_alive);
    // A child would keep the connection, and the broker would not see at once that this process is gone.
    if (error == MOSQ_ERR_SUCCESS) fcntl(mosquitto_socket(client), F_SETFD, FD_CLOEXEC);
    has_more = false;
  }
  while (error == MOSQ_ERR_SUCCESS) {
    int end = atomic_load(&connection->end);
    if (end == 2) break;
    if (end == 1 && !connection->is_leaving && !mosquitto_want_write(client)) {
      connection->is_leaving = true;
      connection->remaining = fcntl(mosquitto_socket(client), F_DUPFD_CLOEXEC, 0);
      mosquitto_disconnect(client);
      // Nothing is read from here on: the library would take a message that comes now for an error, and say no farewell.
      error = mosquitto_loop_write(client, 1);
    }
    int socket = mosquitto_socket(client);
    if (socket < 0) {
      error = MOSQ_ERR_CONN_LOST;
      break;
    }
    // While TLS is agreed upon, the library has something to write and cannot.
    bool may_write = (connection->is_accepted || !connection->has_tls) && mosquitto_want_write(client);
    uint32_t events = (connection->is_leaving ? 0 : EPOLLIN) | (may_write ? EPOLLOUT : 0);
    // It stays when the library closes its own.
    if (connection->remaining >= 0) socket = connection->remaining;
    pthread_mutex_unlock(&connection->access);
    // The library looks at its timers each second.
    int ready = wait_for(connection, socket, events, has_more && !connection->is_leaving ? 0 : 1000);
    pthread_mutex_lock(&connection->access);
    if (ready < 0) {
      error = MOSQ_ERR_ERRNO;
      break;
    }
    // Only of TLS there may be more than the socket shows.
    if (ready == 0 && !connection->has_tls) has_more = false;
    if (!connection->is_leaving && (has_more || (ready & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0)) {
      reading = connection;
      error = read_all(connection, &has_more);
      reading = NULL;
      note_error(connection, error);
    }
    // Before the acknowledgements are written: an event that is alone arrives sooner.
    if (!run_job(connection)) return relieved;
    // The library takes the end of a connection for a pause, as long as TLS is being agreed upon.
    bool may_be_paused = connection->is_accepted && !connection->is_leaving;
    if (error == MOSQ_ERR_SUCCESS && !may_be_paused && (ready & (EPOLLERR | EPOLLHUP)) != 0) error = MOSQ_ERR_CONN_LOST;
    // It may have a ping to write.
    if (error == MOSQ_ERR_SUCCESS) error = mosquitto_loop_misc(client);
    if (error == MOSQ_ERR_SUCCESS && mosquitto_want_write(client)) error = write_all(connection);
  }
  connection->is_over = true;
  pthread_mutex_unlock(&connection->access);
  pthread_mutex_lock(&connection->duty);
  void *job = connection->job;
  connection->takes_jobs = false;
  pthread_mutex_unlock(&connection->duty);
  if (job != NULL) connection->events.decline(connection->events.context, job);
  if (connection->remaining >= 0) drain(connection, connection->remaining);
  return connection->is_leaving ? MOSQ_ERR_SUCCESS : error;
}

static void run(void *argument) {
  mqtt_connection *connection = argument;
  int error = serve(connection);
  take_pipe();
  if (error != relieved) {
    note_error(connection, error);
    note(connection, "it was closed");
    connection->events.closed(connection->events.context, connection->reason);
  }
  // Another thread may release the connection from here on.
  if (atomic_fetch_sub(&connection->threads, 1) == 1) connection->events.release(connection->events.context);
}

// Starts a thread that takes no signals: the program's own threads do. Returns 0, or an error of the system.
static int start(mqtt_connection *connection) { return scheduling_thread_start(NULL, run, connection) ? 0 : EAGAIN; }

// OpenSSL would ask for it on the program's terminal, and keep the thread until the user answers.
static int no_passphrase(char *text, int size, int is_new, void *client) {
  (void)text, (void)size, (void)is_new, (void)client;
  return 0;
}

static int configure(struct mosquitto *client, const mqtt_options *options) {
  int error = mosquitto_threaded_set(client, true);
  // Each event is a write of its own. Without this, one that follows another waits for the broker's acknowledgement of that one by TCP.
  if (error == 0) error = mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
  if (error == 0) error = mosquitto_max_inflight_messages_set(client, options->most_in_flight);
  if (error == 0 && options->username != NULL) {
    error = mosquitto_username_pw_set(client, options->username, options->password);
  }
  if (error == 0 && options->has_tls) {
    // Without a file of its own it trusts what OpenSSL finds on the system, wherever that has its certificates.
    if (options->ca_file == NULL) error = mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1);
    else error = mosquitto_tls_set(client, options->ca_file, NULL, options->certificate, options->key, no_passphrase);
  }
  if (error == 0 && options->will_topic != NULL) {
    error = mosquitto_will_set(
        client, options->will_topic, (int)options->will_length, options->will_payload, options->will_quality,
        options->will_is_retained);
  }
  return error;
}

mqtt_connection *mqtt_connect(const mqtt_options *options, mqtt_events events, const char **reason) {
  pthread_once(&once, initialize);
  mqtt_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL) abort();
  connection->events = events;
  // The library ignores SIGPIPE for the whole process, which its children would inherit; its thread here blocks the signal. One thread
  // at a time: another one would take the library's setting for the program's.
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&making);
  struct sigaction former;
  sigaction(SIGPIPE, NULL, &former);
  connection->client = mosquitto_new(NULL, true, connection);
  sigaction(SIGPIPE, &former, NULL);
  pthread_mutex_unlock(&making);
  connection->poll = connection->watched = -1;
  // By edges, each write wakes the thread once, which need not read the number.
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  event.data.fd = connection->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  bool may_wait = connection->wake >= 0 && (connection->poll = epoll_create1(EPOLL_CLOEXEC)) >= 0
                  && epoll_ctl(connection->poll, EPOLL_CTL_ADD, connection->wake, &event) == 0;
  // An error of the system, which the library does not know.
  int failure = may_wait ? 0 : errno;
  connection->host = strdup(options->host);
  connection->port = options->port;
  pthread_mutex_init(&connection->access, NULL);
  pthread_mutex_init(&connection->duty, NULL);
  connection->remaining = -1;
  connection->keep_alive = options->keep_alive;
  connection->has_tls = options->has_tls;
  atomic_init(&connection->threads, 1);
  int error = MOSQ_ERR_NOMEM;
  if (connection->client != NULL && failure == 0) error = configure(connection->client, options);
  if (error == MOSQ_ERR_SUCCESS) {
    mosquitto_log_callback_set(connection->client, did_log);
    mosquitto_connect_callback_set(connection->client, did_connect);
    mosquitto_subscribe_callback_set(connection->client, did_subscribe);
    mosquitto_publish_callback_set(connection->client, did_publish);
    mosquitto_message_callback_set(connection->client, did_receive);
    failure = start(connection);
    if (failure == 0) return connection;
  }
  if (failure == 0 && error == MOSQ_ERR_ERRNO) failure = errno;
  *reason = failure != 0 ? strerror(failure) : mosquitto_strerror(error);
  mqtt_release(connection);
  return NULL;
}

// MARK: Other threads

int mqtt_subscribe(mqtt_connection *connection, int count, char *const *filters, int quality, int *identifier) {
  int error = mosquitto_subscribe_multiple(connection->client, identifier, count, filters, quality, 0, NULL);
  wake(connection);
  return error;
}

int mqtt_publish(
    mqtt_connection *connection, const char *topic, const void *payload, size_t length, int quality, bool is_retained,
    int *identifier) {
  atomic_fetch_add(&connection->queued, 1);
  return mosquitto_publish(connection->client, identifier, topic, (int)length, payload, quality, is_retained);
}

void mqtt_flush(mqtt_connection *connection) {
  if (pthread_mutex_trylock(&connection->access) != 0) return wake(connection);
  // The library's thread has SIGPIPE blocked; this one may be the program's.
  bool is_blocked = running != NULL;
  sigset_t pipe = only_pipe(), former = pipe;
  if (!is_blocked) pthread_sigmask(SIG_BLOCK, &pipe, &former);
  int error = connection->is_over ? MOSQ_ERR_SUCCESS : write_all(connection);
  // The thread finds no socket, and no reason any more.
  note_error(connection, error);
  bool has_more = mosquitto_want_write(connection->client);
  // While the client disconnects, the library does not report an error.
  bool may_have_failed = error != MOSQ_ERR_SUCCESS || mosquitto_socket(connection->client) < 0;
  if (!sigismember(&former, SIGPIPE)) {
    if (may_have_failed) take_pipe();
    pthread_sigmask(SIG_SETMASK, &former, NULL);
  } else if (may_have_failed && is_blocked) {
    // The job may be that of another connection.
    atomic_store(&running->may_have_failed, true);
  }
  pthread_mutex_unlock(&connection->access);
  if (error != MOSQ_ERR_SUCCESS || has_more) wake(connection);
}

void mqtt_end(mqtt_connection *connection, bool in_order) {
  int expected = 0;
  if (in_order) atomic_compare_exchange_strong(&connection->end, &expected, 1);
  else atomic_store(&connection->end, 2);
  wake(connection);
  mqtt_relieve(connection);
}

bool mqtt_relieve(mqtt_connection *connection) {
  pthread_mutex_lock(&connection->duty);
  if (connection->runs_job) {
    atomic_fetch_add(&connection->threads, 1);
    if (start(connection) == 0) {
      connection->server++;
      connection->runs_job = false;
    } else {
      atomic_fetch_sub(&connection->threads, 1);
    }
  }
  bool is_relieved = !connection->runs_job;
  pthread_mutex_unlock(&connection->duty);
  return is_relieved;
}

bool mqtt_is_loss(int error) {
  return error == MOSQ_ERR_NO_CONN || error == MOSQ_ERR_CONN_LOST || error == MOSQ_ERR_ERRNO || error == MOSQ_ERR_TLS;
}

const char *mqtt_text_of_error(int error) {
  return error == MOSQ_ERR_ERRNO ? strerror(errno) : mosquitto_strerror(error);
}
#endif
