import AppLifecycle
import LifecycleJournal

/// The length of a run, as far as its journal shows it.
struct RunLength {
  /// The length, sleep included.
  let length: Duration
  /// The time in each state, by the clock of the records.
  let times: [ApplicationState: Duration]
  /// Whether the length is a lower bound: the last line does not show the end of the process.
  let isLowerBound: Bool
  /// The state after the last line.
  private let last: ApplicationState

  /// Computes the length of a run.
  ///
  /// - Parameters:
  ///   - run: the run.
  ///   - facts: the present clocks, if the program still runs.
  init(of run: RunSummary, runningBy facts: RunFacts?) {
    let since = facts.map { max(Self.sinceLastLine(of: run, by: $0), .zero) } ?? .zero
    length = run.length + since
    var times = run.times
    if since > .zero, run.state != .notRunning { times[run.state, default: .zero] += since }
    self.times = times
    last = run.state
    // A run that only a script has played has no process that could have gone on.
    isLowerBound = facts == nil && !run.hasEnded && run.header != nil
  }

  private static func sinceLastLine(of run: RunSummary, by facts: RunFacts) -> Duration {
    if let last = run.uptime(at: run.lastInstant), let now = facts.uptime() { return now - last }
    // A journal of an earlier version. The difference is meaningless if the clock was set.
    return facts.wallTime() - run.wallTime(at: run.lastInstant)
  }

  /// The length as text: `≥ 8.0s` if it is a lower bound.
  var words: String { (isLowerBound ? "≥ " : "") + length.brief }

  /// The time in a state as text; nil if the run was never in it.
  func words(for state: ApplicationState) -> String? {
    times[state].map { (isLowerBound && state == last ? "≥ " : "") + $0.brief }
  }
}
