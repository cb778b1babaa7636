#include "CLinkFloor.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct link_meter {
  // The number of the last event.
  atomic_long count;
  // The number for which a thread waits.
  atomic_long wanted;
  long faults;
  // When the last event arrived.
  uint64_t time;
  pthread_mutex_t mutex;
  pthread_cond_t condition;
};

link_meter *link_meter_new(void) {
  link_meter *meter = calloc(1, sizeof *meter);
  if (meter == NULL) abort();
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&meter->condition, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&meter->mutex, NULL);
  return meter;
}

void link_meter_free(link_meter *meter) {
  pthread_cond_destroy(&meter->condition);
  pthread_mutex_destroy(&meter->mutex);
  free(meter);
}

uint64_t link_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void link_meter_note(link_meter *meter, long number) {
  if (number != atomic_load_explicit(&meter->count, memory_order_relaxed) + 1) meter->faults++;
  meter->time = link_clock();
  atomic_store(&meter->count, number);
  if (number != atomic_load(&meter->wanted)) return;
  pthread_mutex_lock(&meter->mutex);
  pthread_cond_signal(&meter->condition);
  pthread_mutex_unlock(&meter->mutex);
}

long link_meter_count(const link_meter *meter) { return atomic_load(&meter->count); }
long link_meter_faults(const link_meter *meter) { return meter->faults; }

bool link_meter_wait(link_meter *meter, long number, uint64_t *time) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += 20;
  pthread_mutex_lock(&meter->mutex);
  atomic_store(&meter->wanted, number);
  int error = 0;
  while (atomic_load(&meter->count) < number && error != ETIMEDOUT) {
    error = pthread_cond_timedwait(&meter->condition, &meter->mutex, &end);
  }
  pthread_mutex_unlock(&meter->mutex);
  bool has_come = atomic_load(&meter->count) >= number;
  if (time != NULL) *time = meter->time;
  return has_come;
}
