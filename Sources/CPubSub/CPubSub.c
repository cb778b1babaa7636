#define _GNU_SOURCE  // for the affinity of threads
#include "CPubSub.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__linux__)
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

static pubsub_helpers helpers;

void pubsub_set_helpers(const pubsub_helpers *given) { helpers = *given; }

#ifdef PUBSUB_HOOKS
pubsub_scheduler pubsub_present_scheduler;

void pubsub_install_scheduler(pubsub_scheduler scheduler) {
    __atomic_store_n(&pubsub_present_scheduler, scheduler, __ATOMIC_RELEASE);
}
#endif

// MARK: Functions of handlers

/// Makes the code of a function different from all others: a linker may give equal functions one address (--icf=all), and
/// these addresses are compared.
#define PUBSUB_UNIQUE_FUNCTION          \
    static char unique;                 \
    __asm__ volatile("" ::"r"(&unique))

__attribute__((swiftcall)) void pubsub_cancelled_function(
    const void *event, __attribute__((swift_context)) void *context) {
    (void)event;
    (void)context;
    PUBSUB_UNIQUE_FUNCTION;
}

static __attribute__((swiftcall)) void boxed_function(
    const void *event, __attribute__((swift_context)) void *context,
    __attribute__((swift_error_result)) void **error) {
    void *thrown = helpers.call_box(context, event);
    if (thrown != NULL) *error = thrown;
}

const void *pubsub_boxed(void) { return (const void *)&boxed_function; }

/// Does nothing: a receiver was given the event before any handler was called, or came after the post began.
static __attribute__((swiftcall)) void receiving_function(
    const void *event, __attribute__((swift_context)) void *context) {
    (void)event;
    (void)context;
    PUBSUB_UNIQUE_FUNCTION;
}

const void *pubsub_receiving(void) { return (const void *)&receiving_function; }

/// The calling convention of a closure that also takes its owner.
typedef __attribute__((swiftcall)) void (*owned_function)(
    void *owner, const void *event, __attribute__((swift_context)) void *context,
    __attribute__((swift_error_result)) void **error);

/// The stored properties of a Swift object begin after its type and its reference counts.
enum { object_header = 2 * sizeof(void *) };

/// Calls a handler with its owner, if that is still there; returns the error that it threw.
PUBSUB_INLINE void *call_owned(const void *event, void *context) {
    const pubsub_owned *owned = (const pubsub_owned *)((const char *)context + object_header);
    void *error = NULL;
    void *owner = swift_tryRetain(owned->owner);
    if (PUBSUB_UNLIKELY(owner == NULL)) {
        helpers.owner_is_gone(context);
        return NULL;
    }
    ((owned_function)owned->closure.function)(owner, event, owned->closure.context, &error);
    swift_release(owner);
    return error;
}

static __attribute__((swiftcall)) void call_with_owner(
    const void *event, __attribute__((swift_context)) void *context,
    __attribute__((swift_error_result)) void **error) {
    void *thrown = call_owned(event, context);
    if (PUBSUB_UNLIKELY(thrown != NULL)) *error = thrown;
}

const void *pubsub_owned_call(void) { return (const void *)&call_with_owner; }

// MARK: Barriers

#if defined(__linux__)
// Registering takes no time while the program has one thread, but some milliseconds later. So a constructor does it.
static __attribute__((constructor)) void register_barrier(void) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

/// A set of processors: 8,192 is the most for which Linux can be built.
typedef union {
    cpu_set_t set;
    char memory[8192 / 8];
} processors;

/// Lets this thread run on each processor in turn, which interrupts every other thread once. It replaces membarrier on
/// old systems, and where a program has forbidden itself that call.
static void visit_processors(void) {
    processors before, one;
    // It returns the size of the system's own sets, in bytes.
    long size = syscall(SYS_sched_getaffinity, 0, sizeof before, &before);
    if (size <= 0) abort();
    int visited = 0;
    for (int processor = 0; processor < 8 * size; processor++) {
        CPU_ZERO_S(sizeof one, &one.set);
        CPU_SET_S(processor, sizeof one, &one.set);
        // It fails for processors that do not exist, or that the program may not use.
        if (sched_setaffinity(0, size, &one.set) == 0) visited++;
    }
    // Where the program has forbidden itself this call, too, there is no barrier, and memory would be freed under its readers.
    if (visited == 0) abort();
    sched_setaffinity(0, size, &before.set);
}

static void run_barrier(void) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) visit_processors();
}
#else
static void run_barrier(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#endif

// MARK: Threads

_Thread_local pubsub_record *pubsub_own_record;

static pubsub_record *records;  // the newest; walked by next
static pthread_key_t key_of_record;
static pthread_once_t preparation = PTHREAD_ONCE_INIT;

static pubsub_record *first_record(void) { return __atomic_load_n(&records, __ATOMIC_SEQ_CST); }

/// Gives a record back, and forgets its posts.
static void give_back(pubsub_record *record) {
    if (record == pubsub_own_record) pubsub_own_record = NULL;
    PUBSUB_HOOK("give back: the record");
    for (long depth = pubsub_depth(record) - 1; depth >= 0; depth--)
        for (int slot = 3; slot >= 0; slot--) __atomic_store_n(&record->frames[depth].at[slot], NULL, __ATOMIC_RELEASE);
    record->innermost = 0;
    record->ceiling = 0;
    record->refusal = NULL;
    __atomic_store_n(&record->in_use, 0, __ATOMIC_RELEASE);
}

/// Gives back the record of a thread that ends. If it ends inside a handler (pthread_exit), another thread may wait for that.
static void end_thread(void *memory) {
    pubsub_record *record = memory;
    for (long depth = pubsub_depth(record) - 1; depth >= 0; depth--) pubsub_leave(record, depth);
    give_back(record);
}

/// Gives back the records of the threads that do not exist in a forked process.
static void forget_other_threads(void) {
    for (pubsub_record *record = first_record(); record; record = record->next)
        if (record != pubsub_own_record) give_back(record);
}

static void prepare(void) {
    if (pthread_key_create(&key_of_record, end_thread) != 0 || pthread_atfork(NULL, NULL, forget_other_threads) != 0) abort();
}

static pubsub_record *use(pubsub_record *record) {
    // Forgets a request that reached the record after its last post had ended.
    __atomic_store_n(&record->frames[0].reports_move, 0, __ATOMIC_RELAXED);
    pubsub_own_record = record;
    pthread_setspecific(key_of_record, record);
    return record;
}

pubsub_record *pubsub_make_record(void) {
    pthread_once(&preparation, prepare);
    for (pubsub_record *record = first_record(); record; record = record->next) {
        long unused = 0;
        PUBSUB_HOOK("make record: take one that is unused");
        // This exchange is a fence: a writer that found the record unused had made its change before this thread reads
        // anything.
        if (__atomic_load_n(&record->in_use, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&record->in_use, &unused, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            return use(record);
    }
    // Memory from the system costs nothing before it is used, so a record has room for the deepest nesting.
    pubsub_record *record = mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (record == MAP_FAILED) abort();
    record->in_use = 1;
    record->next = __atomic_load_n(&records, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&records, &record->next, record, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return use(record);
}

// MARK: Writers

void pubsub_barrier(void) {
    for (pubsub_record *record = first_record(); record; record = record->next) {
        PUBSUB_HOOK("barrier: look for another thread");
        if (record == pubsub_own_record || __atomic_load_n(&record->in_use, __ATOMIC_SEQ_CST) == 0) continue;
        PUBSUB_HOOK("barrier: pass it");
        return run_barrier();
    }
}

/// Returns the outermost frame of a record in which a post has announced an address in this memory; NULL if there is none.
/// The outermost post ends last, so a writer needs to ask no other. Frames end innermost first, so the first frame without a post is
/// followed by none with one.
static pubsub_frame *reader(pubsub_record *record, const char *memory, size_t size) {
    for (long depth = 0; depth < PUBSUB_DEEPEST; depth++) {
        pubsub_frame *frame = &record->frames[depth];
        PUBSUB_HOOK("scan: a post");
        for (int slot = 0; slot < 4; slot++) {
            const char *at = __atomic_load_n(&frame->at[slot], __ATOMIC_SEQ_CST);
            if (at == NULL && slot == 0) return NULL;
            if ((uintptr_t)at - (uintptr_t)memory < size) return frame;
        }
    }
    return NULL;
}

bool pubsub_is_read(const void *memory, size_t size) {
    for (pubsub_record *record = first_record(); record; record = record->next)
        if (reader(record, memory, size) != NULL) return true;
    return false;
}

/// Returns whether a post is at one of the handlers, which have been cancelled.
///
/// The writer cancels, passes a barrier, asks, passes another, and looks. A post announces its next handler, looks for a request,
/// erases and reports it (report_move), and then looks at the handler's function. The writer's first call, with `asks`, asks each
/// post that it finds. Its second call counts only posts that it finds at a handler with the request still there. A post
/// without one announced the handler after the first call, or has erased the request; either way it looks at the function after the
/// barrier, and finds the handler cancelled. Without the first barrier a post could find it living,
/// and then erase the request by a store that the processor has held back.
static bool runs(const void *const *handlers, long count, bool asks) {
    bool found = false;
    for (pubsub_record *record = first_record(); record; record = record->next) {
        for (long index = 0; index < count; index++) {
            pubsub_frame *frame = reader(record, handlers[index], 1);
            if (frame == NULL) continue;
            PUBSUB_HOOK("runs: ask");
            if (asks) __atomic_store_n(&frame->reports_move, 1, __ATOMIC_SEQ_CST);
            found |= __atomic_load_n(&frame->reports_move, __ATOMIC_SEQ_CST) != 0;
        }
    }
    return found;
}

bool pubsub_runs(const void *const *handlers, long count) {
    if (!runs(handlers, count, true)) return false;
    PUBSUB_HOOK("runs: look again");
    // A post that moved on before it could see the request does not report. After the barrier, this thread sees that it
    // has moved on; every other post that was asked sees the request.
    pubsub_barrier();
    return runs(handlers, count, false);
}

// MARK: Memory

/// Returns memory on cache lines of its own.
static void *aligned(size_t size) {
    void *memory = NULL;
    size = (size + 127) & ~(size_t)127;
    if (posix_memalign(&memory, 128, size) != 0) abort();
    memset(memory, 0, size);
    return memory;
}

pubsub_topic *pubsub_make_topic(long limit) {
    pubsub_topic *topic = aligned(sizeof *topic);
    topic->limit = limit;
    return topic;
}

pubsub_table *pubsub_make_table(size_t bits) {
    size_t size = ((size_t)1 << bits) * sizeof(pubsub_cell);
    pubsub_table *table = aligned(sizeof *table + size);
    table->mask = size - sizeof(pubsub_cell);
    return table;
}

/// Returns the cell of a key, or the free cell in which it would be.
static pubsub_cell *find_cell(const pubsub_table *table, const void *key) {
    const pubsub_cell *cell = pubsub_first_cell(table, key);
    for (;;) {
        const void *found = __atomic_load_n(&cell->key, __ATOMIC_ACQUIRE);
        if (found == key || found == NULL) return (pubsub_cell *)cell;
        size_t next = ((size_t)((const char *)(cell + 1) - (const char *)table->cells)) & table->mask;
        cell = (const pubsub_cell *)((const char *)table->cells + next);
    }
}

pubsub_topic *pubsub_find(const void *const *word, const void *type) {
    const pubsub_cell *cell = find_cell(pubsub_load(word), type);
    return __atomic_load_n(&cell->key, __ATOMIC_ACQUIRE) == type ? (pubsub_topic *)cell->value : NULL;
}

const void **pubsub_insert(pubsub_table *table, const void *key, const void *value) {
    pubsub_cell *cell = find_cell(table, key);
    cell->value = value;
    __atomic_store_n(&cell->key, key, __ATOMIC_RELEASE);
    return &cell->value;
}

void pubsub_free(const void *memory) { free((void *)memory); }

// MARK: Posting

pubsub_frame *pubsub_enter(pubsub_record *record, long depth, pubsub_topic *topic, const void *subject, bool reads) {
    pubsub_frame *frame = &record->frames[depth];
    frame->topic = topic;
    frame->subject = subject;
    // Forgets a request that reached this frame after its earlier post had ended: this post would report for nothing.
    __atomic_store_n(&frame->reports_move, 0, __ATOMIC_RELAXED);
    frame->block = reads ? pubsub_protect(&frame->at[0], &topic->root) : NULL;
    // No thread waits for the topic's address. It is not NULL, which would mean that no post is under way.
    if (frame->block == NULL) __atomic_store_n(&frame->at[0], topic, __ATOMIC_RELEASE);
    record->innermost = depth;
    return frame;
}

const void *pubsub_protect_subject(
    pubsub_frame *frame, long slot, const pubsub_topic *topic, const void *subject) {
    for (;;) {
        const pubsub_table *table = pubsub_protect(&frame->at[3], &topic->subjects);
        pubsub_cell *cell = table == NULL ? NULL : find_cell(table, subject);
        if (cell == NULL || __atomic_load_n(&cell->key, __ATOMIC_ACQUIRE) != subject) return NULL;
        PUBSUB_HOOK("post: a subject's list has been found");
        const void *block = pubsub_protect(&frame->at[slot], &cell->value);
        PUBSUB_HOOK("post: look whether the table of subjects is still there");
        // Writers change only the present table, so the block in an earlier one may have been freed.
        if (__atomic_load_n(&topic->subjects, __ATOMIC_SEQ_CST) == table) return block;
        // Another block may get its address, and a drain would take this post for one that reads it.
        __atomic_store_n(&frame->at[slot], NULL, __ATOMIC_RELEASE);
    }
}

__attribute__((noinline)) static void report_move(pubsub_frame *frame) {
    // Another writer may meanwhile have asked for the next handler, which this post has announced and not looked at. The store
    // erases that request, too. That writer cancelled the handler before it asked, so this thread finds it cancelled at its look,
    // and the writer need not wait. `housekeep` begins with sequentially consistent accesses, which keep the look behind the store.
    // If the store comes after the writer's second look, the writer waits, and still has the lock: `housekeep` fails to take it, and
    // the writer looks again after it has unlocked.
    __atomic_store_n(&frame->reports_move, 0, __ATOMIC_RELAXED);
    helpers.housekeep(frame->topic);
}

/// Announces that a post is between two handlers, at the next one, or over, and then looks whether another thread waits for
/// that.
PUBSUB_INLINE void move_on(pubsub_frame *frame, const void **slot, const void *address) {
    PUBSUB_HOOK("move on");
    pubsub_announce(slot, address);
    PUBSUB_HOOK("move on: look whether to report it");
    if (PUBSUB_UNLIKELY(__atomic_load_n(&frame->reports_move, __ATOMIC_RELAXED) != 0)) report_move(frame);
}

// The walk does not know the next handler yet. So one byte further: still in the block, which it protects, but no handler's address.
void pubsub_move_on(pubsub_frame *frame, const void **slot) { move_on(frame, slot, (const char *)*slot + 1); }

void pubsub_clear(pubsub_record *record, long depth) {
    pubsub_frame *frame = &record->frames[depth];
    // Before `move_on`, which may run the program's code, and that may post.
    record->innermost = depth > 0 ? depth - 1 : 0;
    // The first slot last: without it, the frame has no post for a scan.
    for (int slot = 3; slot > 0; slot--)
        if (frame->at[slot] != NULL) __atomic_store_n(&frame->at[slot], NULL, __ATOMIC_RELEASE);
    move_on(frame, &frame->at[0], NULL);
}

void pubsub_leave(pubsub_record *record, long depth) {
    pubsub_clear(record, depth);
    if (PUBSUB_UNLIKELY(record->ceiling != 0) && depth == 0) helpers.report_refusal(record);
}

/// Calls a handler with an owner without a function in between; inlined into the loop below.
__attribute__((always_inline)) void *pubsub_call_announced(
    const void *function, const pubsub_handler *handler, const void *event) {
    if (function == (const void *)&call_with_owner) return call_owned(event, handler->context);
    return pubsub_call(function, handler->context, event);
}

__attribute__((noinline)) static void report(
    const pubsub_frame *frame, const pubsub_handler *handler, const void *event, void *error) {
    const pubsub_block *block = frame->block;
    helpers.report(pubsub_entries(block) + (handler - block->handlers), frame->topic, event, error);
}

/// Calls the handlers from one up to another, in order. Where there are no owners, no function is compared with that of
/// owners: it would cost a handler a tenth of its call.
///
/// When it returns, the frame still announces the last handler: the caller moves on.
PUBSUB_INLINE void call_in_order(
    pubsub_frame *frame, const pubsub_handler *handler, const pubsub_handler *end, const void *event, bool has_owners) {
    if (handler == end) return;
    pubsub_announce(&frame->at[0], handler);
    // A loop of calls that lies across two lines of the instruction cache takes a third longer.
    [[clang::code_align(64)]] for (;;) {
        const void *function = pubsub_function_of(handler);
        PUBSUB_HOOK("deliver: call a handler");
        void *error = has_owners ? pubsub_call_announced(function, handler, event) : pubsub_call(function, handler->context, event);
        if (PUBSUB_UNLIKELY(error != NULL)) report(frame, handler, event, error);
        handler++;
        // One pointer. The compiler would make it a base and an index, which do not stay in registers across the call.
        __asm__("" : "+r"(handler));
        if (handler == end) return;
        move_on(frame, &frame->at[0], handler);
    }
}

/// Not inlined, so that it takes no registers from the loop for handlers without owners.
__attribute__((noinline)) static void call_owned_in_order(
    pubsub_frame *frame, const pubsub_handler *handler, const pubsub_handler *end, const void *event) {
    call_in_order(frame, handler, end, event, true);
}

PUBSUB_INLINE void call_first(pubsub_frame *frame, const pubsub_block *block, long count, const void *event) {
    const pubsub_handler *end = block->handlers + count;
    if (pubsub_has_owners(block)) return call_owned_in_order(frame, block->handlers, end, event);
    call_in_order(frame, block->handlers, end, event, false);
}

void pubsub_call_first(pubsub_frame *frame, long count, const void *event) {
    if (frame->block == NULL) return;
    call_first(frame, frame->block, count, event);
    pubsub_move_on(frame, &frame->at[0]);
}

/// Handlers that are appended during the calls are not called.
PUBSUB_INLINE void call_all(pubsub_frame *frame, const pubsub_block *block, const void *event) {
    PUBSUB_HOOK("deliver: look how many stand");
    call_first(frame, block, pubsub_end(block), event);
}

__attribute__((noinline)) void pubsub_post(const void *event, pubsub_topic *topic, const void *subject) {
    pubsub_record *record = pubsub_record_of_thread();
    long depth = pubsub_depth(record);
    long general = PUBSUB_GENERAL | PUBSUB_RECEIVERS | (subject == NULL ? 0 : PUBSUB_SUBJECTS);
    if ((pubsub_flags(topic) & general) != 0 || depth >= topic->limit || record->ceiling != 0)
        return helpers.post(event, topic, subject);
    PUBSUB_HOOK("post: enter");
    pubsub_frame *frame = pubsub_enter(record, depth, topic, subject, true);
    if (frame->block != NULL) call_all(frame, frame->block, event);
    pubsub_leave(record, depth);
}

/// The fast path: an outermost post. Other threads see nothing of it but what it announces in its frame, and `reports_move`.
///
/// The caller has checked that the topic's flags do not ask for the general path. The function keeps few values in
/// registers while handlers run, so that it saves few registers. It is aligned to a cache line, because the speed of its
/// loop of indirect calls depends on its address.
__attribute__((swiftcall, aligned(64))) void pubsub_post_event(
    const void *event, pubsub_topic *topic, const void *subject, const void *root, const void *type) {
    (void)type;  // the metadata that Swift passes last to a generic function
    pubsub_record *record = pubsub_own_record;
    if (PUBSUB_UNLIKELY(record == NULL) || PUBSUB_UNLIKELY(record->frames[0].at[0] != NULL))
        return pubsub_post(event, topic, subject);
    pubsub_frame *frame = &record->frames[0];
    // From here on one pointer, and not both, so that it stays in a register.
    __asm__("" : "+r"(frame));
    // A request that reached the frame after its earlier post had ended makes this post report for nothing, which does no
    // harm. To forget it would cost half a nanosecond: the store would delay the look at the end.
    PUBSUB_HOOK("enter, the fast path: announce");
    pubsub_announce(&frame->at[0], root);
    PUBSUB_HOOK("enter, the fast path: look again");
    if (PUBSUB_UNLIKELY(__atomic_load_n(&topic->root, __ATOMIC_SEQ_CST) != root)) {
        __atomic_store_n(&frame->at[0], NULL, __ATOMIC_RELEASE);
        return pubsub_post(event, topic, subject);
    }
    frame->block = root;
    frame->topic = topic;
    frame->subject = subject;
    call_all(frame, root, event);
    PUBSUB_HOOK("leave, the fast path");
    move_on(frame, &frame->at[0], NULL);
    record = (pubsub_record *)((char *)frame - offsetof(pubsub_record, frames));
    if (PUBSUB_UNLIKELY(record->ceiling != 0)) helpers.report_refusal(record);
}
