// The way that most programs would write a thread-safe signal by hand.
#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

#include "Peer.hpp"

namespace {

class SnapshotSignal {
 public:
  using Handler = std::function<void(const Tick &)>;
  using Connection = long;

  Connection connect(Handler handler) {
    std::lock_guard<std::mutex> guard(mutex);
    long id = ++last_id;
    writable().emplace_back(id, std::move(handler));
    return id;
  }

  void disconnect(Connection id) {
    std::lock_guard<std::mutex> guard(mutex);
    auto &entries = writable();
    auto place = std::lower_bound(
        entries.begin(), entries.end(), id, [](const Entry &entry, long wanted) { return entry.first < wanted; });
    if (place != entries.end() && place->first == id) entries.erase(place);
  }

  void emit(const Tick &tick) {
    std::shared_ptr<const std::vector<Entry>> snapshot;
    {
      std::lock_guard<std::mutex> guard(mutex);
      snapshot = current;
    }
    for (const auto &entry : *snapshot) entry.second(tick);
  }

 private:
  using Entry = std::pair<long, Handler>;

  /// The entries, copied first if a post holds them; the lock is held.
  std::vector<Entry> &writable() {
    if (current.use_count() > 1) current = std::make_shared<std::vector<Entry>>(*current);
    // The last post to let go of them has done so without the lock.
    std::atomic_thread_fence(std::memory_order_acquire);
    return *current;
  }

  std::mutex mutex;
  std::shared_ptr<std::vector<Entry>> current = std::make_shared<std::vector<Entry>>();
  long last_id = 0;
};

}  // namespace

std::unique_ptr<bench_peer> make_snapshot() { return std::make_unique<Peer<SnapshotSignal>>(); }
