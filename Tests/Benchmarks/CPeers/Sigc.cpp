// The manifest defines MEASURES_SIGC, and links the library, where CPLUS_INCLUDE_PATH names the library's headers; so a change
// of that variable compiles this anew.
#include "Peer.hpp"

#if defined(MEASURES_SIGC) && __has_include(<sigc++/sigc++.h>) && __has_include(<sigc++config.h>)
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
