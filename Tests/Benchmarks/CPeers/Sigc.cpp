// The library's headers lie outside of the compiler's own path: CPLUS_INCLUDE_PATH has to name them (Docs/Performance.md),
// and the manifest, seeing that, names the library to the linker.
#include "Peer.hpp"

#if __has_include(<sigc++/sigc++.h>) && __has_include(<sigc++config.h>)
#include <sigc++/sigc++.h>

namespace {

struct SigcSignal {
  using Connection = sigc::connection;

  template <typename Handler>
  Connection connect(Handler handler) {
    return signal.connect(handler);
  }
  void disconnect(Connection &connection) { connection.disconnect(); }
  void emit(const Tick &tick) { signal.emit(tick); }

  sigc::signal<void, const Tick &> signal;
};

}  // namespace

std::unique_ptr<bench_peer> make_sigc() { return std::make_unique<Peer<SigcSignal>>(); }
#else
std::unique_ptr<bench_peer> make_sigc() { return nullptr; }
#endif
