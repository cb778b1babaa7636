// The parts of the bus that Swift cannot express: a thread-local record without a look-up, the call of a closure by its two words
// without counting a reference, memory that threads read while another one changes it, and the barrier of a writer.
// Docs/Architecture.md, "The bus", describes the whole.
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

/// A function of the convention below and its context: a closure that takes one value of a generic type by address and may throw,
/// or one of the functions below with its object.
typedef struct pubsub_handler {
    const void *function;
    void *_Nullable context;
} pubsub_handler;

/// The calling convention of such a closure. A closure that does not throw does not touch the error. The portable build
/// calls only C functions, so caller and callee agree on it, whatever the compiler does.
typedef __attribute__((swiftcall)) void (*pubsub_function)(
    const void *event, __attribute__((swift_context)) void *_Nullable context,
    __attribute__((swift_error_result)) void *_Nullable *_Nonnull error);

/// Calls a handler; returns the error that it threw, which the caller must release, or NULL.
PUBSUB_INLINE void *_Nullable pubsub_call(const void *function, void *_Nullable context, const void *event) {
    void *error = NULL;
    ((pubsub_function)function)(event, context, &error);
    return error;
}

/// Does nothing. It replaces the function of a cancelled handler, so that the loop that calls handlers needs no check for it.
__attribute__((swiftcall)) void pubsub_cancelled_function(
    const void *event, __attribute__((swift_context)) void *_Nullable context);

PUBSUB_INLINE const void *pubsub_cancelled(void) { return (const void *)&pubsub_cancelled_function; }

/// The function of a handler whose context is a box: calls pubsub_helpers.call_box.
const void *pubsub_boxed(void);
/// The function of a handler whose context is a receiver: does nothing. A post serves the receivers before it calls handlers.
const void *pubsub_receiving(void);
/// The function of a handler with an owner: calls the closure with the owner, unless that has been released. The
/// context is an object that begins with a pubsub_owned.
const void *pubsub_owned_call(void);

/// The first stored properties of a registration in the direct build.
typedef struct pubsub_owned {
    /// The owner, which may have been released; an unowned reference keeps its memory allocated.
    void *_Nullable owner;
    /// The closure, whose function takes the owner, the event, and the context.
    pubsub_handler closure;
} pubsub_owned;

// From swift/Runtime/HeapObject.h. While an unowned reference keeps the memory of an object, any thread may call
// swift_tryRetain on it, which returns NULL if the object has been released.
void *_Nullable swift_tryRetain(void *_Nullable object);
void swift_release(void *_Nullable object);
void *_Nullable swift_unownedRetain(void *_Nullable object);
void swift_unownedRelease(void *_Nullable object);

// MARK: Blocks

/// The identity of a handler. `word` is the subscription's identifier, shifted left by 16, with the flags
/// PUBSUB_ASYNCHRONOUS and PUBSUB_REGISTERED. `info` is a site or a registration. See HandlerBlock.swift.
typedef struct pubsub_entry {
    uint64_t word;
    const void *_Nullable info;
    long priority;
} pubsub_entry;

/// The handler's context is a receiver, which holds events: a mailbox, or the buffer of a sequence.
#define PUBSUB_ASYNCHRONOUS 1
/// `info` is a registration. It is retained once, for all copies of the entry, until the handler is cancelled and does not run.
#define PUBSUB_REGISTERED 2

/// Handlers in the order of delivery, and after them a pubsub_entry for each.
typedef struct pubsub_block {
    /// The number of handlers that posts read; a writer raises it once a new handler is complete, and lowers it when the last
    /// ones are cancelled.
    long end;
    /// Whether a handler with an owner has ever been here. A writer sets it before it stores the end.
    long has_owners;
    /// It never changes.
    long capacity;
    /// The number of handlers, which only writers read; those from `end` on are cancelled.
    long used;
    /// Posts read those below `end`.
    pubsub_handler handlers[];
} pubsub_block;

PUBSUB_INLINE pubsub_entry *pubsub_entries(const pubsub_block *block) {
    return (pubsub_entry *)(block->handlers + block->capacity);
}
PUBSUB_INLINE size_t pubsub_block_size(long capacity) {
    return sizeof(pubsub_block) + (size_t)capacity * (sizeof(pubsub_handler) + sizeof(pubsub_entry));
}
PUBSUB_INLINE long pubsub_end(const pubsub_block *block) { return __atomic_load_n(&block->end, __ATOMIC_ACQUIRE); }
PUBSUB_INLINE void pubsub_set_end(pubsub_block *block, long end) {
    __atomic_store_n(&block->end, end, __ATOMIC_RELEASE);
}
PUBSUB_INLINE bool pubsub_has_owners(const pubsub_block *block) {
    return __atomic_load_n(&block->has_owners, __ATOMIC_RELAXED) != 0;
}
PUBSUB_INLINE void pubsub_note_owners(pubsub_block *block) {
    __atomic_store_n(&block->has_owners, 1, __ATOMIC_RELAXED);
}

PUBSUB_INLINE void pubsub_set_bits(long *word, long bits) { __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST); }
PUBSUB_INLINE void pubsub_clear_bits(long *word, long bits) { __atomic_fetch_and(word, ~bits, __ATOMIC_SEQ_CST); }
PUBSUB_INLINE const void *_Nullable pubsub_load(const void *_Nullable const *_Nonnull word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
PUBSUB_INLINE void pubsub_publish(const void *_Nullable *_Nonnull word, const void *_Nullable value) {
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/// Loads a handler's function; pubsub_cancelled() if the handler was cancelled.
PUBSUB_INLINE const void *pubsub_function_of(const pubsub_handler *handler) {
    return __atomic_load_n(&handler->function, __ATOMIC_RELAXED);
}
PUBSUB_INLINE void pubsub_cancel(const void *handler) {
    __atomic_store_n(&((pubsub_handler *)handler)->function, pubsub_cancelled(), __ATOMIC_SEQ_CST);
}

// MARK: Threads

/// The largest nesting limit.
#define PUBSUB_DEEPEST 1024

typedef struct pubsub_topic pubsub_topic;

/// A post under way: what it reads, and what it is about.
typedef struct pubsub_frame {
    /// What the post is at in each block that it reads: the handler that it is about to call or that runs, or another address
    /// in the block. Word 0 is for the block of the type; it is the topic's address if there is none, so it is never NULL while the post is under way. Word 1 is
    /// for the block of the post's subject, and 2 for that of an object to which the subject belongs, as a scene to its session.
    /// Word 3 is the table of subjects.
    const void *_Nullable at[4];
    /// The block of the type; NULL if it has none.
    const pubsub_block *_Nullable block;
    pubsub_topic *_Nullable topic;
    const void *_Nullable subject;
    /// Whether the post tells pubsub_helpers.housekeep when it next moves on: another thread waits for that.
    int reports_move;
    /// Whether the latest handler has not received the event, because its owner had been released or its subscription to one event
    /// had ended. See `HandlerPlace.call`.
    bool is_unheard;
} pubsub_frame;

/// A thread's own record: its posts under way, outermost first (hazard pointers; Michael, 2004).
///
/// Before a post reads a block or calls a handler, it announces its address in its frame. Docs/Architecture.md, "What a writer
/// waits for", tells why a writer that then finds no announcement may free or release.
///
/// Later threads reuse the records, and the process never frees one, so any thread can walk the list without a lock.
///
/// The depth of a post is the number of posts around it, and its index in `frames`.
typedef struct pubsub_record {
    struct pubsub_record *_Nullable next;
    long in_use;
    // Of what follows, other threads access only `at` and `reports_move` of the frames.
    /// The index of the innermost post's frame. It is 0 while no post is under way, and the fast path, which makes an outermost
    /// post, leaves it so.
    long innermost;
    /// A refused post to report after the outermost post; see `BusCore.refuse`.
    void *_Nullable refusal;
    /// The depth from which posts are refused, because a post of this outermost post was refused; zero if none was.
    long ceiling;
    /// The number (`TopicStore.changes`) of the event of the innermost post on the general path, 0 if its type is not sticky.
    long change;
    long padding[2];  // so that the frames begin on a cache line
    /// The first word of the first frame is NULL exactly while the thread has no post under way.
    pubsub_frame frames[PUBSUB_DEEPEST];
} pubsub_record;

extern _Thread_local pubsub_record *_Nullable pubsub_own_record __attribute__((tls_model("initial-exec")));

/// Gives this thread a record until the thread ends.
pubsub_record *pubsub_make_record(void);

PUBSUB_INLINE pubsub_record *pubsub_record_of_thread(void) {
    pubsub_record *record = pubsub_own_record;
    return PUBSUB_LIKELY(record != NULL) ? record : pubsub_make_record();
}

/// The number of posts under way on the record's thread, which is the depth of the next one.
PUBSUB_INLINE long pubsub_depth(const pubsub_record *record) {
    return record->frames[0].at[0] == NULL ? 0 : record->innermost + 1;
}
/// The frame of the post at a depth.
PUBSUB_INLINE pubsub_frame *pubsub_frame_at(pubsub_record *record, long depth) { return &record->frames[depth]; }

/// Announces what a post is about to read; the caller then checks that it is still there.
///
/// The processor may delay the store until after the check. A writer's barrier interrupts this thread at one point. If
/// that is before the check, the check sees the writer's change; if it is after the store, the writer sees the store.
/// So only the compiler must not reorder them.
PUBSUB_INLINE void pubsub_announce(const void *_Nullable *_Nonnull slot, const void *_Nullable address) {
    __atomic_store_n(slot, address, __ATOMIC_RELEASE);
#if defined(__linux__)
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/// Loads a published address, and announces it, so that what is there is not freed before the slot changes.
PUBSUB_INLINE const void *_Nullable pubsub_protect(
    const void *_Nullable *_Nonnull slot, const void *_Nullable const *_Nonnull word) {
    for (;;) {
        const void *address = pubsub_load(word);
        PUBSUB_HOOK("protect: announce");
        pubsub_announce(slot, address);
        PUBSUB_HOOK("protect: look again");
        if (PUBSUB_LIKELY(__atomic_load_n(word, __ATOMIC_SEQ_CST) == address)) return address;
    }
}

/// Runs a full memory barrier on all threads that have posted: this thread sees their earlier stores, and they see its.
void pubsub_barrier(void);
/// Returns whether a post has announced an address in this memory; the caller has run a barrier since it made the memory
/// unreachable.
bool pubsub_is_read(const void *memory, size_t size);
/// Returns whether a post is at one of these cancelled handlers, which then calls pubsub_helpers.housekeep as it moves on; the
/// caller has run a barrier since it cancelled them.
bool pubsub_runs(const void *_Nonnull const *_Nonnull handlers, long count);

// MARK: Topics

/// The part of a store that a post reads first, on cache lines of its own.
struct pubsub_topic {
    /// The address of a block; NULL if the type has no subscribers, apart from those to one subject.
    const void *_Nullable root;
    /// PUBSUB_GENERAL, PUBSUB_RECEIVERS, PUBSUB_SUBJECTS.
    long flags;
    /// The table from the address of a subject to the subject's block; NULL if there is none.
    const void *_Nullable subjects;
    /// The nesting limit of posts.
    long limit;
    /// The store (HandlerStore) of the topic; set once, before another thread can find the topic.
    const void *_Nullable store;
};
// A topic handle (Topic.swift) reads the first two words in code that is inlined into other modules.
_Static_assert(
    offsetof(pubsub_topic, root) == 0 && offsetof(pubsub_topic, flags) == sizeof(void *) &&
        sizeof(long) == sizeof(void *),
    "root and flags are the first two words");

/// Posts to the topic take the general path, because its events are sticky or reversed, or because the bus has a watcher: a
/// tracer or a subscription to `Undelivered`.
#define PUBSUB_GENERAL 1
/// The topic has receivers, so posts take the general path.
#define PUBSUB_RECEIVERS 2
/// The topic has subscribers to one subject, so posts with a subject take the general path.
#define PUBSUB_SUBJECTS 4

PUBSUB_INLINE long pubsub_flags(const pubsub_topic *topic) { return __atomic_load_n(&topic->flags, __ATOMIC_RELAXED); }
PUBSUB_INLINE const void *_Nullable pubsub_root(const pubsub_topic *topic) { return pubsub_load(&topic->root); }

// MARK: Posting

/// Begins a post at a depth less than PUBSUB_DEEPEST. Until pubsub_leave, the frame's block is not freed. With `reads`
/// false the frame has no block, and only makes posts inside it count as nested.
pubsub_frame *pubsub_enter(
    pubsub_record *record, long depth, pubsub_topic *topic, const void *_Nullable subject, bool reads);
/// Returns the block of a subject, and announces it in a slot of the frame, and its table in the last slot; NULL if there is none.
const void *_Nullable pubsub_protect_subject(
    pubsub_frame *frame, long slot, const pubsub_topic *topic, const void *subject);
/// Ends a post.
void pubsub_clear(pubsub_record *record, long depth);
/// Ends a post; after the outermost one, reports a refused post.
void pubsub_leave(pubsub_record *record, long depth);

/// Announces that the post is no longer at the handler in the slot, and does what another thread has asked for meanwhile.
void pubsub_move_on(pubsub_frame *frame, const void *_Nullable *_Nonnull slot);

/// Posts an event at an address, through any path.
void pubsub_post(const void *event, pubsub_topic *topic, const void *_Nullable subject);
/// Calls the first handlers in a frame's block, in order, for a post to a topic without receivers.
void pubsub_call_first(pubsub_frame *frame, long count, const void *event);
/// Calls a handler that has been announced; returns the error that it threw, or NULL.
void *_Nullable pubsub_call_announced(const void *function, const pubsub_handler *handler, const void *event);

/// The Swift functions that C calls. They are set once and never change.
typedef struct pubsub_helpers {
    /// Posts through the general path.
    void (*post)(const void *event, pubsub_topic *topic, const void *_Nullable subject);
    /// Releases what a handler captured, and ends waits, because a post has moved on from a cancelled handler.
    void (*housekeep)(pubsub_topic *topic);
    /// Ends the refusing of a thread whose outermost post has ended, and reports it.
    void (*report_refusal)(pubsub_record *record);
    /// Reports the error of a handler, and releases the error.
    void (*report)(const pubsub_entry *entry, const pubsub_topic *topic, const void *event, void *error);
    /// Calls a box; returns the error that it threw, or NULL.
    void *_Nullable (*_Nonnull call_box)(void *box, const void *event);
    /// Ends the subscription of a registration whose owner has been released.
    void (*owner_is_gone)(void *registration);
} pubsub_helpers;
void pubsub_set_helpers(const pubsub_helpers *helpers);

// Swift declares pubsub_post_event itself, as a generic function (Posting.deliver in Calling/Direct.swift), which passes the event by
// address: the event is in memory without a copy.

// MARK: Tables

/// A key and its value. The key is written last, so a reader that finds the key finds the value.
typedef struct pubsub_cell {
    const void *_Nullable key;
    const void *_Nullable value;
} pubsub_cell;

/// An open-addressing hash table, of topics by type or of a topic's subjects. Cells are never removed; another table replaces
/// one that has become too full.
typedef struct pubsub_table {
    /// The distance of the last cell from the first, in bytes; a mask, as the number of cells is a power of two.
    size_t mask;
    pubsub_cell cells[];
} pubsub_table;

/// The cell that a search for a key probes first.
PUBSUB_INLINE const pubsub_cell *pubsub_first_cell(const pubsub_table *table, const void *key) {
    size_t hash = (size_t)((uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u >> 32);
    return (const pubsub_cell *)((const char *)table->cells + (hash & table->mask));
}

/// The topic of a type, if it is in the first cell of the table that a word publishes, as nearly always; else NULL.
PUBSUB_INLINE pubsub_topic *_Nullable pubsub_find_at_once(const void *_Nullable const *_Nonnull word, const void *type) {
    const pubsub_cell *cell = pubsub_first_cell((const pubsub_table *)pubsub_load(word), type);
    return PUBSUB_LIKELY(__atomic_load_n(&cell->key, __ATOMIC_ACQUIRE) == type) ? (pubsub_topic *)cell->value : NULL;
}
/// The topic of a type, in any cell; NULL if the table has no such key.
pubsub_topic *_Nullable pubsub_find(const void *_Nullable const *_Nonnull word, const void *type);

/// The number of cells, including free ones.
PUBSUB_INLINE size_t pubsub_table_capacity(const pubsub_table *table) { return table->mask / sizeof(pubsub_cell) + 1; }
PUBSUB_INLINE size_t pubsub_table_size(const pubsub_table *table) {
    return sizeof(pubsub_table) + pubsub_table_capacity(table) * sizeof(pubsub_cell);
}
/// Makes a table with 2^bits cells.
pubsub_table *pubsub_make_table(size_t bits);
/// Adds a cell, and returns the word of its value; the table must have room, and no cell with the key.
const void *_Nullable *_Nonnull pubsub_insert(pubsub_table *table, const void *key, const void *_Nullable value);
pubsub_topic *pubsub_make_topic(long limit);
void pubsub_free(const void *_Nullable memory);

#pragma clang assume_nonnull end
