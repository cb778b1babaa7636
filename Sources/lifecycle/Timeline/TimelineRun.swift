import AppLifecycle
import LifecycleJournal

/// A run on a page: its lines, and the bars and marks that have ended.
struct TimelineRun: Equatable {
  let session: Int
  let header: RunHeader?
  /// When the run began.
  let begin: Duration
  /// The number of the first line on the page: those before it are left out.
  private(set) var firstLine: Int
  private(set) var lines: [TimelineLine] = []
  private(set) var items: [TimelineItem] = []
  /// What the wall clock said, since 1970 in UTC, at times of the records.
  private(set) var clocks: [JournalClockMark] = []
  /// How the run ended, and the run as it was then.
  var exit: PreviousExit?

  /// A run of which a page shows the lines from one on.
  init(session: Int, header: RunHeader?, begin: Duration, firstLine: Int) {
    (self.session, self.header, self.begin, self.firstLine) = (session, header, begin, firstLine)
  }

  /// The last line's time.
  var end: Duration { lines.last?.instant ?? begin }
  /// The wall clock's time when the run began, since 1970 in UTC.
  var start: Duration { header?.start ?? .zero }

  /// Takes the next line that is shown, and what has ended with it.
  mutating func take(_ line: TimelineLine?, _ ended: [TimelineItem], clock: JournalClockMark?) {
    if let line { lines.append(line) }
    if let clock { clocks.append(clock) }
    for item in ended {
      var item = item
      // Found now: lines of the same time that are still to come are later ones.
      item.begin = resolved(item.begin)
      item.end = resolved(item.end)
      items.append(item)
    }
  }

  /// Leaves out the lines before the last ones, and what ended there; what lasted still begins with the first that is left.
  mutating func leaveOut(_ count: Int) {
    lines.removeFirst(count)
    firstLine += count
    let first = TimelinePlace(instant: lines.first?.instant ?? begin, line: firstLine)
    items = items.compactMap { item in
      guard let end = item.end.line, end >= firstLine else { return nil }
      var item = item
      if let line = item.begin.line, line < firstLine { item.begin = first }
      return item
    }
    if let last = clocks.lastIndex(where: { $0.instant <= first.instant }) { clocks.removeFirst(last) }
  }

  /// With the last line that is not after the time, where none is named.
  private func resolved(_ place: TimelinePlace) -> TimelinePlace {
    if place.line != nil { return place }
    var (low, high) = (0, lines.count)
    while low < high {
      let middle = (low + high) / 2
      if lines[middle].instant <= place.instant { low = middle + 1 } else { high = middle }
    }
    return TimelinePlace(
      instant: max(place.instant, lines.first?.instant ?? begin), line: firstLine + max(low - 1, 0))
  }

  /// The lanes with something on them, from top to bottom; scenes and resources as they come into the picture.
  var lanes: [(lane: TimelineLane, items: [TimelineItem])] {
    var lanes: [TimelineLane: [TimelineItem]] = [:]
    var order: [TimelineLane] = []
    for item in items {
      if lanes[item.lane] == nil { order.append(item.lane) }
      lanes[item.lane, default: []].append(item)
    }
    func place(_ lane: TimelineLane) -> (Int, Int) { (lane.rank, lanes[lane]?.first?.begin.line ?? 0) }
    // A sort keeps the order of equals.
    return order.sorted { place($0) < place($1) }.map { ($0, lanes[$0] ?? []) }
  }
}

extension TimelineLane {
  fileprivate var rank: Int {
    switch self {
    case .state: 0
    case .scene: 1
    case .calls: 2
    case .handlers: 3
    case .resource: 4
    case .tasks: 5
    case .system: 6
    }
  }
}
