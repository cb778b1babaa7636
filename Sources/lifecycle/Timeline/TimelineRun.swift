import AppLifecycle
import LifecycleJournal

/// A run on a page: its lines, and the bars and marks that have ended.
struct TimelineRun: Equatable {
  let session: Int
  let header: RunHeader?
  /// When the run began.
  let begin: Duration
  /// The number of the first line on the page; earlier lines are left out.
  private(set) var firstLine: Int
  private(set) var lines: [TimelineLine] = []
  private(set) var items: [TimelineItem] = []
  /// The wall-clock times, since 1970 in UTC, of some records: where a line gives one, and where the offset of the user's time
  /// zone has changed.
  private(set) var clocks: [JournalClockMark] = []
  /// The end of the run, and its summary at that time.
  var exit: PreviousExit?

  /// Creates a run of which a page shows the lines from a number on.
  init(session: Int, header: RunHeader?, begin: Duration, firstLine: Int) {
    (self.session, self.header, self.begin, self.firstLine) = (session, header, begin, firstLine)
  }

  /// The last line's time.
  var end: Duration { lines.last?.instant ?? begin }
  /// The wall-clock time at which the run began, since 1970 in UTC.
  var start: Duration { header?.start ?? .zero }

  /// Adds the next shown line, and the bars and marks that ended with it.
  mutating func take(_ line: TimelineLine?, _ ended: [TimelineItem], clock: JournalClockMark?) {
    if let line { lines.append(line) }
    if let clock { clocks.append(clock) }
    if let line, let last = clocks.last {
      let now = last.wallTime + (line.instant - last.instant)
      if now.secondsEastOfGreenwich != last.wallTime.secondsEastOfGreenwich {
        clocks.append(JournalClockMark(instant: line.instant, wallTime: now))
      }
    }
    for item in ended {
      var item = item
      // The line is found now, before later lines of the same time follow.
      item.begin = resolved(item.begin)
      item.end = resolved(item.end)
      items.append(item)
    }
  }

  /// Removes all but the last lines, and the bars that ended before them.
  ///
  /// A bar that lasts longer then begins with the first line left.
  mutating func leaveOut(_ count: Int) {
    lines.removeFirst(count)
    firstLine += count
    items = items.compactMap { item in
      guard let end = item.end.line, end >= firstLine else { return nil }
      var item = item
      item.begin = resolved(item.begin)
      return item
    }
    if let last = clocks.lastIndex(where: { $0.instant <= first.instant }) { clocks.removeFirst(last) }
  }

  /// The first line on the page.
  private var first: TimelinePlace { TimelinePlace(instant: lines.first?.instant ?? begin, line: firstLine) }

  /// The place with a line that is on the page: if it names none, the last line that is not after its time.
  private func resolved(_ place: TimelinePlace) -> TimelinePlace {
    if let line = place.line { return line < firstLine ? first : place }
    var (low, high) = (0, lines.count)
    while low < high {
      let middle = (low + high) / 2
      if lines[middle].instant <= place.instant { low = middle + 1 } else { high = middle }
    }
    return TimelinePlace(instant: max(place.instant, first.instant), line: firstLine + max(low - 1, 0))
  }

  /// The lanes that are not empty, from top to bottom; scenes and resources in the order in which they first appear.
  var lanes: [(lane: TimelineLane, items: [TimelineItem])] {
    var lanes: [TimelineLane: [TimelineItem]] = [:]
    var order: [TimelineLane] = []
    for item in items {
      if lanes[item.lane] == nil { order.append(item.lane) }
      lanes[item.lane, default: []].append(item)
    }
    func place(_ lane: TimelineLane) -> (Int, Int) { (lane.appearance.rank, lanes[lane]?.first?.begin.line ?? 0) }
    // The sort is stable.
    return order.sorted { place($0) < place($1) }.map { ($0, lanes[$0] ?? []) }
  }
}
