import LifecycleJournal

/// The consumer of a journal's runs, one after another: a page or a trace.
protocol TimelinePicture {
  /// Begins a run, whose first shown line has this number.
  mutating func begin(_ session: Int, _ header: RunHeader?, at begin: Duration, line: Int) throws
  /// Takes the next line, and the bars and marks that ended with it.
  mutating func take(_ line: TimelineLine?, _ ended: [TimelineItem], clock: JournalClockMark?) throws
  /// Ends the run: takes the bars that last until its end, and the way in which it ended.
  mutating func end(_ ended: [TimelineItem], _ exit: PreviousExit) throws
}

/// Reads a journal into a picture, run by run.
///
/// It holds only the calls and states of a run that have not ended, so its memory does not grow with the journal.
final class TimelineReading<Picture: TimelinePicture> {
  private(set) var picture: Picture
  /// The number of bars of scenes and resources that had no lane.
  private(set) var undrawn = 0
  private let path: String
  private let wanted: Selection.Resolved
  private let scan: JournalScan
  private var bars = TimelineBars()
  /// The run whose bars are being made, and the number of its lines so far.
  private var session = 0
  private var line = 0
  private var isInPicture = false
  /// The last wall-clock time that a line of the run gives.
  private var mark: JournalClockMark?
  private var ended: [TimelineItem] = []
  /// The run's last line, if it is an `alive` line.
  ///
  /// `alive` lines between two other lines are not drawn: each would take a slot on the page, and nothing happened there.
  private var alive: JournalScan.Item?

  init(of path: String, wanted: Selection.Resolved, scan: JournalScan, into picture: Picture) {
    (self.path, self.wanted, self.scan, self.picture) = (path, wanted, scan, picture)
  }

  /// Reads the journal to its end.
  func run() throws {
    scan.didEndRun = { [unowned self] session, run, next in
      guard session == self.session else { return }
      if let item = alive, item.session == session { try draw(item) }
      guard isInPicture else { return }
      let exit = scan.exit(of: run, before: next)
      ended.removeAll(keepingCapacity: true)
      bars.finish(into: &ended)
      undrawn += bars.undrawn
      try picture.end(ended, exit)
    }
    try scan.read(path) { try take($0) }
    try scan.finish()
    scan.sumUpComplaints()
  }

  private func take(_ item: JournalScan.Item) throws {
    guard wanted.includesRun(of: item), !wanted.isAfter(item) else { return }
    let isTooOld = wanted.isBefore(item)
    if !isTooOld { scan.complain(about: item) }
    guard item.session > 0, case .line(let content) = item.entry.content else { return }
    if case .alive = content {
      alive = item
    } else {
      alive = nil
      try draw(item)
    }
  }

  /// Adds a line to the picture.
  private func draw(_ item: JournalScan.Item) throws {
    guard case .line(let content) = item.entry.content else { return }
    let isTooOld = wanted.isBefore(item)
    if session != item.session {
      (session, line, isInPicture, mark) = (item.session, 0, false, nil)
      bars = TimelineBars()
    }
    // Lines that are too old are taken, but not drawn: they give the states at the beginning of the picture.
    if !isTooOld, !isInPicture, line > 0 { bars.cut() }
    ended.removeAll(keepingCapacity: true)
    let shown = bars.take(content, into: &ended)
    if shown != nil { line += 1 }
    mark = content.clockMark ?? mark
    guard !isTooOld, isInPicture || shown != nil else { return }
    if isInPicture { return try picture.take(shown, ended, clock: content.clockMark) }
    isInPicture = true
    try picture.begin(session, item.run.header, at: bars.begin, line: line - 1)
    // The line that gives the time of the first lines may be too old.
    try picture.take(shown, ended, clock: mark)
  }
}

extension JournalLine {
  /// The wall-clock time that the line gives.
  fileprivate var clockMark: JournalClockMark? {
    switch self {
    case .run(let header): JournalClockMark(of: header)
    case .clock(let mark): mark
    case .record, .entry, .gap, .crash, .stopped, .alive, .unknown: nil
    }
  }
}
