import AppLifecycle
import LifecycleJournal

/// The runs of a page: those that a journal ends with, as far as one page can hold them.
///
/// A browser draws what is on a page; a gigabyte is beyond any. So the latest lines are kept, and those before them counted.
struct TimelineRuns: TimelinePicture {
  /// How many lines of a journal a page shows.
  static let mostLines = 20_000

  private(set) var runs: [TimelineRun] = []
  /// How many runs are left out altogether.
  private(set) var omittedRuns = 0
  /// How many lines of runs that were asked for are left out.
  private(set) var omittedLines = 0
  private let most: Int
  private var count = 0

  init(most: Int = Self.mostLines) { self.most = max(most, 1) }

  mutating func begin(_ session: Int, _ header: RunHeader?, at begin: Duration, line: Int) {
    runs.append(TimelineRun(session: session, header: header, begin: begin, firstLine: line))
  }

  mutating func take(_ line: TimelineLine?, _ ended: [TimelineItem], clock: JournalClockMark?) {
    guard !runs.isEmpty else { return }
    runs[runs.count - 1].take(line, ended, clock: clock)
    guard line != nil else { return }
    count += 1
    // A quarter more than wanted, so that a line costs the same however many are left out.
    if count > most + most / 4 { leaveOut() }
  }

  mutating func end(_ ended: [TimelineItem], _ exit: PreviousExit) {
    guard !runs.isEmpty else { return }
    runs[runs.count - 1].take(nil, ended, clock: nil)
    runs[runs.count - 1].exit = exit
  }

  /// The end of the journal.
  mutating func finish() { leaveOut() }

  private mutating func leaveOut() {
    var excess = count - most
    guard excess > 0 else { return }
    omittedLines += excess
    count = most
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
  /// What is left out, for people, with what to do about it; nil where it is nothing.
  func omission(undrawn: Int) -> String? {
    var sentences: [String] = []
    if omittedLines > 0 {
      let among = omittedRuns == 0 ? "" : ", \(omittedRuns) whole run\(omittedRuns == 1 ? "" : "s") among them"
      sentences.append(
        "a page shows \(most) lines of a journal, and here the latest: the \(omittedLines) before them are left "
          + "out\(among); --session, --since and --until choose others, and a trace (-o trace.json) has all")
    }
    if let undrawn = Self.withoutLane(undrawn) { sentences.append(undrawn) }
    return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
  }

  /// That there were more scenes or resources at one time than have lanes; nil where there were not.
  static func withoutLane(_ undrawn: Int) -> String? {
    guard undrawn > 0 else { return nil }
    return "\(undrawn) bars of scenes or resources are left out, for which there is no lane: there are "
      + "\(TimelineFold.mostLanes) at one time"
  }
}
