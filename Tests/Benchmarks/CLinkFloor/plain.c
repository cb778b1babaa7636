#include "CLinkFloor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t link_plain_format(char *text, size_t size, const char *topic, const char *source, long number) {
  int length = snprintf(
      text, size,
      "{\"specversion\":\"1.0\",\"id\":\"%s#%ld\",\"source\":\"%s\",\"type\":\"OrderPlaced\",\"sequence\":\"%ld\","
      "\"datacontenttype\":\"application/json\",\"data\":{\"cents\":1999,\"customer\":\"C-20417\",\"id\":%ld}}",
      topic, number, source, number, number);
  return length < 0 || (size_t)length >= size ? 0 : (size_t)length;
}

#if defined(MQTT)
#include <mosquitto.h>
#include <pthread.h>

struct link_plain {
  struct mosquitto *publisher;
  struct mosquitto *subscriber;
  link_meter *meter;
  char *topic;
  int quality;
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  bool is_connected;
  bool is_subscribed;
};

static void did_change(link_plain *plain, bool *flag) {
  pthread_mutex_lock(&plain->mutex);
  *flag = true;
  pthread_cond_broadcast(&plain->condition);
  pthread_mutex_unlock(&plain->mutex);
}

static void did_connect(struct mosquitto *client, void *context, int code) {
  link_plain *plain = context;
  if (code != 0) return;
  if (client == plain->subscriber) mosquitto_subscribe(client, NULL, plain->topic, plain->quality);
  else did_change(plain, &plain->is_connected);
}

static void did_subscribe(struct mosquitto *client, void *context, int identifier, int count, const int *granted) {
  (void)client, (void)identifier, (void)count, (void)granted;
  link_plain *plain = context;
  did_change(plain, &plain->is_subscribed);
}

// Reads the event's number, and nothing else of it.
static void did_receive(struct mosquitto *client, void *context, const struct mosquitto_message *message) {
  (void)client;
  link_plain *plain = context;
  static const char key[] = "\"sequence\":\"";
  const char *place = memmem(message->payload, (size_t)message->payloadlen, key, sizeof key - 1);
  link_meter_note(plain->meter, place == NULL ? 0 : strtol(place + sizeof key - 1, NULL, 10));
}

static struct mosquitto *start(link_plain *plain, unsigned most_in_flight) {
  struct mosquitto *client = mosquitto_new(NULL, true, plain);
  if (client == NULL) return NULL;
  mosquitto_max_inflight_messages_set(client, most_in_flight);
  mosquitto_connect_callback_set(client, did_connect);
  mosquitto_subscribe_callback_set(client, did_subscribe);
  mosquitto_message_callback_set(client, did_receive);
  return client;
}

static bool run(struct mosquitto *client, int port) {
  return mosquitto_connect(client, "127.0.0.1", port, 10) == MOSQ_ERR_SUCCESS
         && mosquitto_loop_start(client) == MOSQ_ERR_SUCCESS;
}

link_plain *link_plain_open(int port, const char *topic, int quality, unsigned most_in_flight, link_meter *meter) {
  mosquitto_lib_init();
  link_plain *plain = calloc(1, sizeof *plain);
  if (plain == NULL) abort();
  (plain->meter) = meter;
  plain->topic = strdup(topic);
  plain->quality = quality;
  pthread_mutex_init(&plain->mutex, NULL);
  pthread_cond_init(&plain->condition, NULL);
  plain->publisher = start(plain, most_in_flight);
  plain->subscriber = start(plain, most_in_flight);
  if (plain->publisher == NULL || plain->subscriber == NULL || !run(plain->subscriber, port)
      || !run(plain->publisher, port)) {
    return NULL;
  }
  pthread_mutex_lock(&plain->mutex);
  while (!plain->is_connected || !plain->is_subscribed) pthread_cond_wait(&plain->condition, &plain->mutex);
  pthread_mutex_unlock(&plain->mutex);
  return plain;
}

void link_plain_close(link_plain *plain) {
  struct mosquitto *clients[] = {plain->publisher, plain->subscriber};
  for (int index = 0; index < 2; index++) {
    mosquitto_disconnect(clients[index]);
    mosquitto_loop_stop(clients[index], false);
    mosquitto_destroy(clients[index]);
  }
  free(plain->topic);
  free(plain);
}

bool link_plain_send(link_plain *plain, long through, long window) {
  char text[512];
  for (long number = link_meter_count(plain->meter) + 1; number <= through; number++) {
    if (number - link_meter_count(plain->meter) > window
        && !link_meter_wait(plain->meter, number - window / 2, NULL)) {
      return false;
    }
    size_t length =
        link_plain_format(text, sizeof text, plain->topic, "0123456789abcdef0123456789abcdef", number);
    if (mosquitto_publish(plain->publisher, NULL, plain->topic, (int)length, text, plain->quality, false) != 0) {
      return false;
    }
  }
  return link_meter_wait(plain->meter, through, NULL);
}
#endif
