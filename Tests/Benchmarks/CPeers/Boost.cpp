#include "Peer.hpp"

#if __has_include(<boost/signals2.hpp>)
#include <boost/signals2.hpp>

namespace {

struct BoostSignal {
  using Connection = boost::signals2::connection;

  template <typename Handler>
  Connection connect(Handler handler) {
    return signal.connect(handler);
  }
  void disconnect(Connection &connection) { connection.disconnect(); }
  void emit(const Tick &tick) { signal(tick); }

  boost::signals2::signal<void(const Tick &)> signal;
};

}  // namespace

std::unique_ptr<bench_peer> make_boost() { return std::make_unique<Peer<BoostSignal>>(); }
#else
std::unique_ptr<bench_peer> make_boost() { return nullptr; }
#endif
