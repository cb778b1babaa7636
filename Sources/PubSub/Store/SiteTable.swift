/// The source position of subscriptions, with a label if there is one.
package final class Site: Sendable {
  package let subscriber: EventBus.Subscriber
  package init(_ subscriber: EventBus.Subscriber) { self.subscriber = subscriber }
}

/// The sites of a bus's subscriptions without a label: one object for each source line; the bus's lock guards it.
///
/// A program has few such lines, and subscribes on them again and again. A site lives as long as the bus or any of its
/// subscriptions.
struct SiteTable {
  private var sites: [EventBus.Subscriber: Site] = [:]
  /// The latest site for each line number modulo 64; it finds nearly every site without hashing.
  private var latest = [Unmanaged<Site>?](repeating: nil, count: 64)

  /// Returns the site of a line, which the table keeps alive.
  mutating func site(_ fileID: String, _ line: Int) -> Unmanaged<Site> {
    let place = line & (latest.count - 1)
    // Comparing two strings from the same literal is fast: they share their storage.
    if let known = latest[place],
      known._withUnsafeGuaranteedRef({ $0.subscriber.line == line && $0.subscriber.fileID == fileID })
    {
      return known
    }
    let subscriber = EventBus.Subscriber(label: nil, fileID: fileID, line: line)
    let site = sites[subscriber] ?? Site(subscriber)
    sites[subscriber] = site
    latest[place] = .passUnretained(site)
    return .passUnretained(site)
  }
}
