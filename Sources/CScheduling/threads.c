#define _GNU_SOURCE
#include "CScheduling.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

// A lock, and a condition for which one thread waits.
struct waiting {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
};

static struct waiting timer, spare;
static bool is_woken;
static atomic_bool is_started;

struct work {
  void (*body)(void *);
  void *argument;
  // The name of a thread of its own; NULL if any thread will do.
  const char *name;
};

// How long a thread waits for another job when its own has ended, in nanoseconds: a new thread takes longer than a small save.
static const int64_t spare_time = 5000000000;
// Whether a thread waits so.
static bool has_spare;
// The next job of that thread; its body is NULL as long as there is none.
static struct work next_work;

// An encoder or decoder of nested values recurses; the default is 128 KiB with musl, and 512 KiB on Apple's systems. Only memory that a
// thread has touched counts.
static const size_t least_stack = 8 << 20;

static void prepare(struct waiting *waiting) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
#if !defined(__APPLE__)
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
  pthread_mutex_init(&waiting->mutex, NULL);
  pthread_cond_init(&waiting->condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

// A forked child has a copy of this state, and none of its parent's threads.
static void forget_threads(void) {
  prepare(&timer);
  prepare(&spare);
  is_woken = false;
  has_spare = false;
  next_work = (struct work){NULL, NULL, NULL};
  atomic_store(&is_started, false);
}

static void prepare_once(void) {
  prepare(&timer);
  prepare(&spare);
  pthread_atfork(NULL, NULL, forget_threads);
}

static void prepare_all(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare_once);
}

// WAIT takes a condition, its lock, and a limit that limit_after has made; it returns an error number, ETIMEDOUT at the limit. The limit
// is the length of the wait on Apple's systems, and a time of the condition's clock elsewhere.
#if defined(__APPLE__)
#define WAIT pthread_cond_timedwait_relative_np

static struct timespec limit_after(int64_t nanoseconds) {
  return (struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000};
}
#else
#define WAIT pthread_cond_timedwait

static struct timespec limit_after(int64_t nanoseconds) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  nanoseconds += now.tv_nsec;
  return (struct timespec){now.tv_sec + nanoseconds / 1000000000, nanoseconds % 1000000000};
}
#endif

// Starts a thread that takes the signals of its creator, or none: they belong to the threads of the program, except those of a
// fault, for which crash handlers stand, and the one with which a backtracer or a profiler interrupts each thread.
static bool start(void *(*body)(void *), void *argument, bool takes_signals) {
  static const int open[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPROF};
  sigset_t blocked, present;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof open / sizeof *open; i++) sigdelset(&blocked, open[i]);
  pthread_sigmask(SIG_SETMASK, takes_signals ? NULL : &blocked, &present);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  size_t stack = 0;
  pthread_attr_getstacksize(&attributes, &stack);
  if (stack < least_stack) pthread_attr_setstacksize(&attributes, least_stack);
  pthread_t thread;
  bool has_started = pthread_create(&thread, &attributes, body, argument) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &present, NULL);
  if (has_started) pthread_detach(thread);
  return has_started;
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

// Waits for another job, unless another thread does already; returns false if there is none.
static bool take_next(struct work *work) {
  struct timespec limit = limit_after(spare_time);
  pthread_mutex_lock(&spare.mutex);
  *work = (struct work){NULL, NULL, NULL};
  if (!has_spare) {
    has_spare = true;
    for (int error = 0; next_work.body == NULL && error == 0;) {
      error = WAIT(&spare.condition, &spare.mutex, &limit);
    }
    *work = next_work;
    next_work.body = NULL;
    has_spare = false;
  }
  pthread_mutex_unlock(&spare.mutex);
  return work->body != NULL;
}

static void *begin_work(void *argument) {
  struct work work = *(struct work *)argument;
  free(argument);
  set_name(work.name != NULL ? work.name : "work");
  do work.body(work.argument);
  while (work.name == NULL && take_next(&work));
  return NULL;
}

static bool pass_on(struct work work) {
  pthread_mutex_lock(&spare.mutex);
  bool is_passed_on = has_spare && next_work.body == NULL;
  if (is_passed_on) next_work = work;
  pthread_mutex_unlock(&spare.mutex);
  if (is_passed_on) pthread_cond_signal(&spare.condition);
  return is_passed_on;
}

bool scheduling_thread_start(const char *name, void (*body)(void *), void *argument) {
  prepare_all();
  struct work next = {body, argument, name};
  if (name == NULL && pass_on(next)) return true;
  struct work *work = malloc(sizeof *work);
  if (work == NULL) return false;
  *work = next;
  if (start(begin_work, work, name != NULL)) return true;
  free(work);
  return false;
}

bool scheduling_timer_start(void (*body)(void)) {
  if (atomic_load(&is_started)) return true;
  prepare_all();
  // Before the thread runs, so that a wake-up finds it.
  atomic_store(&is_started, true);
  if (!start(begin, (void *)body, false)) atomic_store(&is_started, false);
  return atomic_load(&is_started);
}

static void *end(void *nothing) { return nothing; }

bool scheduling_thread_can_start(void) { return start(end, NULL, false); }

void scheduling_timer_wait(int64_t nanoseconds) {
  struct timespec limit = limit_after(nanoseconds);
  pthread_mutex_lock(&timer.mutex);
  // Once: the caller computes anew how long it waits.
  if (!is_woken) WAIT(&timer.condition, &timer.mutex, &limit);
  is_woken = false;
  pthread_mutex_unlock(&timer.mutex);
}

void scheduling_timer_wake(void) {
  if (!atomic_load(&is_started)) return;
  pthread_mutex_lock(&timer.mutex);
  is_woken = true;
  pthread_cond_signal(&timer.condition);
  pthread_mutex_unlock(&timer.mutex);
}
