import AppLifecycle
import LifecycleJournal

/// How long a run lasted, as far as its journal tells.
struct RunLength {
  /// The length by the wall clock.
  let length: Duration
  /// The time in each state, by the clock of the records.
  let times: [ApplicationState: Duration]
  /// Whether the run lasted so long at least: its last line is not that of a process that ended.
  let isLowerBound: Bool
  /// The state in which the last line leaves the run.
  private let last: ApplicationState

  /// The length of a run.
  ///
  /// - Parameters:
  ///   - run: the run.
  ///   - now: the wall clock's time, since 1970 in UTC, if the program still runs.
  init(of run: RunSummary, runningAt now: Duration?) {
    // A clock that was set back tells nothing.
    let since = now.map { max($0 - run.wallTime(at: run.lastInstant), .zero) } ?? .zero
    length = run.length + since
    var times = run.times
    if since > .zero, run.state != .notRunning { times[run.state, default: .zero] += since }
    self.times = times
    last = run.state
    // A run that only a script has played has no process that could have gone on.
    isLowerBound = now == nil && !run.hasEnded && run.header != nil
  }

  /// The length for people: `≥ 8.0s` where that is a lower bound.
  var words: String { (isLowerBound ? "≥ " : "") + length.brief }

  /// The time in a state for people; nil where there was none.
  func words(for state: ApplicationState) -> String? {
    times[state].map { (isLowerBound && state == last ? "≥ " : "") + $0.brief }
  }
}
