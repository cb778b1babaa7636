import LifecycleJournal

/// What becomes of a journal's runs, one after another.
protocol TimelinePicture {
  /// A run comes into the picture, with a line of this number.
  mutating func begin(_ session: Int, _ header: RunHeader?, at begin: Duration, line: Int) throws
  /// The next line, and what has ended with it.
  mutating func take(_ line: TimelineLine?, _ ended: [TimelineItem], clock: JournalClockMark?) throws
  /// The run is over: what has ended with it, and how it ended itself.
  mutating func end(_ ended: [TimelineItem], _ exit: PreviousExit) throws
}

/// Reads a journal into a picture, run by run.
///
/// What it holds of a run is what has not ended: its memory does not grow with the journal.
final class TimelineReading<Picture: TimelinePicture> {
  private(set) var picture: Picture
  /// How many scenes and resources went without a lane.
  private(set) var undrawn = 0
  private let path: String
  private let wanted: Selection.Resolved
  private let scan: JournalScan
  private var fold = TimelineFold()
  /// The run that is folded, and how many of its lines have been.
  private var session = 0
  private var line = 0
  private var isInPicture = false
  private var ended: [TimelineItem] = []
  /// The run's last line, where it says that the program still ran.
  ///
  /// Those between two others would be slots without end on the page: nothing happened there.
  private var alive: JournalScan.Item?

  init(of path: String, wanted: Selection.Resolved, scan: JournalScan, into picture: Picture) {
    (self.path, self.wanted, self.scan, self.picture) = (path, wanted, scan, picture)
  }

  /// Reads the journal to its end.
  func run() throws {
    let isHeld = JournalFiles.isHeld(path, files: SystemFiles())
    let bootID = RunFacts.ofThisProcess().bootID
    scan.didEndRun = { [unowned self] session, run, next in
      guard session == self.session else { return }
      if let item = alive, item.session == session { try draw(item) }
      guard isInPicture else { return }
      var exit = PreviousExit(of: run, bootID: next.map(\.bootID) ?? bootID)
      if next == nil, isHeld { exit.kind = .stillRunning }
      ended.removeAll(keepingCapacity: true)
      fold.finish(into: &ended)
      undrawn += fold.undrawn
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

  /// Takes a line into the picture.
  private func draw(_ item: JournalScan.Item) throws {
    guard case .line(let content) = item.entry.content else { return }
    let isTooOld = wanted.isBefore(item)
    if session != item.session {
      (session, line, isInPicture) = (item.session, 0, false)
      fold = TimelineFold()
    }
    // What is too old says how things stood when the picture begins.
    if !isTooOld, !isInPicture, line > 0 { fold.cut() }
    ended.removeAll(keepingCapacity: true)
    let shown = fold.take(content, into: &ended)
    if shown != nil { line += 1 }
    guard !isTooOld, isInPicture || shown != nil else { return }
    if !isInPicture {
      isInPicture = true
      try picture.begin(session, item.run.header, at: fold.begin, line: line - 1)
    }
    try picture.take(shown, ended, clock: content.clockMark)
  }
}

extension JournalLine {
  /// What the line says of the wall clock.
  fileprivate var clockMark: JournalClockMark? {
    switch self {
    case .run(let header): JournalClockMark(instant: header.instant, wallTime: header.wallTime)
    case .clock(let mark): mark
    case .record, .entry, .gap, .alive, .unknown: nil
    }
  }
}
