/// Signal libraries of C++, each behind the same few functions; all loops are inside, so that no call is paid for twice.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  /// A mutex, and a vector of std::function in a shared_ptr that a post copies; always there.
  bench_peer_snapshot,
  /// boost::signals2, where its headers were found.
  bench_peer_boost,
  /// libsigc++, where its headers were found; not made for several threads.
  bench_peer_sigc,
} bench_peer_kind;

typedef struct bench_peer bench_peer;

/// A signal without subscribers; NULL if the library's headers were not there when this was compiled.
bench_peer *_Nullable bench_peer_make(bench_peer_kind kind);

void bench_peer_destroy(bench_peer *_Nonnull peer);

/// Subscribes a handler that adds the event's amount to a counter of its own.
void bench_peer_subscribe(bench_peer *_Nonnull peer, long *_Nonnull counter);

/// Subscribes a handler that adds the event's amount to the calling thread's tally.
void bench_peer_subscribe_tally(bench_peer *_Nonnull peer);

/// Posts an event that holds `amount`, `times` times.
void bench_peer_post(bench_peer *_Nonnull peer, long amount, long times);

/// Subscribes a handler that does nothing and cancels it, `times` times.
void bench_peer_subscribe_and_cancel(bench_peer *_Nonnull peer, long times);

/// Cancels the subscription that was made as the `index`-th, counted from 0.
void bench_peer_cancel(bench_peer *_Nonnull peer, long index);

#ifdef __cplusplus
}
#endif
