/// A line of source on which subscriptions are made, as its subscriber.
package final class Site: Sendable {
  package let subscriber: Subscriber
  package init(_ subscriber: Subscriber) { self.subscriber = subscriber }
}

/// The lines of source on which a bus's subscriptions without a label are made, each kept once.
///
/// Guarded by the bus's lock. Programs have few such lines, and run through the same ones again and again. A site stays as long as
/// the bus or any of its subscriptions.
struct SiteTable {
  private var sites: [Subscriber: Site] = [:]
  /// For each line modulo the table's size the site last asked for; finds nearly all, without hashing.
  private var latest = [Unmanaged<Site>?](repeating: nil, count: 64)

  /// The site of a line; not counted as a reference, as the table keeps it.
  mutating func site(_ fileID: String, _ line: Int) -> Unmanaged<Site> {
    let place = line & (latest.count - 1)
    // Texts that are one and the same literal are found equal at once.
    if let known = latest[place],
      known._withUnsafeGuaranteedRef({ $0.subscriber.line == line && $0.subscriber.fileID == fileID })
    {
      return known
    }
    let subscriber = Subscriber(label: nil, fileID: fileID, line: line)
    let site = sites[subscriber] ?? Site(subscriber)
    sites[subscriber] = site
    latest[place] = .passUnretained(site)
    return .passUnretained(site)
  }
}
