// What Swift cannot say: a thread's own record without a look-up, and the call of a closure as the two words that it is,
// without counting a reference. Everything on the path of a post is inline; Docs/Architecture.md, The bus, tells the whole.
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

// Where the direct build is on (Calling/Direct.swift), the functions of Swift closures are called as they are. Elsewhere only
// functions of C are, which follow the same convention, whatever that is.

/// The calling convention of such a closure. A closure that does not throw leaves the error alone.
typedef __attribute__((swiftcall)) void (*pubsub_function)(
    const void *event, __attribute__((swift_context)) void *_Nullable context,
    __attribute__((swift_error_result)) void *_Nullable *_Nonnull error);

/// Calls a handler; returns the error that it threw, which is the caller's to release.
PUBSUB_INLINE void *_Nullable pubsub_call(const void *function, void *_Nullable context, const void *event) {
    void *error = NULL;
    ((pubsub_function)function)(event, context, &error);
    return error;
}

/// Does nothing: stands where a handler was cancelled, so that no delivery has to ask whether it still stands.
__attribute__((swiftcall)) void pubsub_cancelled_function(
    const void *event, __attribute__((swift_context)) void *_Nullable context);

PUBSUB_INLINE const void *pubsub_cancelled(void) { return (const void *)&pubsub_cancelled_function; }

/// Calls the box that is the context of such a handler, by pubsub_helpers.call_box: for closures that C cannot call.
const void *pubsub_boxed(void);
/// Does nothing, and tells from every other handler one whose context is a receiver: a post gives it the event before it calls
/// handlers.
const void *pubsub_receiving(void);
/// Calls a handler with its owner, if that is still there; the context is an object that begins with a pubsub_owned.
const void *pubsub_owned_call(void);

/// What the first stored properties of a handler's registration are where the direct build is on.
typedef struct pubsub_owned {
    /// Its memory stays, as an unowned reference is counted; it may be gone.
    void *_Nullable owner;
    /// Takes the owner, the event, and the context.
    const void *_Nullable function;
    void *_Nullable context;
} pubsub_owned;

// Exported by the Swift runtime, with this convention (swift/Runtime/HeapObject.h). An object whose memory an unowned reference
// keeps can be asked, by any thread, whether it is still there.
void *_Nullable swift_tryRetain(void *_Nullable object);
void swift_release(void *_Nullable object);
void *_Nullable swift_unownedRetain(void *_Nullable object);
void swift_unownedRelease(void *_Nullable object);

// MARK: Buffers

/// Whose a handler is: the subscription's identifier, shifted by 16, with PUBSUB_ASYNCHRONOUS and PUBSUB_REGISTERED; and a site, or
/// a registration. See HandlerBuffer.swift.
typedef struct pubsub_place {
    uint64_t word;
    const void *_Nullable info;
} pubsub_place;

/// The handler's context is a receiver, which holds events: a mailbox, or the buffer of a sequence.
#define PUBSUB_ASYNCHRONOUS 1
/// The information is a registration, which the place keeps.
#define PUBSUB_REGISTERED 2

/// Handlers of one priority, in the order in which they subscribed. Behind the handlers stands, for each, whose it is;
/// identifiers rise.
typedef struct pubsub_buffer {
    /// How many places a post looks at. Written with release once a new handler is complete, read with acquire.
    long end;
    /// For writers: how many places have been given to a handler that a post under way may look at. Behind the end are none but
    /// cancelled ones.
    int32_t used;
    int32_t capacity;
    long priority;
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
PUBSUB_INLINE int32_t *pubsub_used_place(pubsub_buffer *buffer) { return &buffer->used; }
PUBSUB_INLINE void pubsub_set_bits(long *place, long bits) { __atomic_fetch_or(place, bits, __ATOMIC_SEQ_CST); }
PUBSUB_INLINE void pubsub_clear_bits(long *place, long bits) { __atomic_fetch_and(place, ~bits, __ATOMIC_SEQ_CST); }

PUBSUB_INLINE const void *_Nullable pubsub_load_pointer(const void *_Nullable const *_Nonnull place) {
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}
PUBSUB_INLINE void pubsub_store_pointer(const void *_Nullable *_Nonnull place, const void *_Nullable value) {
    __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
}

/// A handler's function; another thread may cancel it at any time, and then either is right.
PUBSUB_INLINE const void *pubsub_function_of(const pubsub_handler *handler) {
    return __atomic_load_n(&handler->function, __ATOMIC_RELAXED);
}
PUBSUB_INLINE void pubsub_cancel_handler(pubsub_handler *handler) {
    __atomic_store_n(&handler->function, pubsub_cancelled(), __ATOMIC_SEQ_CST);
}

/// Has the memory fetched that will be written to.
PUBSUB_INLINE void pubsub_prefetch(const void *_Nullable memory) { __builtin_prefetch(memory, 1); }

// MARK: Threads

/// So many nested posts have room in a record from the beginning.
#define PUBSUB_SHALLOW 12
/// Posts nested deeper than this are refused, whatever a bus allows.
#define PUBSUB_DEEPEST 1024

/// What is known of a post under way.
typedef struct pubsub_frame {
    const void *_Nullable topic;
    const void *_Nullable subject;
} pubsub_frame;

/// A thread's own record: what its posts under way read, outermost first (hazard pointers; Michael, 2004).
///
/// A poster stores the root that it is about to read, and looks once more whether it still is the root; a reclaimer swaps the
/// root, and looks whether any poster has stored it. One of them has to see the other, for which each needs a fence between its
/// store and its look. Reclaiming is rare and posting is not, so the reclaimer passes the barrier for both: it marks the
/// records of the others, and makes the system run a barrier on every processor (membarrier). A poster that finds the mark
/// *after* having stored its root fences for itself from then on, so that the next reclaimer needs no barrier; in time it takes the
/// mark off again. Where the system has no such barrier, every record is marked from the beginning.
///
/// Records are reused by later threads and never freed while the process lives, so that they can be walked without a lock.
/// Allocated on cache lines of its own.
typedef struct pubsub_record {
    /// PUBSUB_FENCES, PUBSUB_FENCES_SURELY, PUBSUB_IS_RELIED_ON; set by reclaimers, taken off by the owner.
    /// PUBSUB_REFUSED; the owner's alone.
    long duties;
    long in_use;
    struct pubsub_record *_Nullable next;
    /// The first is NULL while the thread posts nothing, and then so are all others.
    const void *_Nullable shallow[PUBSUB_SHALLOW];
    /// The topics and the subjects of those posts; the owner's alone, as is all that follows.
    pubsub_frame frames[PUBSUB_SHALLOW];
    /// How many posts are under way inside the outermost one.
    long inner;
    /// A post was refused, and the outermost post has to say so, or is saying so now: until then no other is noted.
    void *_Nullable refusal;
    /// How deep the post is whose handler was called last and found its owner gone; -1 if it did not. The owner's alone.
    long unheard;
    /// How many posts have fenced for themselves since the record was last looked at.
    long fenced;
    /// Room for deeper posts, made when it is first needed; reclaimers look there, too.
    const void *_Nullable *_Nullable deep;
    pubsub_frame *_Nullable deep_frames;
    /// How deep this record has ever been, beyond the shallow ones.
    long deepest;
} pubsub_record;

/// The owner fences between its store and its look.
#define PUBSUB_FENCES 32
/// It does so in every post whose beginning a reclaimer may still have to see: a barrier has been passed since it was asked to.
#define PUBSUB_FENCES_SURELY 64
/// A reclaimer has gone without a barrier since the owner last looked.
#define PUBSUB_IS_RELIED_ON 128
/// A refusal is to be reported. No duty has the bit of a topic's flag: after a post both are looked at in one.
#define PUBSUB_REFUSED 8

extern _Thread_local pubsub_record *_Nullable pubsub_own_record __attribute__((tls_model("initial-exec")));

/// Gives this thread a record, until it ends.
pubsub_record *pubsub_make_record(void);

PUBSUB_INLINE pubsub_record *pubsub_record_of_thread(void) {
    pubsub_record *record = pubsub_own_record;
    return PUBSUB_LIKELY(record != NULL) ? record : pubsub_make_record();
}

/// How many posts are under way on the record's thread.
PUBSUB_INLINE long pubsub_depth(const pubsub_record *record) { return record->shallow[0] == NULL ? 0 : record->inner + 1; }
/// The topic and the subject of the post that is so deep.
pubsub_frame pubsub_frame_at(const pubsub_record *record, long depth);
/// Keeps what the outermost post has to report.
void pubsub_note_refusal(pubsub_record *record, void *refusal);
/// What is to be reported now, as no post is under way; it stays noted until the report ends, so that posts which are refused
/// meanwhile beget no other.
void *_Nullable pubsub_begin_report(pubsub_record *record);
void pubsub_end_report(pubsub_record *record);

/// Makes what other threads have stored visible here, and what was stored here visible to them, as if each had passed a
/// barrier; false where the system has no such call.
///
/// Leaving is a plain store, which may still be on its way while the leaving post has looked, in vain, for a waiter.
bool pubsub_barrier(void);

/// The index of the first of these roots that any thread protects; `count` if none does.
long pubsub_first_protected(const void *_Nullable const *_Nonnull roots, long count);

// MARK: Topics

/// What a post looks at first, on lines of its own.
typedef struct pubsub_topic {
    /// A buffer; a directory, with the lowest bit set; NULL without subscribers.
    const void *_Nullable root;
    /// PUBSUB_GENERAL, PUBSUB_RECEIVERS, PUBSUB_RECLAIM, PUBSUB_URGENT.
    long flags;
    /// How deep posts may be nested.
    long limit;
    /// The object to which all this belongs; set once, before another thread can find the topic.
    const void *_Nullable owner;
} pubsub_topic;
// A topic handle looks at the first two words from the caller's module.
_Static_assert(
    offsetof(pubsub_topic, root) == 0 && offsetof(pubsub_topic, flags) == sizeof(void *) &&
        sizeof(long) == sizeof(void *),
    "root and flags are the first two words");

/// A post to the topic takes the general path: its events have traits, or tracers see them.
#define PUBSUB_GENERAL 1
/// There is a backlog: a post that leaves a replaced root looks whether some of it can be freed.
#define PUBSUB_RECLAIM 2
/// Something waits for readers of the present root: every leaving post looks.
#define PUBSUB_URGENT 4
/// The topic has receivers: a post takes the general path.
#define PUBSUB_RECEIVERS 16

PUBSUB_INLINE long pubsub_flags(const pubsub_topic *topic) { return __atomic_load_n(&topic->flags, __ATOMIC_RELAXED); }
PUBSUB_INLINE const void *_Nullable pubsub_root(const pubsub_topic *topic) {
    return __atomic_load_n(&topic->root, __ATOMIC_ACQUIRE);
}
PUBSUB_INLINE bool pubsub_is_directory(const void *_Nullable root) { return ((uintptr_t)root & 1) != 0; }

// MARK: Posting

/// Begins a post so deep, which is less than PUBSUB_DEEPEST: what the topic's root points to stays until it is left.
const void *_Nullable pubsub_enter(pubsub_record *record, long depth, pubsub_frame frame);
/// Begins a post so deep that reads nothing yet: what is done inside it counts as nested.
void pubsub_enter_unread(pubsub_record *record, long depth, pubsub_frame frame);
/// Ends either.
void pubsub_leave(pubsub_record *record, long depth);
/// Sees to what is left to do when a post has left a root: a refusal to report, something to free.
void pubsub_settle(pubsub_topic *topic, const void *_Nullable root);

/// A post in all generality but for how the event is handed over.
void pubsub_post(const void *event, pubsub_topic *topic, const void *_Nullable subject);

/// Calls so many handlers that are synchronous, beginning at one and going on by 1 or by -1.
///
/// The post is the innermost one on this thread.
void pubsub_call_span(
    const pubsub_handler *handler, const pubsub_place *place, long count, long step, const void *event);
/// The same; returns whether a handler received the event: not one whose owner is gone.
bool pubsub_call_synchronous(
    const pubsub_handler *handler, const pubsub_place *place, long count, long step, const void *event);

/// What C cannot do. Always the same functions.
typedef struct pubsub_helpers {
    /// Posts the general way.
    void (*post)(const void *event, pubsub_topic *topic, const void *_Nullable subject);
    /// Does what a post has left to do.
    void (*housekeep)(pubsub_topic *topic);
    /// Reports what a handler threw, and releases it.
    void (*report)(const pubsub_place *place, const pubsub_topic *topic, const void *event, void *error);
    /// Calls a box; returns what it threw.
    void *_Nullable (*_Nonnull call_box)(void *box, const void *event);
    /// Ends the subscription of a registration whose owner is gone.
    void (*owner_is_gone)(void *registration);
} pubsub_helpers;
void pubsub_set_helpers(const pubsub_helpers *helpers);

// One function that Swift declares for itself, as a generic one (see Calling/Direct.swift): in a generic function the event is in
// memory already, and only the calling convention tells where.
//   pubsub_post_event(event, topic, subject, the topic's root, type of the event)

// MARK: Topics by type

/// A type and its topic; the key is written last.
typedef struct pubsub_entry {
    const void *_Nullable key;
    pubsub_topic *_Nullable topic;
} pubsub_entry;

/// An open-addressing table that only grows; what it is replaced by keeps every entry, so readers need no protection.
typedef struct pubsub_table {
    /// How far the last entry is from the first one, in bytes. There are a power of two of them, so it masks a place.
    size_t mask;
    pubsub_entry entries[];
} pubsub_table;

/// Where a key is looked for first, in bytes from the first entry.
PUBSUB_INLINE size_t pubsub_first_place(const pubsub_table *table, const void *key) {
    return (size_t)((uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u >> 32) & table->mask;
}
PUBSUB_INLINE size_t pubsub_next_place(const pubsub_table *table, size_t place) {
    return (place + sizeof(pubsub_entry)) & table->mask;
}
PUBSUB_INLINE pubsub_entry *pubsub_entry_at(const pubsub_table *table, size_t place) {
    return (pubsub_entry *)((char *)table->entries + place);
}

/// The topic of a key in the place where that is looked for first, which is nearly always the one.
PUBSUB_INLINE pubsub_topic *_Nullable pubsub_find_at_once(const void *_Nullable const *_Nonnull root, const void *key) {
    const pubsub_table *table = (const pubsub_table *)__atomic_load_n(root, __ATOMIC_ACQUIRE);
    const pubsub_entry *entry = pubsub_entry_at(table, pubsub_first_place(table, key));
    return PUBSUB_LIKELY(__atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) == key) ? entry->topic : NULL;
}
/// The topic of a key, wherever it is.
pubsub_topic *_Nullable pubsub_find(const void *_Nullable const *_Nonnull root, const void *key);

/// How many entries a table has, with keys or without.
PUBSUB_INLINE size_t pubsub_table_capacity(const pubsub_table *table) { return table->mask / sizeof(pubsub_entry) + 1; }
/// A table for 2^bits entries.
pubsub_table *pubsub_make_table(size_t bits);
/// Adds an entry whose key is not there; the table has room.
void pubsub_insert(pubsub_table *table, const void *key, pubsub_topic *topic);

pubsub_topic *pubsub_make_topic(long limit);

void pubsub_free(const void *_Nullable memory);

#pragma clang assume_nonnull end
