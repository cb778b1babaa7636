#define _GNU_SOURCE
#include "CUnixHost.h"

#include <pthread.h>
#include <stdlib.h>

struct start {
  void (*body)(void *);
  void *argument;
};

static void *begin(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  unixhost_signals_unblock();
  // The name is for debuggers, and for tools that list threads.
#if defined(__APPLE__)
  pthread_setname_np("lifecycle host");
#else
  pthread_setname_np(pthread_self(), "lifecycle host");
#endif
  start.body(start.argument);
  return NULL;
}

bool unixhost_thread_start(void (*body)(void *), void *argument) {
  struct start *start = malloc(sizeof *start);
  if (start == NULL) return false;
  *start = (struct start){body, argument};
  pthread_t thread;
  if (pthread_create(&thread, NULL, begin, start) != 0) {
    free(start);
    return false;
  }
  pthread_detach(thread);
  return true;
}
