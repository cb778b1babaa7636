#define _GNU_SOURCE
#include "CScheduling.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition;
static bool is_woken;
static atomic_bool is_started;

// A forked child has a copy of this state, and none of its parent's threads.
static void forget_thread(void) {
  mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  is_woken = false;
  atomic_store(&is_started, false);
}

// Starts a thread that takes no signals: they belong to the threads of the program, except those of a fault, for which
// crash handlers stand, and the one with which a backtracer or a profiler interrupts each thread.
static bool start(void *(*body)(void *), void *argument) {
  static const int open[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPROF};
  sigset_t blocked, present;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof open / sizeof *open; i++) sigdelset(&blocked, open[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, &present);
  pthread_t thread;
  bool is_started = pthread_create(&thread, NULL, body, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &present, NULL);
  if (is_started) pthread_detach(thread);
  return is_started;
}

static void set_name(const char *name) {
#if defined(__APPLE__)
  pthread_setname_np(name);
#else
  pthread_setname_np(pthread_self(), name);
#endif
}

static void *begin(void *body) {
  set_name("deadlines");
  ((void (*)(void))body)();
  return NULL;
}

struct work {
  void (*body)(void *);
  void *argument;
};

static void *begin_work(void *argument) {
  struct work work = *(struct work *)argument;
  free(argument);
  set_name("work");
  work.body(work.argument);
  return NULL;
}

bool scheduling_thread_start(void (*body)(void *), void *argument) {
  struct work *work = malloc(sizeof *work);
  if (work == NULL) return false;
  *work = (struct work){body, argument};
  if (start(begin_work, work)) return true;
  free(work);
  return false;
}

bool scheduling_timer_start(void (*body)(void)) {
  if (atomic_load(&is_started)) return true;
  static bool is_following_forks;
  if (!is_following_forks) is_following_forks = pthread_atfork(NULL, NULL, forget_thread) == 0;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
#if !defined(__APPLE__)
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
  pthread_cond_init(&condition, &attributes);
  pthread_condattr_destroy(&attributes);
  // Before the thread runs, so that a wake-up finds it.
  atomic_store(&is_started, true);
  if (!start(begin, (void *)body)) atomic_store(&is_started, false);
  return atomic_load(&is_started);
}

static void *end(void *nothing) { return nothing; }

bool scheduling_thread_can_start(void) { return start(end, NULL); }

void scheduling_timer_wait(int64_t nanoseconds) {
  pthread_mutex_lock(&mutex);
#if defined(__APPLE__)
  struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
#define WAIT pthread_cond_timedwait_relative_np
#else
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  nanoseconds += limit.tv_nsec;
  limit = (struct timespec){limit.tv_sec + nanoseconds / 1000000000, nanoseconds % 1000000000};
#define WAIT pthread_cond_timedwait
#endif
  for (int error = 0; !is_woken && error == 0;) error = WAIT(&condition, &mutex, &limit);
  is_woken = false;
  pthread_mutex_unlock(&mutex);
}

void scheduling_timer_wake(void) {
  if (!atomic_load(&is_started)) return;
  pthread_mutex_lock(&mutex);
  is_woken = true;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
}
