#include "CPubSub.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

__attribute__((swiftcall)) void pubsub_cancelled_function(
    const void *event, __attribute__((swift_context)) void *context) {
    (void)event;
    (void)context;
}

static void (*box_caller)(void *box, const void *event);

void pubsub_set_box_caller(void (*caller)(void *box, const void *event)) {
    __atomic_store_n(&box_caller, caller, __ATOMIC_RELEASE);
}

static __attribute__((swiftcall)) void boxed_function(
    const void *event, __attribute__((swift_context)) void *context) {
    __atomic_load_n(&box_caller, __ATOMIC_ACQUIRE)(context, event);
}

const void *pubsub_boxed(void) { return (const void *)&boxed_function; }

static void *aligned(size_t size) {
    void *memory = NULL;
    if (posix_memalign(&memory, 128, size) != 0) abort();
    memset(memory, 0, size);
    return memory;
}

// MARK: Threads

_Thread_local pubsub_record *pubsub_own_record;

static pubsub_record *records;  // the newest; walked by next
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void give_back(void *memory) {
    pubsub_record *record = memory;
    pubsub_own_record = NULL;
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
        if (__atomic_load_n(&record->in_use, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&record->in_use, &unused, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return take(record);
    }
    pubsub_record *record = aligned(sizeof *record);
    record->in_use = 1;
    record->next = __atomic_load_n(&records, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&records, &record->next, record, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return take(record);
}

const void **pubsub_deep_slot(pubsub_record *record, long depth, const void *topic) {
    if (depth < PUBSUB_SHALLOW) {
        record->topics[depth] = topic;
        return &record->shallow[depth];
    }
    long index = depth - PUBSUB_SHALLOW;
    if (record->deep == NULL) {
        size_t size = (PUBSUB_DEEPEST - PUBSUB_SHALLOW) * sizeof *record->deep;
        record->deep_topics = aligned(size);
        __atomic_store_n(&record->deep, aligned(size), __ATOMIC_RELEASE);
    }
    record->deep_topics[index] = topic;
    // Raised before the slot is written: a reclaimer that could see the slot sees how far to look.
    if (record->deepest <= index) __atomic_store_n(&record->deepest, index + 1, __ATOMIC_SEQ_CST);
    return &record->deep[index];
}

const void *pubsub_topic_at(const pubsub_record *record, long depth) {
    return depth < PUBSUB_SHALLOW ? record->topics[depth] : record->deep_topics[depth - PUBSUB_SHALLOW];
}

#if defined(__linux__)
static bool has_barrier;
static pthread_once_t barrier_once = PTHREAD_ONCE_INIT;

static void register_barrier(void) {
    has_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool pubsub_barrier(void) {
    pthread_once(&barrier_once, register_barrier);
    return has_barrier && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
#else
bool pubsub_barrier(void) { return false; }
#endif

static long first_of(const void *const *roots, long count, const void *protected) {
    for (long index = 0; index < count; index++)
        if (roots[index] == protected) return index;
    return count;
}

long pubsub_first_protected(const void *const *roots, long count) {
    long first = count;
    for (pubsub_record *record = __atomic_load_n(&records, __ATOMIC_SEQ_CST); record; record = record->next) {
        for (long index = 0; index < PUBSUB_SHALLOW; index++) {
            const void *protected = __atomic_load_n(&record->shallow[index], __ATOMIC_SEQ_CST);
            if (protected != NULL) first = first_of(roots, first, protected);
        }
        long deepest = __atomic_load_n(&record->deepest, __ATOMIC_SEQ_CST);
        const void **deep = deepest > 0 ? __atomic_load_n(&record->deep, __ATOMIC_ACQUIRE) : NULL;
        for (long index = 0; index < deepest; index++) {
            const void *protected = __atomic_load_n(&deep[index], __ATOMIC_SEQ_CST);
            if (protected != NULL) first = first_of(roots, first, protected);
        }
    }
    return first;
}

// MARK: Topics

const void *pubsub_owners[PUBSUB_NUMBERS];

pubsub_topic *pubsub_make_topic(long limit) {
    pubsub_topic *topic = aligned(sizeof *topic);
    topic->limit = limit;
    return topic;
}

pubsub_table *pubsub_make_table(size_t bits) {
    size_t count = (size_t)1 << bits;
    pubsub_table *table = aligned(sizeof *table + count * sizeof table->entries[0]);
    table->mask = count - 1;
    table->shift = 64 - bits;
    return table;
}

void pubsub_insert(pubsub_table *table, const void *key, pubsub_topic *topic) {
    size_t index = pubsub_first_index(table, key);
    while (table->entries[index].key != NULL) index = (index + 1) & table->mask;
    table->entries[index].topic = topic;
    __atomic_store_n(&table->entries[index].key, key, __ATOMIC_RELEASE);
}

void pubsub_free(const void *memory) { free((void *)memory); }

// MARK: Posting

static pubsub_finisher finisher;

void pubsub_set_finisher(pubsub_finisher function) { __atomic_store_n(&finisher, function, __ATOMIC_RELEASE); }

__attribute__((swiftcall)) void pubsub_post_event(
    const void *event, pubsub_topic *topic, const void *subject, const void *type);
__attribute__((swiftcall)) void pubsub_post_event(
    const void *event, pubsub_topic *topic, const void *subject, const void *type) {
    (void)type;
    pubsub_rest rest = pubsub_post(topic, event);
    if (PUBSUB_UNLIKELY(rest != pubsub_done))
        __atomic_load_n(&finisher, __ATOMIC_ACQUIRE)(rest, event, topic, subject);
}

__attribute__((swiftcall)) const void *pubsub_address_of(const void *value, const void *type);
__attribute__((swiftcall)) const void *pubsub_address_of(const void *value, const void *type) {
    (void)type;
    return value;
}
