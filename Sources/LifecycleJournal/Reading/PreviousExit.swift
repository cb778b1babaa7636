public import AppLifecycle

/// How a run ended, with the evidence.
///
/// ``kind`` is the reason, and ``state`` the state in which the process ended. Only evidence makes a crash: a line that the
/// handler of a fatal signal wrote. A process that vanished without a line was killed, as by SIGKILL; a program that calls
/// `exit` itself looks the same. After a restart of the device, a run without an end is ``Kind/deviceRestarted``: a power
/// failure, and also an earlier kill. Where the journal could not be written to the end, and no line shows how the
/// run ended, the end is ``Kind/unknown``.
public struct PreviousExit: Sendable, Hashable {
  /// How a run ended.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// No run was found: the journal is new.
    case firstRun
    /// The run ended in order, after `applicationWillTerminate`.
    case terminated
    /// The process received a fatal signal: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE or SIGSEGV.
    case crashed
    /// The process vanished without a line, as after SIGKILL or a signal that the program does not handle.
    case killed
    /// An overrun of a time limit was reported, and no input, no state other than *not running*, and no `alive` line
    /// followed.
    ///
    /// A host of a real system ends no process for an overrun. A run that ended in order but late is of this kind, too.
    case watchdog
    /// The run has no end, and the device has been restarted since; the process may have been killed before the restart.
    case deviceRestarted
    /// The run has not ended: another process holds the journal's lock.
    case stillRunning
    /// The end is unknown: the run did not reach a launch, or its beginning cannot be read, or the journal could not be
    /// written to the end of the run (``RunSummary/stop``), or the journal's file cannot be opened (``Journal/failure``)
    /// and no run can be read, or a version of the program wrote it whose format is newer.
    case unknown
  }

  /// How the run ended.
  public var kind: Kind
  /// The run, as far as it can be read; empty if no run was found or can be read.
  ///
  /// If the run has several headers, the counts and times may cover only its last part.
  public var run: RunSummary
  /// The identifier of the device's present start, for comparison with the run's.
  public var bootID: String?
  /// The state in which the process ended.
  public var state: ApplicationState { run.endState }

  /// Determines how a run that is over ended.
  ///
  /// - Parameters:
  ///   - run: the run.
  ///   - bootID: the identifier of the device's present start; nil if the system has none.
  public init(of run: RunSummary, bootID: String?) {
    self.init(kind: .ending(run, bootID: bootID), run: run, bootID: bootID)
  }

  init(kind: Kind, run: RunSummary, bootID: String?) {
    (self.kind, self.run, self.bootID) = (kind, run, bootID)
  }
}

extension PreviousExit.Kind {
  fileprivate static func ending(_ run: RunSummary, bootID: String?) -> PreviousExit.Kind {
    if run.isOfNewerVersion { return .unknown }
    guard run.header != nil || run.records > 0 else { return run.damagedLines == 0 ? .firstRun : .unknown }
    let hasEnded = run.state == .notRunning
    if run.crash != nil { return .crashed }
    // A script has restarted the simulated device, or played a crash, which has no signal.
    let action = hasEnded ? run.lastInput.flatMap { DeviceInput(rawValue: $0) } : nil
    if action == .reboot { return .deviceRestarted }
    if action == .crash { return .crashed }
    if !run.overruns.isEmpty, !run.hasOutlivedOverruns { return .watchdog }
    if hasEnded, run.wasToldToEnd { return .terminated }
    if run.stop != nil { return .unknown }
    if !hasEnded, let before = run.header?.bootID, let bootID, before != bootID { return .deviceRestarted }
    return run.endState == .notRunning ? .unknown : .killed
  }
}

extension PreviousExit: CustomStringConvertible {
  /// How the run ended, with the evidence, in one line.
  public var description: String { "\(text) (\(evidence))" }

  /// How the run ended, in words: `crashed in the background, SIGSEGV`.
  public var text: String {
    switch kind {
    case .crashed: "crashed \(place)" + (run.crash.map { ", \($0.signal)" } ?? "")
    case .killed: "killed \(place)"
    case .firstRun, .terminated, .watchdog, .deviceRestarted, .stillRunning, .unknown: kind.text
    }
  }

  private var place: String {
    switch state {
    case .active, .inactive: "in the foreground"
    case .background: "in the background"
    case .suspended: "while suspended"
    // Not by the launches, which may be in a part of the run that is not read.
    case .notRunning: run.stateBefore == .notRunning ? "before its launch" : "after its end"
    }
  }

  /// The evidence, in words.
  public var evidence: String {
    if run.isOfNewerVersion { return "the version of its format is newer than this program" }
    guard let header = run.header else { return kind == .firstRun ? "the journal is empty" : "no run can be read" }
    var facts = ["process \(header.processID), last state \(run.state.rawValue)"]
    // A journal may hold any text, and the evidence is shown on terminals.
    if let last = run.lastRecord { facts.append("last record \(last.kind.rawValue) \(last.name.printable)") }
    if !run.overruns.isEmpty { facts.append(run.overruns.joined(separator: ", ").printable) }
    if kind == .deviceRestarted, let before = header.bootID, let bootID, before != bootID {
      facts.append("boot \(before.printable), now \(bootID)")
    }
    if let stop = run.stop { facts.append("the journal stopped before the end: \(stop.error.printable)") }
    if run.lost > 0 { facts.append("\(run.lost) records missing") }
    if run.damagedLines > 0 { facts.append("\(run.damagedLines) damaged lines") }
    return facts.joined(separator: "; ")
  }
}

extension PreviousExit.Kind {
  /// The kind in words, without the state; ``PreviousExit/text`` has both.
  public var text: String {
    switch self {
    case .firstRun: "first run"
    case .terminated: "terminated"
    case .crashed: "crashed"
    case .killed: "killed"
    case .watchdog: "ended by the watchdog"
    case .deviceRestarted: "the device restarted"
    case .stillRunning: "still running"
    case .unknown: "unknown"
    }
  }
}
