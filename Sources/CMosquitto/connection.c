// What a connection is made of, what it reports, and what the program asks of it.

#if defined(MQTT)
#include "connection.h"

#include <errno.h>
#include <mosquitto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialize(void) { mosquitto_lib_init(); }

void mqtt_note(mqtt_connection *connection, const char *reason) {
  if (connection->reason[0] == 0) strncpy(connection->reason, reason, sizeof connection->reason - 1);
}

void mqtt_note_error(mqtt_connection *connection, int error) {
  if (error == MOSQ_ERR_SUCCESS) return;
  atomic_store(&connection->may_have_failed, true);
  if (error == MOSQ_ERR_ERRNO) mqtt_note(connection, strerror(errno));
  if (error == MOSQ_ERR_TLS && connection->detail[0] != 0) {
    char text[sizeof connection->reason];
    snprintf(text, sizeof text, "%s (%s)", mosquitto_strerror(error), connection->detail);
    mqtt_note(connection, text);
  }
  mqtt_note(connection, mosquitto_strerror(error));
}

// MARK: What the library reports; one call at a time, because `access` is held

static void did_connect(struct mosquitto *client, void *context, int code) {
  (void)client;
  mqtt_connection *connection = context;
  connection->has_reported = true;
  if (code != 0) return mqtt_note(connection, mosquitto_connack_string(code));
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

// MARK: From its beginning to its end

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
    failure = mqtt_start(connection);
    if (failure == 0) return connection;
  }
  if (failure == 0 && error == MOSQ_ERR_ERRNO) failure = errno;
  *reason = failure != 0 ? strerror(failure) : mosquitto_strerror(error);
  mqtt_release(connection);
  return NULL;
}

void mqtt_release(mqtt_connection *connection) {
  // The library ends TLS with a write if the socket is still open, and this may be a thread of the program.
  sigset_t pipe = mqtt_only_pipe(), former;
  pthread_sigmask(SIG_BLOCK, &pipe, &former);
  mosquitto_destroy(connection->client);
  mqtt_take_pipe();
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  pthread_mutex_destroy(&connection->access);
  pthread_mutex_destroy(&connection->duty);
  close(connection->wake);
  close(connection->poll);
  free(connection->host);
  free(connection);
}

// MARK: Other threads

int mqtt_subscribe(mqtt_connection *connection, int count, char *const *filters, int quality, int *identifier) {
  int error = mosquitto_subscribe_multiple(connection->client, identifier, count, filters, quality, 0, NULL);
  mqtt_wake(connection);
  return error;
}

int mqtt_publish(
    mqtt_connection *connection, const char *topic, const void *payload, size_t length, int quality, bool is_retained,
    int *identifier) {
  atomic_fetch_add(&connection->queued, 1);
  return mosquitto_publish(connection->client, identifier, topic, (int)length, payload, quality, is_retained);
}

void mqtt_end(mqtt_connection *connection, bool in_order) {
  int expected = 0;
  if (in_order) atomic_compare_exchange_strong(&connection->end, &expected, 1);
  else atomic_store(&connection->end, 2);
  mqtt_wake(connection);
  mqtt_relieve(connection);
}

bool mqtt_is_loss(int error) {
  return error == MOSQ_ERR_NO_CONN || error == MOSQ_ERR_CONN_LOST || error == MOSQ_ERR_ERRNO || error == MOSQ_ERR_TLS;
}

const char *mqtt_text_of_error(int error) {
  return error == MOSQ_ERR_ERRNO ? strerror(errno) : mosquitto_strerror(error);
}
#endif
