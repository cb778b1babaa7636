#include "Peer.hpp"

bench_peer *bench_peer_make(bench_peer_kind kind) {
  switch (kind) {
    case bench_peer_snapshot: return make_snapshot().release();
    case bench_peer_boost: return make_boost().release();
    case bench_peer_sigc: return make_sigc().release();
  }
  return nullptr;
}

void bench_peer_destroy(bench_peer *peer) { delete peer; }

void bench_peer_subscribe(bench_peer *peer, long *counter) { peer->subscribe(counter); }

void bench_peer_subscribe_tally(bench_peer *peer) { peer->subscribe_tally(); }

void bench_peer_post(bench_peer *peer, long amount, long times) { peer->post(amount, times); }

void bench_peer_subscribe_and_cancel(bench_peer *peer, long times) { peer->subscribe_and_cancel(times); }

void bench_peer_cancel(bench_peer *peer, long index) { peer->cancel(index); }
