import AppLifecycle

/// How a run ended, with the evidence.
///
/// A journal knows what the run has written, not what happened to it afterwards. A program that calls `exit` in the foreground,
/// and a machine that loses its power, look like a crash in the foreground.
public struct PreviousExit: Sendable, Hashable {
  /// How a run ended.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// There was none: the journal is new.
    case firstRun
    /// It had its `applicationWillTerminate`, and ended in order.
    case terminated
    /// It was suspended, and never ran again.
    case killedWhileSuspended
    /// It was in the background, and vanished.
    case killedInBackground
    /// It was in the foreground, and vanished.
    case crashedInForeground
    /// It ended after something had overrun its time, and before anything else happened.
    case watchdog
    /// It had not ended, and the device was started anew since.
    case deviceRestarted
    /// It has not ended: another process holds the journal.
    case stillRunning
    /// Unknown: the run never got to a launch, or its beginning cannot be read.
    case unknown
  }

  /// How the run ended.
  public var kind: Kind
  /// The run, as far as it can be read; empty for a first run.
  public var run: RunSummary
  /// The device's present start, for comparison with the run's.
  public var bootID: String?

  /// The end of a run that is over.
  ///
  /// - Parameters:
  ///   - run: the run.
  ///   - bootID: the device's present start; nil where the system does not say.
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
    // A device that only a simulator has, and that restarted in it.
    if hasEnded, run.lastInput == SystemInput.reboot.scriptToken { return .deviceRestarted }
    if !run.overruns.isEmpty { return .watchdog }
    if hasEnded, run.wasToldToEnd { return .terminated }
    if !hasEnded, let before = run.header?.bootID, let bootID, before != bootID { return .deviceRestarted }
    // The state in which it vanished; where it says itself that it is gone, the one before.
    switch hasEnded ? run.stateBefore : run.state {
    case .suspended: return .killedWhileSuspended
    case .background: return .killedInBackground
    case .inactive, .active: return .crashedInForeground
    case .notRunning: return .unknown
    }
  }
}

extension PreviousExit: CustomStringConvertible {
  /// How the run ended, with the evidence, in one line for people.
  public var description: String { "\(kind.text) (\(evidence))" }

  /// The evidence, in words.
  public var evidence: String {
    guard let header = run.header else { return run.damagedLines == 0 ? "the journal is empty" : "no run can be read" }
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
