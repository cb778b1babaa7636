import AppLifecycle

/// How a run ended, with the evidence.
///
/// A journal contains what the run has written, but not what happened to the process afterward. So a program that calls
/// `exit` in the foreground looks like a crash. After a restart of the device, a run without an end is
/// ``Kind/deviceRestarted``: a power failure, and also an earlier crash or kill.
public struct PreviousExit: Sendable, Hashable {
  /// How a run ended.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// No run was found: the journal is new.
    case firstRun
    /// The run ended in order, after `applicationWillTerminate`.
    case terminated
    /// The application was suspended, and did not run again.
    case killedWhileSuspended
    /// The process died in the background.
    case killedInBackground
    /// The process died in the foreground.
    case crashedInForeground
    /// An overrun of a time limit was reported, and no input and no state other than *not running* followed.
    ///
    /// A host of a real system ends no process for an overrun. A run that ended in order but late is of this kind, too.
    case watchdog
    /// The run has no end, and the device has been restarted since; the program may have crashed before the restart.
    case deviceRestarted
    /// The run has not ended: another process holds the journal's lock.
    case stillRunning
    /// The end is unknown: the run did not reach a launch, or its beginning cannot be read, or the journal's file cannot
    /// be opened (``Journal/failure``) and no run can be read.
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
    guard run.header != nil || run.records > 0 else { return run.damagedLines == 0 ? .firstRun : .unknown }
    let hasEnded = run.state == .notRunning
    // A simulated device that was restarted by the script.
    if hasEnded, run.lastInput == SystemInput.reboot.scriptToken { return .deviceRestarted }
    if !run.overruns.isEmpty { return .watchdog }
    if hasEnded, run.wasToldToEnd { return .terminated }
    if !hasEnded, let before = run.header?.bootID, let bootID, before != bootID { return .deviceRestarted }
    // The state in which the process died; if the record says that it was gone, the state before that.
    switch hasEnded ? run.stateBefore : run.state {
    case .suspended: return .killedWhileSuspended
    case .background: return .killedInBackground
    case .inactive, .active: return .crashedInForeground
    case .notRunning: return .unknown
    }
  }
}

extension PreviousExit: CustomStringConvertible {
  /// How the run ended, with the evidence, in one line.
  public var description: String { "\(kind.text) (\(evidence))" }

  /// The evidence, in words.
  public var evidence: String {
    guard let header = run.header else { return kind == .firstRun ? "the journal is empty" : "no run can be read" }
    var facts = ["process \(header.processID), last state \(run.state.rawValue)"]
    if let last = run.lastRecord { facts.append("last record \(last.kind.rawValue) \(last.name)") }
    if !run.overruns.isEmpty { facts.append(run.overruns.joined(separator: ", ")) }
    if kind == .deviceRestarted, let before = header.bootID, let bootID, before != bootID {
      facts.append("boot \(before), now \(bootID)")
    }
    if run.lost > 0 { facts.append("\(run.lost) records missing") }
    if run.damagedLines > 0 { facts.append("\(run.damagedLines) damaged lines") }
    return facts.joined(separator: "; ")
  }
}

extension PreviousExit.Kind {
  /// The kind in words.
  public var text: String {
    switch self {
    case .firstRun: "first run"
    case .terminated: "terminated"
    case .killedWhileSuspended: "killed while suspended"
    case .killedInBackground: "killed in the background"
    case .crashedInForeground: "crashed in the foreground"
    case .watchdog: "ended by the watchdog"
    case .deviceRestarted: "the device restarted"
    case .stillRunning: "still running"
    case .unknown: "unknown"
    }
  }
}
