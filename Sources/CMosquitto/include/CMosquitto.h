// One connection to a broker of MQTT by libmosquitto, with a thread of its own. Without the trait MQTT this target is empty.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mqtt_connection mqtt_connection;

// What a connection reports: on its thread, `published` also in mqtt_flush; one call at a time, except `run`. `closed` is called once,
// and only a `run` may begin or end after it. `release` is called once, after everything else.
typedef struct {
  void *context;
  // The broker has accepted the connection.
  void (*connected)(void *context);
  void (*subscribed)(void *context, int identifier, int count, const int *granted);
  void (*received)(
      void *context, const char *topic, const void *payload, size_t length, int quality, bool is_retained);
  // The broker has a message of quality 1; a message of quality 0 was written to the socket.
  void (*published)(void *context, int identifier);
  // Runs a job of `mqtt_defer`; other threads may use the connection meanwhile.
  void (*run)(void *context, void *job);
  // Lets another thread run a job of `mqtt_defer`.
  void (*decline)(void *context, void *job);
  void (*closed)(void *context, const char *reason);
  void (*release)(void *context);
} mqtt_events;

typedef struct {
  const char *host;
  int port;
  int keep_alive;          // seconds
  const char *username;    // NULL: none
  const char *password;    // NULL: none
  bool has_tls;
  const char *ca_file;     // NULL: the system's certificates
  const char *certificate; // NULL: none
  const char *key;         // NULL: none
  const char *will_topic;  // NULL: no will
  const void *will_payload;
  size_t will_length;
  int will_quality;
  bool will_is_retained;
  unsigned most_in_flight;
} mqtt_options;

// Starts the thread of a connection; returns NULL, and a reason, if that is not possible.
mqtt_connection *mqtt_connect(const mqtt_options *options, mqtt_events events, const char **reason);

// Each of these two returns 0 and an identifier, or an error of the library.
int mqtt_subscribe(mqtt_connection *connection, int count, char *const *filters, int quality, int *identifier);
int mqtt_publish(
    mqtt_connection *connection, const char *topic, const void *payload, size_t length, int quality, bool is_retained,
    int *identifier);

// Writes what was published, as far as the network takes it; the thread writes the rest.
void mqtt_flush(mqtt_connection *connection);

// Lets a connection's thread run a job as soon as it has read what there is: the thread that calls if a connection reports something on it, or
// that of the preferred connection. Returns false if there is no such connection, or it has a job already.
bool mqtt_defer(mqtt_connection *preferred, void *job);

// Lets SIGPIPE through for the rest of the job that runs on this thread, if there is one: the program's code has it as on its own threads. Until
// then the thread blocks it for the library's writes; to change that twice for each message would take longer than to encode one.
void mqtt_enter_program(void);

// Lets a new thread serve the connection if its thread runs a job, which may take long; any thread may call it. Returns false if there
// is no new thread.
bool mqtt_relieve(mqtt_connection *connection);

// Asks the thread to end the connection: in order, after what was published has been written, or at once.
void mqtt_end(mqtt_connection *connection, bool in_order);

// Releases the connection, which has ended.
void mqtt_release(mqtt_connection *connection);

const char *mqtt_text_of_error(int error);

// Whether an error says that there is no connection any more.
bool mqtt_is_loss(int error);
