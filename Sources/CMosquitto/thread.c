// The thread of a connection: it waits, has the library read and write, and runs jobs between.

#if defined(MQTT)
#include "connection.h"
#include "CScheduling.h"

#include <errno.h>
#include <fcntl.h>
#include <mosquitto.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

sigset_t mqtt_only_pipe(void) {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  return pipe;
}

void mqtt_take_pipe(void) {
  int number = errno;
  sigset_t pipe = mqtt_only_pipe();
  struct timespec none = {0, 0};
  sigtimedwait(&pipe, NULL, &none);
  errno = number;
}

// The connection for which this thread reads.
static _Thread_local mqtt_connection *reading;

bool mqtt_defer(mqtt_connection *preferred, void *job) {
  mqtt_connection *connection = reading != NULL ? reading : preferred;
  if (connection == NULL) return false;
  pthread_mutex_lock(&connection->duty);
  bool takes_it = connection->takes_jobs && !connection->runs_job && connection->job == NULL;
  if (takes_it) connection->job = job;
  pthread_mutex_unlock(&connection->duty);
  if (takes_it && reading == NULL) mqtt_wake(connection);
  return takes_it;
}

void mqtt_wake(mqtt_connection *connection) {
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
  if (atomic_load(&running->may_have_failed)) mqtt_take_pipe();
  sigset_t pipe = mqtt_only_pipe();
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
  sigset_t pipe = mqtt_only_pipe();
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
      mqtt_note_error(connection, error);
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
  mqtt_take_pipe();
  if (error != relieved) {
    mqtt_note_error(connection, error);
    mqtt_note(connection, "it was closed");
    connection->events.closed(connection->events.context, connection->reason);
  }
  // Another thread may release the connection from here on.
  if (atomic_fetch_sub(&connection->threads, 1) == 1) connection->events.release(connection->events.context);
}

int mqtt_start(mqtt_connection *connection) { return scheduling_thread_start(NULL, run, connection) ? 0 : EAGAIN; }

// MARK: From other threads

void mqtt_flush(mqtt_connection *connection) {
  if (pthread_mutex_trylock(&connection->access) != 0) return mqtt_wake(connection);
  // The library's thread has SIGPIPE blocked; this one may be the program's.
  bool is_blocked = running != NULL;
  sigset_t pipe = mqtt_only_pipe(), former = pipe;
  if (!is_blocked) pthread_sigmask(SIG_BLOCK, &pipe, &former);
  int error = connection->is_over ? MOSQ_ERR_SUCCESS : write_all(connection);
  // The thread finds no socket, and no reason any more.
  mqtt_note_error(connection, error);
  bool has_more = mosquitto_want_write(connection->client);
  // While the client disconnects, the library does not report an error.
  bool may_have_failed = error != MOSQ_ERR_SUCCESS || mosquitto_socket(connection->client) < 0;
  if (!sigismember(&former, SIGPIPE)) {
    if (may_have_failed) mqtt_take_pipe();
    pthread_sigmask(SIG_SETMASK, &former, NULL);
  } else if (may_have_failed && is_blocked) {
    // The job may be that of another connection.
    atomic_store(&running->may_have_failed, true);
  }
  pthread_mutex_unlock(&connection->access);
  if (error != MOSQ_ERR_SUCCESS || has_more) mqtt_wake(connection);
}

bool mqtt_relieve(mqtt_connection *connection) {
  pthread_mutex_lock(&connection->duty);
  if (connection->runs_job) {
    atomic_fetch_add(&connection->threads, 1);
    if (mqtt_start(connection) == 0) {
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
#endif
