// The parts of the bus that Swift cannot express: a thread-local record without a look-up, and the call of a closure by
// its two words, without counting a reference. Everything on the path of a post is inline. Docs/Architecture.md, "The
// bus", describes the whole.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "PubSubHooks.h"

#define PUBSUB_INLINE static inline __attribute__((always_inline))
#define PUBSUB_LIKELY(x) __builtin_expect(!!(x), 1)
#define PUBSUB_UNLIKELY(x) __builtin_expect(!!(x), 0)

#pragma clang assume_nonnull begin

// MARK: Handlers

/// A closure that takes one value of a generic type by address and may throw: its function and its context.
typedef struct pubsub_handler {
    const void *function;
    void *_Nullable context;
} pubsub_handler;

// The direct build (Calling/Direct.swift) calls the functions of Swift closures. The portable build calls only C
// functions, so caller and callee agree on the calling convention, whatever the compiler does.

/// The calling convention of such a closure. A closure that does not throw does not touch the error.
typedef __attribute__((swiftcall)) void (*pubsub_function)(
    const void *event, __attribute__((swift_context)) void *_Nullable context,
    __attribute__((swift_error_result)) void *_Nullable *_Nonnull error);

/// Calls a handler; returns the error that it threw, which the caller must release, or NULL.
PUBSUB_INLINE void *_Nullable pubsub_call(const void *function, void *_Nullable context, const void *event) {
    void *error = NULL;
    ((pubsub_function)function)(event, context, &error);
    return error;
}

/// Does nothing. It replaces the function of a cancelled handler, so that a delivery needs no check for cancellation.
__attribute__((swiftcall)) void pubsub_cancelled_function(
    const void *event, __attribute__((swift_context)) void *_Nullable context);

PUBSUB_INLINE const void *pubsub_cancelled(void) { return (const void *)&pubsub_cancelled_function; }

/// The function of a handler whose context is a box: calls pubsub_helpers.call_box, for closures that C cannot call.
const void *pubsub_boxed(void);
/// The function of a handler whose context is a receiver: does nothing. A post serves the receivers before it calls handlers.
const void *pubsub_receiving(void);
/// The function of a handler with an owner: calls the closure with the owner, unless the owner has been released. The
/// context is an object whose first stored property is a pubsub_owned.
const void *pubsub_owned_call(void);

/// The first stored property of a registration (OwnedCall) in the direct build.
typedef struct pubsub_owned {
    /// The owner, which may have been released; an unowned reference keeps its memory allocated.
    void *_Nullable owner;
    /// The function of the closure, which takes the owner, the event, and the context.
    const void *_Nullable function;
    void *_Nullable context;
} pubsub_owned;

// The Swift runtime exports these functions with this calling convention (swift/Runtime/HeapObject.h). While an unowned
// reference keeps the memory of an object, any thread may call swift_tryRetain on it, which returns NULL if the object
// has been released.
void *_Nullable swift_tryRetain(void *_Nullable object);
void swift_release(void *_Nullable object);
void *_Nullable swift_unownedRetain(void *_Nullable object);
void swift_unownedRelease(void *_Nullable object);

// MARK: Buffers

/// The identity of a handler. `word` is the subscription's identifier, shifted left by 16, with the flags
/// PUBSUB_ASYNCHRONOUS and PUBSUB_REGISTERED. `info` is a site or a registration. See HandlerBuffer.swift.
typedef struct pubsub_place {
    uint64_t word;
    const void *_Nullable info;
} pubsub_place;

/// The handler's context is a receiver, which holds events: a mailbox, or the buffer of a sequence.
#define PUBSUB_ASYNCHRONOUS 1
/// `info` is a registration, which the place retains.
#define PUBSUB_REGISTERED 2

/// The handlers of one priority, in order of subscription. After the handlers, the block holds a pubsub_place for each;
/// their identifiers rise.
typedef struct pubsub_buffer {
    /// The number of places that a post reads. A writer stores it with release once a new handler is complete; posts
    /// load it with acquire.
    long end;
    /// For writers: the number of places that have been given to handlers, which a post under way may still read.
    /// Places from `end` on hold only cancelled handlers.
    int32_t used;
    int32_t capacity;
    long priority;
    /// Whether a handler with an owner has ever been here. A writer sets it before it stores the end.
    long has_owners;
    pubsub_handler handlers[];
} pubsub_buffer;

PUBSUB_INLINE const pubsub_place *pubsub_places(const pubsub_buffer *buffer) {
    return (const pubsub_place *)(buffer->handlers + buffer->capacity);
}

PUBSUB_INLINE long pubsub_load_end(const pubsub_buffer *buffer) {
    return __atomic_load_n(&buffer->end, __ATOMIC_ACQUIRE);
}
PUBSUB_INLINE void pubsub_store_end(pubsub_buffer *buffer, long end) {
    __atomic_store_n(&buffer->end, end, __ATOMIC_RELEASE);
}
PUBSUB_INLINE bool pubsub_has_owners(const pubsub_buffer *buffer) {
    return __atomic_load_n(&buffer->has_owners, __ATOMIC_RELAXED) != 0;
}
PUBSUB_INLINE void pubsub_note_owners(pubsub_buffer *buffer) {
    __atomic_store_n(&buffer->has_owners, 1, __ATOMIC_RELAXED);
}
PUBSUB_INLINE int32_t *pubsub_used_place(pubsub_buffer *buffer) { return &buffer->used; }
PUBSUB_INLINE void pubsub_set_bits(long *place, long bits) { __atomic_fetch_or(place, bits, __ATOMIC_SEQ_CST); }
PUBSUB_INLINE void pubsub_clear_bits(long *place, long bits) { __atomic_fetch_and(place, ~bits, __ATOMIC_SEQ_CST); }

PUBSUB_INLINE const void *_Nullable pubsub_load_pointer(const void *_Nullable const *_Nonnull place) {
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}
PUBSUB_INLINE void pubsub_store_pointer(const void *_Nullable *_Nonnull place, const void *_Nullable value) {
    __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
}

/// Loads a handler's function. If another thread cancels the handler at the same time, either result is correct.
PUBSUB_INLINE const void *pubsub_function_of(const pubsub_handler *handler) {
    return __atomic_load_n(&handler->function, __ATOMIC_RELAXED);
}
PUBSUB_INLINE void pubsub_cancel_handler(pubsub_handler *handler) {
    __atomic_store_n(&handler->function, pubsub_cancelled(), __ATOMIC_SEQ_CST);
}

/// Prefetches memory for a write.
PUBSUB_INLINE void pubsub_prefetch(const void *_Nullable memory) { __builtin_prefetch(memory, 1); }

// MARK: Threads

/// The number of nested posts for which a record has room from the beginning.
#define PUBSUB_SHALLOW 12
/// The largest nesting limit; deeper posts are refused, whatever limit a bus has.
#define PUBSUB_DEEPEST 1024

/// The topic and the subject of a post under way.
typedef struct pubsub_frame {
    const void *_Nullable topic;
    const void *_Nullable subject;
} pubsub_frame;

/// A thread's own record: the roots that its posts under way read, outermost first (hazard pointers; Michael, 2004).
///
/// A poster stores the root that it is about to read in its record, and then checks that it still is the topic's root.
/// A reclaimer swaps the topic's root, and then checks whether a poster has stored the former one. At least one of them
/// must see the other's store. For that, each needs a fence between its store and its check.
///
/// Reclaiming is rare and posting is not, so the reclaimer runs the barrier for both. It marks the records of the other
/// threads (PUBSUB_FENCES), and makes the system run a barrier on every processor (membarrier). A poster that finds the
/// mark *after* it has stored its root uses a fence in every post from then on, so the next reclaimer needs no barrier.
/// After some time without reclaimers the poster removes the mark. On systems without membarrier, every record is
/// marked from the beginning.
///
/// Later threads reuse the records, and the process never frees one, so any thread can walk the list without a lock.
/// Each record has cache lines of its own.
typedef struct pubsub_record {
    /// PUBSUB_FENCES, PUBSUB_FENCES_SURELY and PUBSUB_IS_RELIED_ON, which reclaimers set and the owner clears; and
    /// PUBSUB_REFUSED, which only the owner sets and clears.
    long duties;
    long in_use;
    struct pubsub_record *_Nullable next;
    /// The protected roots of the posts under way, outermost first. The first slot is NULL exactly while the thread has
    /// no post under way.
    const void *_Nullable shallow[PUBSUB_SHALLOW];
    /// The topics and the subjects of these posts. Only the owner accesses them and the next four members.
    pubsub_frame frames[PUBSUB_SHALLOW];
    /// The number of posts under way inside the outermost one.
    long inner;
    /// The refused post that must be reported after the outermost post, or that is being reported now. While it is set,
    /// no other is noted.
    void *_Nullable refusal;
    /// The depth of the post whose latest handler was skipped because its owner had been released; -1 if it was not
    /// skipped.
    long unheard;
    /// The number of posts with a fence since the owner last reconsidered its marks.
    long fenced;
    /// The roots of deeper posts, allocated at the first one; reclaimers read them, too.
    const void *_Nullable *_Nullable deep;
    pubsub_frame *_Nullable deep_frames;
    /// The largest number of slots in `deep` that this record has ever used.
    long deepest;
} pubsub_record;

/// A reclaimer has asked the owner to use a fence between its store and its check.
#define PUBSUB_FENCES 32
/// The owner uses a fence in every post that a reclaimer may have to see: a barrier has run since the owner was asked
/// to.
#define PUBSUB_FENCES_SURELY 64
/// A reclaimer has relied on the owner's fences, and run no barrier, since the owner last reconsidered its marks.
#define PUBSUB_IS_RELIED_ON 128
/// A refusal must be reported. The duties and the flags of a topic use different bits, because a post tests both at
/// once when it ends.
#define PUBSUB_REFUSED 8

extern _Thread_local pubsub_record *_Nullable pubsub_own_record __attribute__((tls_model("initial-exec")));

/// Gives this thread a record until the thread ends.
pubsub_record *pubsub_make_record(void);

PUBSUB_INLINE pubsub_record *pubsub_record_of_thread(void) {
    pubsub_record *record = pubsub_own_record;
    return PUBSUB_LIKELY(record != NULL) ? record : pubsub_make_record();
}

/// The number of posts under way on the record's thread.
PUBSUB_INLINE long pubsub_depth(const pubsub_record *record) { return record->shallow[0] == NULL ? 0 : record->inner + 1; }
/// The topic and the subject of the post at a depth.
pubsub_frame pubsub_frame_at(const pubsub_record *record, long depth);
/// Notes the refusal that is reported after the outermost post.
void pubsub_note_refusal(pubsub_record *record, void *refusal);
/// Begins the report of the noted refusal, and returns it; NULL if there is none or a post is under way. The refusal
/// stays noted until the report ends, so a post that is refused during the report does not cause another report.
void *_Nullable pubsub_begin_report(pubsub_record *record);
void pubsub_end_report(pubsub_record *record);

/// Runs a full memory barrier on all threads of the process: this thread sees their earlier stores, and they see its
/// stores. Returns false on systems without such a call.
///
/// A waiter needs it because a leaving post clears its slot with a plain store. That store may not be visible yet when
/// the post has already checked for waiters and found none.
bool pubsub_barrier(void);

/// The index of the first of these roots that a thread protects; `count` if no thread protects one.
long pubsub_first_protected(const void *_Nullable const *_Nonnull roots, long count);

// MARK: Topics

/// The part of a store that a post reads first, on cache lines of its own.
typedef struct pubsub_topic {
    /// The address of a buffer, or of a directory with the lowest bit set; NULL if there are no subscribers.
    const void *_Nullable root;
    /// PUBSUB_GENERAL, PUBSUB_RECEIVERS, PUBSUB_RECLAIM, PUBSUB_URGENT.
    long flags;
    /// The nesting limit of posts.
    long limit;
    /// The store (HandlerStore) of the topic; set once, before another thread can find the topic.
    const void *_Nullable owner;
} pubsub_topic;
// A topic handle (Topic.swift) reads the first two words in code that is inlined into other modules.
_Static_assert(
    offsetof(pubsub_topic, root) == 0 && offsetof(pubsub_topic, flags) == sizeof(void *) &&
        sizeof(long) == sizeof(void *),
    "root and flags are the first two words");

/// Posts to the topic take the general path, because its events have traits, or because there are observers.
#define PUBSUB_GENERAL 1
/// Garbage waits to be freed: a post that leaves a replaced root tries to free some.
#define PUBSUB_RECLAIM 2
/// Garbage waits for readers of the present root only, or a drain waits: every leaving post tries to free some.
#define PUBSUB_URGENT 4
/// The topic has receivers, so posts take the general path.
#define PUBSUB_RECEIVERS 16

PUBSUB_INLINE long pubsub_flags(const pubsub_topic *topic) { return __atomic_load_n(&topic->flags, __ATOMIC_RELAXED); }
PUBSUB_INLINE const void *_Nullable pubsub_root(const pubsub_topic *topic) {
    return __atomic_load_n(&topic->root, __ATOMIC_ACQUIRE);
}
PUBSUB_INLINE bool pubsub_is_directory(const void *_Nullable root) { return ((uintptr_t)root & 1) != 0; }

// MARK: Posting

/// Begins a post at a depth less than PUBSUB_DEEPEST, and returns the topic's root; what it points to is not freed
/// before pubsub_leave.
const void *_Nullable pubsub_enter(pubsub_record *record, long depth, pubsub_frame frame);
/// Begins a post at a depth without protecting a root, so that posts inside it count as nested.
void pubsub_enter_unread(pubsub_record *record, long depth, pubsub_frame frame);
/// Ends a post that began with either function.
void pubsub_leave(pubsub_record *record, long depth);
/// Does what remains after a post has left a root: reports a refusal, and frees garbage, if there is any.
void pubsub_settle(pubsub_topic *topic, const void *_Nullable root);

/// Posts an event at an address, through any path.
void pubsub_post(const void *event, pubsub_topic *topic, const void *_Nullable subject);

/// Calls `count` synchronous handlers, beginning at `handler`, in steps of 1 or -1.
///
/// The post must be the innermost one on this thread.
void pubsub_call_span(
    const pubsub_handler *handler, const pubsub_place *place, long count, long step, const void *event);
/// Calls the synchronous handlers among `count` handlers; returns whether one received the event. A handler whose owner
/// has been released does not count.
bool pubsub_call_synchronous(
    const pubsub_handler *handler, const pubsub_place *place, long count, long step, const void *event);

/// The Swift functions that C calls. They are set once and never change.
typedef struct pubsub_helpers {
    /// Posts through the general path.
    void (*post)(const void *event, pubsub_topic *topic, const void *_Nullable subject);
    /// Reports a refusal, and frees garbage, after a post.
    void (*housekeep)(pubsub_topic *topic);
    /// Reports the error of a handler, and releases the error.
    void (*report)(const pubsub_place *place, const pubsub_topic *topic, const void *event, void *error);
    /// Calls a box; returns the error that it threw, or NULL.
    void *_Nullable (*_Nonnull call_box)(void *box, const void *event);
    /// Ends the subscription of a registration whose owner has been released.
    void (*owner_is_gone)(void *registration);
} pubsub_helpers;
void pubsub_set_helpers(const pubsub_helpers *helpers);

// Swift declares one function itself, as a generic function (see Calling/Direct.swift): a generic function passes the
// event by address, so the event is in memory without a copy. pubsub_post_event(event, topic, subject, the topic's
// root, type of the event)

// MARK: Topics by type

/// The type (key) and its topic. The key is written last, so a reader that finds the key finds the topic.
typedef struct pubsub_entry {
    const void *_Nullable key;
    pubsub_topic *_Nullable topic;
} pubsub_entry;

/// An open-addressing hash table. Entries are never removed, and a larger table that replaces it has every entry, so
/// readers need no protection.
typedef struct pubsub_table {
    /// The distance of the last entry from the first, in bytes. The number of entries is a power of two, so this value
    /// serves as a mask.
    size_t mask;
    pubsub_entry entries[];
} pubsub_table;

/// The first place that a search for a key probes, in bytes from the first entry.
PUBSUB_INLINE size_t pubsub_first_place(const pubsub_table *table, const void *key) {
    return (size_t)((uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u >> 32) & table->mask;
}
PUBSUB_INLINE size_t pubsub_next_place(const pubsub_table *table, size_t place) {
    return (place + sizeof(pubsub_entry)) & table->mask;
}
PUBSUB_INLINE pubsub_entry *pubsub_entry_at(const pubsub_table *table, size_t place) {
    return (pubsub_entry *)((char *)table->entries + place);
}

/// The topic of a key, if it is in the first place that the search probes, as nearly always; else NULL.
PUBSUB_INLINE pubsub_topic *_Nullable pubsub_find_at_once(const void *_Nullable const *_Nonnull root, const void *key) {
    const pubsub_table *table = (const pubsub_table *)__atomic_load_n(root, __ATOMIC_ACQUIRE);
    const pubsub_entry *entry = pubsub_entry_at(table, pubsub_first_place(table, key));
    return PUBSUB_LIKELY(__atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) == key) ? entry->topic : NULL;
}
/// The topic of a key, in any place; NULL if the table has no such key.
pubsub_topic *_Nullable pubsub_find(const void *_Nullable const *_Nonnull root, const void *key);

/// The number of entries of a table, including free ones.
PUBSUB_INLINE size_t pubsub_table_capacity(const pubsub_table *table) { return table->mask / sizeof(pubsub_entry) + 1; }
/// Makes a table with 2^bits entries.
pubsub_table *pubsub_make_table(size_t bits);
/// Adds an entry; the table must have room, and no entry with the key.
void pubsub_insert(pubsub_table *table, const void *key, pubsub_topic *topic);

pubsub_topic *pubsub_make_topic(long limit);

void pubsub_free(const void *_Nullable memory);

#pragma clang assume_nonnull end
