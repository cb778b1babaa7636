// What the peers have in common: one abstract class, and a template that writes its loops once.
#pragma once

#include <memory>
#include <vector>

#include "CBenchmarks.h"
#include "CPeers.h"

struct Tick {
  long amount;
};

struct bench_peer {
  virtual ~bench_peer() = default;
  virtual void subscribe(long *counter) = 0;
  virtual void subscribe_tally() = 0;
  virtual void post(long amount, long times) = 0;
  virtual void subscribe_and_cancel(long times) = 0;
  virtual void cancel(long index) = 0;
};

/// `Library` offers `Connection connect(handler)`, `disconnect(Connection &)` and `emit(const Tick &)`.
template <typename Library>
class Peer final : public bench_peer {
 public:
  void subscribe(long *counter) override { connections.push_back(library.connect([counter](const Tick &tick) { *counter += tick.amount; })); }

  void subscribe_tally() override {
    connections.push_back(library.connect([](const Tick &tick) { bench_tally_add(tick.amount); }));
  }

  void post(long amount, long times) override {
    for (long time = 0; time < times; time++) library.emit(Tick{amount});
  }

  void subscribe_and_cancel(long times) override {
    for (long time = 0; time < times; time++) {
      // It captures a word, as most handlers do.
      auto connection = library.connect([time](const Tick &) { (void)time; });
      library.disconnect(connection);
    }
  }

  void cancel(long index) override { library.disconnect(connections[static_cast<size_t>(index)]); }

 private:
  Library library;
  std::vector<typename Library::Connection> connections;
};

/// Each is made in a file of its own; null where the library's headers were not found.
std::unique_ptr<bench_peer> make_snapshot();
std::unique_ptr<bench_peer> make_boost();
std::unique_ptr<bench_peer> make_sigc();
