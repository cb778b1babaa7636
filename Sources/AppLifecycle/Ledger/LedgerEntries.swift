internal import PubSub

/// The entries of a page, in the form in which they are noted.
///
/// Most entries are handlers that have returned, and many belong to one notification. For each of them only the source
/// position and the times are kept; its entry is made when the page is read.
struct LedgerEntries: Sendable {
  private enum Part: Sendable {
    case entry(LedgerEntry)
    case handlers(step: String, HandlerTimes)

    var count: Int { if case .handlers(_, let handlers) = self { handlers.count } else { 1 } }
    var isLate: Bool { if case .entry(let entry) = self { entry.isLate } else { false } }
  }

  private var parts: [Part] = []
  private(set) var count = 0

  init(_ entries: [LedgerEntry] = []) { for entry in entries { append(entry) } }

  mutating func append(_ entry: consuming LedgerEntry) {
    parts.append(.entry(entry))
    count += 1
  }

  /// Appends handlers of one notification, in the order in which they returned.
  mutating func append(_ handlers: HandlerTimes, step: String) {
    parts.append(.handlers(step: step, handlers))
    count += handlers.count
  }

  /// Drops the oldest entries until at most `most` are left: first entries of code that was not late, then any.
  ///
  /// Handlers that were noted together are dropped together.
  ///
  /// - Returns: the number of entries that were dropped.
  mutating func dropOldest(keeping most: Int) -> Int {
    let former = count
    for dropsLate in [false, true] where count > most {
      parts.removeAll { part in
        guard count > most, dropsLate || !part.isLate else { return false }
        count -= part.count
        return true
      }
    }
    return former - count
  }

  /// The entries, in order.
  ///
  /// - Complexity: linear in their number.
  var all: [LedgerEntry] {
    var all: [LedgerEntry] = []
    all.reserveCapacity(count)
    for part in parts {
      switch part {
      case .entry(let entry): all.append(entry)
      case .handlers(let step, let handlers):
        handlers.forEach { site, began, ended in
          all.append(
            LedgerEntry(
              .subscriber, site.subscriber, step: step, began: began, duration: ended - began, outcome: .completed))
        }
      }
    }
    return all
  }
}

extension LedgerEntries: Hashable {
  static func == (one: LedgerEntries, other: LedgerEntries) -> Bool { one.count == other.count && one.all == other.all }
  func hash(into hasher: inout Hasher) { hasher.combine(all) }
}
