#define _GNU_SOURCE
#include "CScheduling.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
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

static bool start(void *(*body)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, argument) != 0) return false;
  pthread_detach(thread);
  return true;
}

static void *begin(void *body) {
#if defined(__APPLE__)
  pthread_setname_np("deadlines");
#else
  pthread_setname_np(pthread_self(), "deadlines");
#endif
  ((void (*)(void))body)();
  return NULL;
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
  // The thread inherits this mask: signals belong to the threads of the program, except those of a fault, for which
  // crash handlers stand, and the one with which a backtracer or a profiler interrupts each thread.
  static const int open[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPROF};
  sigset_t blocked, present;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof open / sizeof *open; i++) sigdelset(&blocked, open[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, &present);
  // Before the thread runs, so that a wake-up finds it.
  atomic_store(&is_started, true);
  if (!start(begin, (void *)body)) atomic_store(&is_started, false);
  pthread_sigmask(SIG_SETMASK, &present, NULL);
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
