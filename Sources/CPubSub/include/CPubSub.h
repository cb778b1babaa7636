// What Swift cannot say: a thread's own record without a look-up, and the call of a closure as the two words that it is,
// without counting a reference. Everything on the path of a post is inline; Docs/Architecture.md, The bus, tells the whole.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUBSUB_INLINE static inline __attribute__((always_inline))
#define PUBSUB_LIKELY(x) __builtin_expect(!!(x), 1)
#define PUBSUB_UNLIKELY(x) __builtin_expect(!!(x), 0)

#pragma clang assume_nonnull begin

// MARK: Handlers

/// A closure that takes one value of a generic type by address: its function and its context.
typedef struct pubsub_handler {
    const void *function;
    void *_Nullable context;
} pubsub_handler;

/// The calling convention of such a closure; checked against the compiler when the program starts.
typedef __attribute__((swiftcall)) void (*pubsub_function)(
    const void *event, __attribute__((swift_context)) void *_Nullable context);

PUBSUB_INLINE void pubsub_call(const void *function, void *_Nullable context, const void *event) {
    ((pubsub_function)function)(event, context);
}

/// Does nothing: stands where a handler was cancelled, so that no delivery has to ask whether it still stands.
__attribute__((swiftcall)) void pubsub_cancelled_function(
    const void *event, __attribute__((swift_context)) void *_Nullable context);

PUBSUB_INLINE const void *pubsub_cancelled(void) { return (const void *)&pubsub_cancelled_function; }

/// Calls the box that is the context of such a handler: for compilers whose closures have another shape.
const void *pubsub_boxed(void);
/// Sets what calls a box; always the same function.
void pubsub_set_box_caller(void (*caller)(void *box, const void *event));

// MARK: Buffers

/// Handlers of one priority, in the order in which they subscribed. Behind the handlers stand, for writers, an identifier
/// (rising) and a subscription for each; see HandlerBuffer.swift.
typedef struct pubsub_buffer {
    /// How many handlers stand. Written with release once the handler behind it is complete, read with acquire.
    long count;
    long capacity;
    pubsub_handler handlers[];
} pubsub_buffer;

PUBSUB_INLINE long pubsub_load(const long *place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }
PUBSUB_INLINE void pubsub_store(long *place, long value) { __atomic_store_n(place, value, __ATOMIC_RELEASE); }
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

/// Calls the handlers that stand now, in order; those that come meanwhile are not seen.
PUBSUB_INLINE void pubsub_deliver(const pubsub_buffer *buffer, const void *event) {
    const pubsub_handler *handler = buffer->handlers;
    const pubsub_handler *end = handler + pubsub_load(&buffer->count);
    for (; handler < end; handler++) pubsub_call(pubsub_function_of(handler), handler->context, event);
}

// MARK: Threads

/// Posts nested deeper than this take the general path.
#define PUBSUB_SHALLOW 12
/// Posts nested deeper than this are refused, whatever a bus allows.
#define PUBSUB_DEEPEST 1024

/// A thread's own record: what its posts under way read, outermost first (hazard pointers; Michael, 2004).
///
/// No other thread writes the first line but to read it while it reclaims. Records are reused by later threads and never
/// freed while the process lives, so that they can be walked without a lock. Allocated on cache lines of its own.
typedef struct pubsub_record {
    const void *_Nullable shallow[PUBSUB_SHALLOW];
    /// The topics of those posts, for who reports them; the owner's alone.
    const void *_Nullable topics[PUBSUB_SHALLOW];
    /// How many posts are under way; the owner's alone.
    long depth;
    /// A post was refused, and the outermost post has to say so; the owner's alone.
    void *_Nullable refusal;
    /// Room for deeper posts, made when it is first needed.
    const void *_Nullable *_Nullable deep;
    const void *_Nullable *_Nullable deep_topics;
    /// How deep this record has ever been, beyond the shallow ones.
    long deepest;
    struct pubsub_record *_Nullable next;
    long in_use;
} pubsub_record;

extern _Thread_local pubsub_record *_Nullable pubsub_own_record __attribute__((tls_model("initial-exec")));

/// Gives this thread a record, until it ends.
pubsub_record *pubsub_make_record(void);

PUBSUB_INLINE pubsub_record *pubsub_record_of_thread(void) {
    pubsub_record *record = pubsub_own_record;
    return PUBSUB_LIKELY(record != NULL) ? record : pubsub_make_record();
}

/// The place for a post to a topic so deep; `depth` is less than PUBSUB_DEEPEST.
const void *_Nullable *_Nonnull pubsub_deep_slot(pubsub_record *record, long depth, const void *topic);
/// The topic of the post that is so deep.
const void *_Nullable pubsub_topic_at(const pubsub_record *record, long depth);

/// Protects what a root points to: the own slot is written, and read back by the reclaimers before they free anything;
/// the second look makes sure that the root had not been swapped before the slot could be seen.
PUBSUB_INLINE const void *_Nullable pubsub_protect(const void *_Nullable *_Nonnull slot, const void *_Nullable const *_Nonnull root) {
    const void *seen = __atomic_load_n(root, __ATOMIC_RELAXED);
    for (;;) {
        __atomic_exchange_n(slot, seen, __ATOMIC_SEQ_CST);
        const void *again = __atomic_load_n(root, __ATOMIC_SEQ_CST);
        if (PUBSUB_LIKELY(again == seen)) return seen;
        seen = again;
    }
}

PUBSUB_INLINE void pubsub_unprotect(const void *_Nullable *_Nonnull slot) { __atomic_store_n(slot, NULL, __ATOMIC_RELEASE); }

/// Makes what other threads have stored visible here, and what was stored here visible to them, as if each had passed a
/// barrier; false where the system has no such call.
///
/// Leaving is a plain store, which may still be on its way while the leaver has looked, in vain, for somebody who waits.
bool pubsub_barrier(void);

/// The index of the first of these roots that any thread protects; `count` if none does.
long pubsub_first_protected(const void *_Nullable const *_Nonnull roots, long count);

// MARK: Topics

/// What a post looks at first, on lines of its own.
typedef struct pubsub_topic {
    /// A buffer; a directory, with the lowest bit set; NULL while nobody subscribes.
    const void *_Nullable root;
    /// PUBSUB_GENERAL, PUBSUB_RECLAIM.
    long flags;
    /// How deep posts may be nested.
    long limit;
    /// The object to which all this belongs; set once, before anybody else knows of the topic.
    const void *_Nullable owner;
} pubsub_topic;

/// A post to the topic takes the general path.
#define PUBSUB_GENERAL 1
/// Something waits to be freed: who leaves a root that has been replaced looks whether it can be.
#define PUBSUB_RECLAIM 2
/// Something waits for those who read the present root: whoever leaves looks.
#define PUBSUB_URGENT 4

/// Whether who has left a root has to look what can be freed.
PUBSUB_INLINE bool pubsub_owes(const pubsub_topic *topic, const void *_Nullable root) {
    long flags = __atomic_load_n(&topic->flags, __ATOMIC_RELAXED);
    if (PUBSUB_LIKELY((flags & PUBSUB_RECLAIM) == 0)) return false;
    return (flags & PUBSUB_URGENT) != 0 || root != __atomic_load_n(&topic->root, __ATOMIC_RELAXED);
}

/// What is left to do after the fast path.
typedef enum pubsub_rest {
    pubsub_done = 0,
    /// Nothing was delivered: the general path has to.
    pubsub_general = 1,
    /// All was delivered; something is to be freed or reported.
    pubsub_housekeeping = 2,
} pubsub_rest;

PUBSUB_INLINE bool pubsub_is_directory(const void *_Nullable root) { return ((uintptr_t)root & 1) != 0; }

/// Whether a post reaches nobody, and nobody wants to see it.
PUBSUB_INLINE bool pubsub_is_idle(const pubsub_topic *topic) {
    return __atomic_load_n(&topic->root, __ATOMIC_ACQUIRE) == NULL &&
           (__atomic_load_n(&topic->flags, __ATOMIC_RELAXED) & PUBSUB_GENERAL) == 0;
}

/// The fast path of a post: no lock, no allocation, no count; one locked instruction, on a line that is the thread's own.
PUBSUB_INLINE pubsub_rest pubsub_post(pubsub_topic *topic, const void *event) {
    if (PUBSUB_UNLIKELY(__atomic_load_n(&topic->flags, __ATOMIC_RELAXED) & PUBSUB_GENERAL)) return pubsub_general;
    pubsub_record *record = pubsub_record_of_thread();
    long depth = record->depth;
    if (PUBSUB_UNLIKELY(depth >= PUBSUB_SHALLOW || depth >= topic->limit)) return pubsub_general;
    const void **slot = &record->shallow[depth];
    const void *root = pubsub_protect(slot, &topic->root);
    if (PUBSUB_UNLIKELY(pubsub_is_directory(root))) {
        pubsub_unprotect(slot);
        return pubsub_general;
    }
    record->topics[depth] = topic;
    record->depth = depth + 1;
    if (PUBSUB_LIKELY(root != NULL)) pubsub_deliver((const pubsub_buffer *)root, event);
    record->depth = depth;
    pubsub_unprotect(slot);
    bool reports = depth == 0 && record->refusal != NULL;
    return PUBSUB_UNLIKELY(reports || pubsub_owes(topic, root)) ? pubsub_housekeeping : pubsub_done;
}

/// Does what the fast path left; always the same function.
typedef void (*pubsub_finisher)(
    pubsub_rest rest, const void *event, pubsub_topic *topic, const void *_Nullable subject);
void pubsub_set_finisher(pubsub_finisher finisher);

// Two functions that Swift declares for itself, as generic ones (see EventAddress.swift): in a generic function the event is
// in memory already, and only the calling convention tells where.
//   pubsub_post_event(event, topic, subject, type of the event)
//   pubsub_address_of(value, type of the value)

// MARK: Topics by type

/// An open-addressing table that only grows; what it is replaced by keeps every entry, so readers need no protection.
typedef struct pubsub_table {
    size_t mask;
    size_t shift;
    struct {
        const void *_Nullable key;
        pubsub_topic *_Nullable topic;
    } entries[];
} pubsub_table;

PUBSUB_INLINE size_t pubsub_first_index(const pubsub_table *table, const void *key) {
    return (size_t)(((uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u) >> table->shift);
}

PUBSUB_INLINE pubsub_topic *_Nullable pubsub_find(const void *_Nullable const *_Nonnull root, const void *key) {
    const pubsub_table *table = (const pubsub_table *)__atomic_load_n(root, __ATOMIC_ACQUIRE);
    for (size_t index = pubsub_first_index(table, key);; index = (index + 1) & table->mask) {
        const void *found = __atomic_load_n(&table->entries[index].key, __ATOMIC_ACQUIRE);
        if (PUBSUB_LIKELY(found == key)) return table->entries[index].topic;
        if (found == NULL) return NULL;
    }
}

/// A table for 2^bits entries.
pubsub_table *pubsub_make_table(size_t bits);
/// Adds an entry whose key is not there; the table has room.
void pubsub_insert(pubsub_table *table, const void *key, pubsub_topic *topic);

pubsub_topic *pubsub_make_topic(long limit);

/// So many topics can have a number; see StoreNumbers.swift.
#define PUBSUB_NUMBERS (1 << 14)
/// The owners of the topics that have numbers. Here, as the address of a variable of C's is known when the program starts.
extern const void *_Nullable pubsub_owners[PUBSUB_NUMBERS];

/// Where the owner of a number stands.
PUBSUB_INLINE const void *_Nullable *_Nonnull pubsub_owner_place(uint16_t number) { return &pubsub_owners[number]; }
void pubsub_free(const void *_Nullable memory);

#pragma clang assume_nonnull end
