#define _GNU_SOURCE
#include "PubSubTimer.h"

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

static void *begin(void *body) {
#if defined(__APPLE__)
  pthread_setname_np("deadlines");
#else
  pthread_setname_np(pthread_self(), "deadlines");
#endif
  ((void (*)(void))body)();
  return NULL;
}

bool pubsub_timer_start(void (*body)(void)) {
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
  pthread_t thread;
  // Before the thread runs, so that a wake-up finds it.
  atomic_store(&is_started, true);
  if (pthread_create(&thread, NULL, begin, (void *)body) == 0) {
    pthread_detach(thread);
  } else {
    atomic_store(&is_started, false);
  }
  pthread_sigmask(SIG_SETMASK, &present, NULL);
  return atomic_load(&is_started);
}

static void *end(void *nothing) { return nothing; }

bool pubsub_thread_can_start(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, end, NULL) != 0) return false;
  pthread_detach(thread);
  return true;
}

void pubsub_timer_wait(int64_t nanoseconds) {
  struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
#if !defined(__APPLE__)
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  limit.tv_sec += now.tv_sec;
  limit.tv_nsec += now.tv_nsec;
  if (limit.tv_nsec >= 1000000000) {
    limit.tv_sec += 1;
    limit.tv_nsec -= 1000000000;
  }
#endif
  pthread_mutex_lock(&mutex);
  int error = 0;
  while (!is_woken && error == 0) {
    if (nanoseconds < 0) {
      error = pthread_cond_wait(&condition, &mutex);
    } else {
#if defined(__APPLE__)
      error = pthread_cond_timedwait_relative_np(&condition, &mutex, &limit);
#else
      error = pthread_cond_timedwait(&condition, &mutex, &limit);
#endif
    }
  }
  is_woken = false;
  pthread_mutex_unlock(&mutex);
}

void pubsub_timer_wake(void) {
  if (!atomic_load(&is_started)) return;
  pthread_mutex_lock(&mutex);
  is_woken = true;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
}
