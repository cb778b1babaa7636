#include "CPubSub.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// A loop of calls that lies across two lines of the instruction cache takes a third longer.
#if defined(__has_c_attribute)
#if __has_c_attribute(clang::code_align)
#define PUBSUB_ALIGNED_LOOP [[clang::code_align(64)]]
#endif
#endif
#ifndef PUBSUB_ALIGNED_LOOP
#define PUBSUB_ALIGNED_LOOP
#endif

static pubsub_helpers helpers;

void pubsub_set_helpers(const pubsub_helpers *given) { helpers = *given; }

// MARK: Functions of handlers

__attribute__((swiftcall)) void pubsub_cancelled_function(
    const void *event, __attribute__((swift_context)) void *context) {
    (void)event;
    (void)context;
}

static __attribute__((swiftcall)) void boxed_function(
    const void *event, __attribute__((swift_context)) void *context,
    __attribute__((swift_error_result)) void **error) {
    void *thrown = helpers.call_box(context, event);
    if (thrown != NULL) *error = thrown;
}

const void *pubsub_boxed(void) { return (const void *)&boxed_function; }

/// The topic of the innermost post on this thread.
static const pubsub_topic *innermost_topic(void) {
    return pubsub_frame_at(pubsub_own_record, pubsub_depth(pubsub_own_record) - 1).topic;
}

/// Does nothing: a receiver was given the event before any handler was called, or came after the post began.
static __attribute__((swiftcall)) void receiving_function(
    const void *event, __attribute__((swift_context)) void *context) {
    (void)event;
    (void)context;
    // So that no linker folds it and pubsub_cancelled_function into one.
    __asm__ volatile("nop");
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
    ((owned_function)owned->function)(owner, event, owned->context, &error);
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

static void *aligned(size_t size) {
    void *memory = NULL;
    if (posix_memalign(&memory, 128, size) != 0) abort();
    memset(memory, 0, size);
    return memory;
}

// MARK: Barriers

#if defined(__linux__)
static bool has_barrier;

// Registering takes no time while the program has one thread, but some milliseconds later. So a constructor does it.
static __attribute__((constructor)) void register_barrier(void) {
    has_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool pubsub_barrier(void) {
    return has_barrier && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
#else
static const bool has_barrier = false;

bool pubsub_barrier(void) { return false; }
#endif

// MARK: Threads

_Thread_local pubsub_record *pubsub_own_record;

static pubsub_record *records;  // the newest; walked by next
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void give_back(void *memory) {
    pubsub_record *record = memory;
    pubsub_own_record = NULL;
    PUBSUB_HOOK("give back: the record");
    __atomic_store_n(&record->in_use, 0, __ATOMIC_RELEASE);
}

static void make_key(void) {
    if (pthread_key_create(&key, give_back) != 0) abort();
}

static pubsub_record *take(pubsub_record *record) {
    pubsub_own_record = record;
    pthread_setspecific(key, record);
    return record;
}

pubsub_record *pubsub_make_record(void) {
    pthread_once(&once, make_key);
    for (pubsub_record *record = __atomic_load_n(&records, __ATOMIC_ACQUIRE); record; record = record->next) {
        long unused = 0;
        PUBSUB_HOOK("make record: take one that is unused");
        // This exchange is a fence: a reclaimer that found the record unused had swapped its root before this thread
        // reads any root.
        if (__atomic_load_n(&record->in_use, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&record->in_use, &unused, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            return take(record);
    }
    pubsub_record *record = aligned(sizeof *record);
    record->in_use = 1;
    if (!has_barrier) record->duties = PUBSUB_FENCES | PUBSUB_FENCES_SURELY;
    record->next = __atomic_load_n(&records, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&records, &record->next, record, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return take(record);
}

pubsub_frame pubsub_frame_at(const pubsub_record *record, long depth) {
    return depth < PUBSUB_SHALLOW ? record->frames[depth] : record->deep_frames[depth - PUBSUB_SHALLOW];
}

void pubsub_note_refusal(pubsub_record *record, void *refusal) {
    record->refusal = refusal;
    __atomic_fetch_or(&record->duties, PUBSUB_REFUSED, __ATOMIC_RELAXED);
}

static bool has_to_report(const pubsub_record *record) {
    return pubsub_depth(record) == 0 && (__atomic_load_n(&record->duties, __ATOMIC_RELAXED) & PUBSUB_REFUSED) != 0;
}

void *pubsub_begin_report(pubsub_record *record) {
    if (!has_to_report(record)) return NULL;
    __atomic_fetch_and(&record->duties, ~PUBSUB_REFUSED, __ATOMIC_RELAXED);
    return record->refusal;
}

void pubsub_end_report(pubsub_record *record) { record->refusal = NULL; }

// MARK: Protecting

static const void **slot_at(pubsub_record *record, long depth) {
    return depth < PUBSUB_SHALLOW ? &record->shallow[depth] : &record->deep[depth - PUBSUB_SHALLOW];
}

static void make_room(pubsub_record *record, long depth) {
    long index = depth - PUBSUB_SHALLOW;
    if (record->deep == NULL) {
        size_t count = PUBSUB_DEEPEST - PUBSUB_SHALLOW;
        record->deep_frames = aligned(count * sizeof *record->deep_frames);
        __atomic_store_n(&record->deep, aligned(count * sizeof *record->deep), __ATOMIC_RELEASE);
    }
    // Raise it before the slot is written: a reclaimer that could see the slot then reads that far.
    if (record->deepest <= index) __atomic_store_n(&record->deepest, index + 1, __ATOMIC_SEQ_CST);
}

/// Stores a root without a fence, and returns whether that suffices. The processor may delay the store until after the
/// two loads. The reclaimer's barrier interrupts this thread at one point. If that is before the loads, they see the
/// reclaimer's mark; if it is after the store, the reclaimer sees the store. So only the compiler must not reorder
/// them, which the signal fence prevents.
PUBSUB_INLINE bool protects_unfenced(
    pubsub_record *record, const void **slot, const void *root, const pubsub_topic *topic) {
    PUBSUB_HOOK("enter: protect, without a fence");
    __atomic_store_n(slot, root, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    PUBSUB_HOOK("enter: look again, without a fence");
    return PUBSUB_LIKELY(__atomic_load_n(&record->duties, __ATOMIC_RELAXED) == 0) &&
           PUBSUB_LIKELY(__atomic_load_n(&topic->root, __ATOMIC_SEQ_CST) == root);
}

/// Stores the present root, with a fence between the store and the check that it still is the root.
PUBSUB_INLINE const void *protect_fenced(const void **slot, const void *root, const pubsub_topic *topic) {
    for (;;) {
        PUBSUB_HOOK("enter: protect, with a fence");
        __atomic_exchange_n(slot, root, __ATOMIC_SEQ_CST);
        PUBSUB_HOOK("enter: look again");
        const void *again = __atomic_load_n(&topic->root, __ATOMIC_SEQ_CST);
        if (again == root) return root;
        root = again;
    }
}

/// Returns the slot for the root of a post at a depth, and stores the frame of the post.
static const void **make_slot(pubsub_record *record, long depth, pubsub_frame frame) {
    if (depth >= PUBSUB_SHALLOW) {
        make_room(record, depth);
        record->deep_frames[depth - PUBSUB_SHALLOW] = frame;
    } else {
        record->frames[depth] = frame;
    }
    return slot_at(record, depth);
}

void pubsub_enter_unread(pubsub_record *record, long depth, pubsub_frame frame) {
    const void **slot = make_slot(record, depth, frame);
    // The topic's address is not a root, so no thread waits for it. It is not NULL, which would mean that no post is
    // under way.
    __atomic_store_n(slot, frame.topic, __ATOMIC_RELEASE);
    record->inner = depth;
}

const void *pubsub_enter(pubsub_record *record, long depth, pubsub_frame frame) {
    const void **slot = make_slot(record, depth, frame);
    const pubsub_topic *topic = frame.topic;
    const void *root = __atomic_load_n(&topic->root, __ATOMIC_RELAXED);
    bool fences = (__atomic_load_n(&record->duties, __ATOMIC_RELAXED) & PUBSUB_FENCES) != 0;
    if (fences || !protects_unfenced(record, slot, root, topic)) root = protect_fenced(slot, root, topic);
    record->inner = depth;
    return root;
}

/// The number of posts with a fence after which a thread checks whether it still needs the fences.
enum { patience = 256 };

static void reconsider_fences(pubsub_record *record) {
    record->fenced = 0;
    long duties = __atomic_load_n(&record->duties, __ATOMIC_RELAXED);
    if (duties & PUBSUB_IS_RELIED_ON) {
        __atomic_fetch_and(&record->duties, ~PUBSUB_IS_RELIED_ON, __ATOMIC_RELAXED);
    } else if (has_barrier && (duties & PUBSUB_FENCES_SURELY)) {
        PUBSUB_HOOK("leave: take the marks off");
        // This exchange is a fence: a reclaimer that relied on this record's fences had swapped its root before this
        // thread reads another one.
        __atomic_compare_exchange_n(
            &record->duties, &duties, duties & ~(PUBSUB_FENCES | PUBSUB_FENCES_SURELY), false, __ATOMIC_SEQ_CST,
            __ATOMIC_RELAXED);
    }
}

/// A leaving post must check for waiters only after it has cleared its slot. A waiter runs a barrier before it waits;
/// on systems without such a barrier the leaving post uses a fence.
PUBSUB_INLINE void look_after_leaving(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (PUBSUB_UNLIKELY(!has_barrier)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void pubsub_leave(pubsub_record *record, long depth) {
    record->inner = depth > 0 ? depth - 1 : 0;
    PUBSUB_HOOK("leave");
    __atomic_store_n(slot_at(record, depth), NULL, __ATOMIC_RELEASE);
    look_after_leaving();
    PUBSUB_HOOK("leave: look at the own duties");
    if ((__atomic_load_n(&record->duties, __ATOMIC_RELAXED) & PUBSUB_FENCES) && ++record->fenced >= patience)
        reconsider_fences(record);
}

// MARK: Reclaiming

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

/// Returns whether a record's owner must be asked to use fences. An unused record protects nothing until a thread takes
/// it, which is a fence. If the owner already uses fences, this notes that a reclaimer relies on them.
static bool is_unfenced(pubsub_record *record) {
    if (record == pubsub_own_record || __atomic_load_n(&record->in_use, __ATOMIC_SEQ_CST) == 0) return false;
    PUBSUB_HOOK("meet: a record's duties");
    long duties = __atomic_load_n(&record->duties, __ATOMIC_SEQ_CST);
    // Use compare-and-exchange: if the owner clears its marks at the same time, a plain store would leave a mark that
    // it never clears.
    do {
        if ((duties & PUBSUB_FENCES_SURELY) == 0) return true;
    } while ((duties & PUBSUB_IS_RELIED_ON) == 0 &&
             !__atomic_compare_exchange_n(
                 &record->duties, &duties, duties | PUBSUB_IS_RELIED_ON, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return false;
}

/// Sets PUBSUB_FENCES_SURELY after the barrier, if the owner has not cleared PUBSUB_FENCES meanwhile: such an owner
/// posts without a fence again, and no barrier has run on it since.
static void mark_surely(pubsub_record *record) {
    long duties = __atomic_load_n(&record->duties, __ATOMIC_SEQ_CST);
    PUBSUB_HOOK("meet: mark surely");
    while ((duties & PUBSUB_FENCES) &&
           !__atomic_compare_exchange_n(
               &record->duties, &duties, duties | PUBSUB_FENCES_SURELY | PUBSUB_IS_RELIED_ON, false, __ATOMIC_SEQ_CST,
               __ATOMIC_SEQ_CST)) {
    }
}

/// Runs a barrier on every other thread that posts without a fence, and asks these threads to use fences from then on.
static bool ask_for_fences(void) {
    // The lock prevents that this reclaimer relies on the request of another one before that one's barrier has run.
    PUBSUB_HOOK_LOCK(PUBSUB_LOCKS, &asking);
    pthread_mutex_lock(&asking);
    pubsub_record *first = __atomic_load_n(&records, __ATOMIC_SEQ_CST);
    for (pubsub_record *record = first; record; record = record->next)
        if (is_unfenced(record)) __atomic_fetch_or(&record->duties, PUBSUB_FENCES, __ATOMIC_SEQ_CST);
    PUBSUB_HOOK("meet: pass the barrier");
    bool has_passed = pubsub_barrier();
    if (has_passed) {
        for (pubsub_record *record = first; record; record = record->next) mark_surely(record);
    }
    pthread_mutex_unlock(&asking);
    PUBSUB_HOOK_LOCK(PUBSUB_HAS_UNLOCKED, &asking);
    return has_passed;
}

/// Ensures that for a swapped root either this thread sees the protection, or the protecting thread sees the new root.
static bool meet_posters(void) {
    for (pubsub_record *record = __atomic_load_n(&records, __ATOMIC_SEQ_CST); record; record = record->next)
        if (PUBSUB_UNLIKELY(is_unfenced(record))) return ask_for_fences();
    return true;
}

static long first_of(const void *const *roots, long count, const void *protected) {
    for (long index = 0; index < count; index++)
        if (roots[index] == protected) return index;
    return count;
}

/// Returns the index of the first of these roots that a thread protects; `count` if it protects none.
static long first_protected_by(pubsub_record *record, const void *const *roots, long count) {
    long first = count;
    PUBSUB_HOOK("scan: a record");
    for (long index = 0; index < PUBSUB_SHALLOW; index++) {
        const void *protected = __atomic_load_n(&record->shallow[index], __ATOMIC_SEQ_CST);
        // The outermost post ends last, so the thread has no post under way.
        if (protected == NULL && index == 0) break;
        if (protected != NULL) first = first_of(roots, first, protected);
        // Stop here: reading further would take more cache lines from the poster than necessary.
        if (first == 0) return 0;
    }
    long deepest = __atomic_load_n(&record->deepest, __ATOMIC_SEQ_CST);
    const void **deep = deepest > 0 ? __atomic_load_n(&record->deep, __ATOMIC_ACQUIRE) : NULL;
    for (long index = 0; index < deepest; index++) {
        const void *protected = __atomic_load_n(&deep[index], __ATOMIC_SEQ_CST);
        if (protected != NULL) first = first_of(roots, first, protected);
    }
    return first;
}

long pubsub_first_protected(const void *const *roots, long count) {
    // Without the barrier the slots are not reliable, so treat the first root as protected.
    if (PUBSUB_UNLIKELY(!meet_posters())) return 0;
    long first = count;
    for (pubsub_record *record = __atomic_load_n(&records, __ATOMIC_SEQ_CST); record; record = record->next)
        first = first_protected_by(record, roots, first);
    return first;
}

// MARK: Topics

pubsub_topic *pubsub_make_topic(long limit) {
    pubsub_topic *topic = aligned(sizeof *topic);
    topic->limit = limit;
    return topic;
}

pubsub_table *pubsub_make_table(size_t bits) {
    size_t size = ((size_t)1 << bits) * sizeof(pubsub_entry);
    pubsub_table *table = aligned(sizeof *table + size);
    table->mask = size - sizeof(pubsub_entry);
    return table;
}

pubsub_topic *pubsub_find(const void *const *root, const void *key) {
    const pubsub_table *table = (const pubsub_table *)__atomic_load_n(root, __ATOMIC_ACQUIRE);
    for (size_t place = pubsub_first_place(table, key);; place = pubsub_next_place(table, place)) {
        const pubsub_entry *entry = pubsub_entry_at(table, place);
        const void *found = __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE);
        if (found == key) return entry->topic;
        if (found == NULL) return NULL;
    }
}

void pubsub_insert(pubsub_table *table, const void *key, pubsub_topic *topic) {
    size_t place = pubsub_first_place(table, key);
    while (pubsub_entry_at(table, place)->key != NULL) place = pubsub_next_place(table, place);
    pubsub_entry *entry = pubsub_entry_at(table, place);
    entry->topic = topic;
    __atomic_store_n(&entry->key, key, __ATOMIC_RELEASE);
}

void pubsub_free(const void *memory) { free((void *)memory); }

// MARK: Posting

/// Reports the error of a handler of the innermost post on this thread, whose root is a single buffer.
__attribute__((noinline)) static void report_in_buffer(const pubsub_handler *handler, const void *event, void *error) {
    pubsub_record *record = pubsub_own_record;
    const pubsub_buffer *buffer = (const pubsub_buffer *)*slot_at(record, pubsub_depth(record) - 1);
    helpers.report(pubsub_places(buffer) + (handler - buffer->handlers), innermost_topic(), event, error);
}

/// Calls a handler; calls one with an owner without a function in between.
PUBSUB_INLINE void *call_handler(const pubsub_handler *handler, const void *function, const void *event) {
    if (function == (const void *)&call_with_owner) return call_owned(event, handler->context);
    return pubsub_call(function, handler->context, event);
}

/// Calls `rest` handlers, in order. Without owners none is compared: that would cost a plain handler a tenth of its call.
PUBSUB_INLINE void call_in_order(const pubsub_handler *handler, long rest, const void *event, bool has_owners) {
    if (rest == 0) return;
    PUBSUB_ALIGNED_LOOP do {
        const void *function = pubsub_function_of(handler);
        PUBSUB_HOOK("deliver: call a handler");
        void *error = has_owners ? call_handler(handler, function, event) : pubsub_call(function, handler->context, event);
        if (PUBSUB_UNLIKELY(error != NULL)) report_in_buffer(handler, event, error);
        handler++;
    } while (--rest != 0);
}

void pubsub_call_span(
    const pubsub_handler *handler, const pubsub_place *place, long count, long step, const void *event) {
    PUBSUB_ALIGNED_LOOP for (; count > 0; count--, handler += step, place += step) {
        const void *function = pubsub_function_of(handler);
        PUBSUB_HOOK("deliver: call a handler");
        void *error = call_handler(handler, function, event);
        if (PUBSUB_UNLIKELY(error != NULL)) helpers.report(place, innermost_topic(), event, error);
    }
}

bool pubsub_call_synchronous(
    const pubsub_handler *handler, const pubsub_place *place, long count, long step, const void *event) {
    pubsub_record *record = pubsub_own_record;
    long depth = record->inner;
    bool is_received = false;
    for (; count > 0; count--, handler += step, place += step) {
        if ((place->word & PUBSUB_ASYNCHRONOUS) || pubsub_function_of(handler) == pubsub_cancelled()) continue;
        record->unheard = -1;
        pubsub_call_span(handler, place, 1, step, event);
        is_received |= record->unheard != depth;
    }
    return is_received;
}

/// Calls the handlers in the buffer, in order; handlers that are appended during the calls are not called.
PUBSUB_INLINE void deliver(const pubsub_buffer *buffer, const void *event) {
    PUBSUB_HOOK("deliver: look how many stand");
    long end = pubsub_load_end(buffer);
    if (pubsub_has_owners(buffer)) {
        call_in_order(buffer->handlers, end, event, true);
    } else {
        call_in_order(buffer->handlers, end, event, false);
    }
}

__attribute__((noinline)) void pubsub_settle(pubsub_topic *topic, const void *root) {
    PUBSUB_HOOK("settle: look what is left to do");
    long flags = pubsub_flags(topic);
    bool frees = (flags & PUBSUB_RECLAIM) != 0 && ((flags & PUBSUB_URGENT) != 0 || root != pubsub_root(topic));
    pubsub_record *record = pubsub_record_of_thread();
    if (frees || has_to_report(record)) helpers.housekeep(topic);
}

__attribute__((noinline)) void pubsub_post(const void *event, pubsub_topic *topic, const void *subject) {
    pubsub_record *record = pubsub_record_of_thread();
    long depth = pubsub_depth(record);
    if ((pubsub_flags(topic) & (PUBSUB_GENERAL | PUBSUB_RECEIVERS)) == 0 && depth < PUBSUB_SHALLOW &&
        depth < topic->limit) {
        PUBSUB_HOOK("post: enter");
        const void *root = pubsub_enter(record, depth, (pubsub_frame){topic, subject});
        bool is_directory = pubsub_is_directory(root);
        if (root != NULL && !is_directory) deliver((const pubsub_buffer *)root, event);
        pubsub_leave(record, depth);
        if (!is_directory) return pubsub_settle(topic, root);
    }
    helpers.post(event, topic, subject);
}

__attribute__((swiftcall)) void pubsub_post_event(
    const void *event, pubsub_topic *topic, const void *subject, const void *root, const void *type);
/// The fast path: an outermost post to handlers in one buffer. The root in its slot is the only store that other
/// threads read.
///
/// The caller has checked that the topic's flags do not ask for the general path; garbage may wait to be freed. The
/// function keeps few values in registers while handlers run, so that it saves few registers. It is aligned to a cache
/// line, because the speed of its loop of indirect calls depends on its address.
__attribute__((swiftcall, aligned(64))) void pubsub_post_event(
    const void *event, pubsub_topic *topic, const void *subject, const void *root, const void *type) {
    (void)type;
    pubsub_record *record = pubsub_own_record;
    if (PUBSUB_UNLIKELY(record == NULL) || PUBSUB_UNLIKELY(record->shallow[0] != NULL) ||
        PUBSUB_UNLIKELY(pubsub_is_directory(root)))
        return pubsub_post(event, topic, subject);
    const void **slot = &record->shallow[0];
    if (PUBSUB_UNLIKELY(!protects_unfenced(record, slot, root, topic))) {
        root = protect_fenced(slot, root, topic);
        // Take the longer path to check, now and then, whether this thread still needs fences. On systems without a
        // barrier take it always, because that path uses a fence when it leaves.
        if (root == NULL || pubsub_is_directory(root) || !has_barrier || ++record->fenced >= patience) {
            __atomic_store_n(slot, NULL, __ATOMIC_RELEASE);
            return pubsub_post(event, topic, subject);
        }
    }
    record->frames[0] = (pubsub_frame){topic, subject};
    deliver((const pubsub_buffer *)root, event);
    topic = (pubsub_topic *)record->frames[0].topic;
    root = *slot;
    PUBSUB_HOOK("leave, the shortest way");
    __atomic_store_n(slot, NULL, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    PUBSUB_HOOK("leave, the shortest way: look what is left to do");
    long duties = __atomic_load_n(&record->duties, __ATOMIC_RELAXED) | pubsub_flags(topic);
    if (PUBSUB_UNLIKELY(duties & (PUBSUB_REFUSED | PUBSUB_RECLAIM)) &&
        ((duties & (PUBSUB_REFUSED | PUBSUB_URGENT)) != 0 || root != pubsub_root(topic)))
        pubsub_settle(topic, root);
}
