internal import PubSub

/// The calls of handlers that have returned, with their times, in the order in which they returned.
///
/// Handlers that follow each other often have one site, such as those of the rows of a list: its reference is kept once.
struct HandlerTimes: Sendable {
  private var times: [(began: Duration, ended: Duration)] = []
  /// Each site that differs from the one before, with the index of its first handler.
  private var sites: [(site: Site, first: Int)] = []
  /// The address of the latest site.
  private var latest = 0

  var count: Int { times.count }
  var isEmpty: Bool { times.isEmpty }

  mutating func reserveCapacity(_ count: Int) { times.reserveCapacity(count) }

  @inline(__always)
  mutating func append(_ site: Unmanaged<Site>, began: Duration, ended: Duration) {
    let address = Int(bitPattern: site.toOpaque())
    if address != latest {
      sites.append((site.takeUnretainedValue(), times.count))
      latest = address
    }
    times.append((began, ended))
  }

  /// The same in the memory that it needs, if it has more than twice that.
  var compact: HandlerTimes {
    guard times.capacity > 2 * times.count else { return self }
    var compact = self
    compact.times = times.map { $0 }
    return compact
  }

  func forEach(_ body: (_ site: Site, _ began: Duration, _ ended: Duration) -> Void) {
    var run = 0
    for (index, time) in times.enumerated() {
      if run + 1 < sites.count, sites[run + 1].first == index { run += 1 }
      body(sites[run].site, time.began, time.ended)
    }
  }
}
