// The library's headers lie outside of the compiler's own path: CPLUS_INCLUDE_PATH has to name them (Docs/Performance.md).
#include "Peer.hpp"

#if __has_include(<sigc++/sigc++.h>) && __has_include(<sigc++config.h>)
#include <sigc++/sigc++.h>

// The linker is asked from here, so that the manifest need not know whether the library is installed.
#if SIGCXX_MAJOR_VERSION == 2
#pragma comment(lib, "sigc-2.0")
#else
#pragma comment(lib, "sigc-3.0")
#endif

namespace {

struct SigcSignal {
  using Connection = sigc::connection;

  template <typename Handler>
  Connection connect(Handler handler) {
    return signal.connect(handler);
  }
  void disconnect(Connection &connection) { connection.disconnect(); }
  void emit(const Tick &tick) { signal.emit(tick); }

#if SIGCXX_MAJOR_VERSION == 2
  sigc::signal<void, const Tick &> signal;
#else
  sigc::signal<void(const Tick &)> signal;
#endif
};

}  // namespace

std::unique_ptr<bench_peer> make_sigc() { return std::make_unique<Peer<SigcSignal>>(); }
#else
std::unique_ptr<bench_peer> make_sigc() { return nullptr; }
#endif
