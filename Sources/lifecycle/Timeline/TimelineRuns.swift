import AppLifecycle
import LifecycleJournal

/// The runs of a page: the last ones of a journal, as many as one page can hold.
///
/// No browser can draw a gigabyte. So the latest lines are kept, and those before them are only counted.
struct TimelineRuns: TimelinePicture {
  /// The largest number of lines that a page shows.
  static let mostLines = 20_000

  private(set) var runs: [TimelineRun] = []
  /// The number of runs that are left out as a whole.
  private(set) var omittedRuns = 0
  /// The number of selected lines that are left out.
  private(set) var omittedLines = 0
  private var count = 0

  mutating func begin(_ session: Int, _ header: RunHeader?, at begin: Duration, line: Int) {
    runs.append(TimelineRun(session: session, header: header, begin: begin, firstLine: line))
  }

  mutating func take(_ line: TimelineLine?, _ ended: [TimelineItem], clock: JournalClockMark?) {
    guard !runs.isEmpty else { return }
    runs[runs.count - 1].take(line, ended, clock: clock)
    guard line != nil else { return }
    count += 1
    // Keeps up to a quarter more than wanted before it removes lines, so that the cost of a line is constant on average.
    if count > Self.mostLines + Self.mostLines / 4 { leaveOut() }
  }

  mutating func end(_ ended: [TimelineItem], _ exit: PreviousExit) {
    guard !runs.isEmpty else { return }
    runs[runs.count - 1].take(nil, ended, clock: nil)
    runs[runs.count - 1].exit = exit
  }

  /// Ends the journal.
  mutating func finish() { leaveOut() }

  private mutating func leaveOut() {
    var excess = count - Self.mostLines
    guard excess > 0 else { return }
    omittedLines += excess
    count = Self.mostLines
    var gone = 0
    while excess > 0 {
      let lines = runs[gone].lines.count
      if lines > excess {
        runs[gone].leaveOut(excess)
        break
      }
      excess -= lines
      gone += 1
    }
    omittedRuns += gone
    runs.removeFirst(gone)
  }
}

extension TimelineRuns {
  /// A text that says what is left out, and how to show it; nil if nothing is left out.
  func omission(undrawn: Int) -> String? {
    var sentences: [String] = []
    if omittedLines > 0 {
      let among = omittedRuns == 0 ? "" : ", \(omittedRuns) whole run\(omittedRuns == 1 ? "" : "s") among them"
      sentences.append(
        "a page shows the latest \(Self.mostLines) lines of a journal: the \(omittedLines) before them are left "
          + "out\(among); --session, --since and --until choose others, and a trace (-o trace.json) has all")
    }
    if let undrawn = Self.withoutLane(undrawn) { sentences.append(undrawn) }
    return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
  }

  /// A text that says how many bars had no lane; nil if there were none.
  static func withoutLane(_ undrawn: Int) -> String? {
    guard undrawn > 0 else { return nil }
    return "\(undrawn) bars of scenes or resources are left out: "
      + "at most \(TimelineBars.mostLanes) have a lane at one time"
  }
}
