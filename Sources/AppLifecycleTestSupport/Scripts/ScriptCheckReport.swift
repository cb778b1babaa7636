/// What a check of many scripts found.
public struct ScriptCheckReport: Sendable, Hashable, CustomStringConvertible {
  /// The actions of which the scripts were made.
  public var alphabet: [String]
  /// How many scripts were decided: those that were played and those that were pruned.
  ///
  /// A check of all scripts that finds no fault has decided every script of up to so many actions.
  public var scripts: Int { played.addingReportingOverflow(pruned).overflow ? .max : played + pruned }
  /// How many scripts were played from launch to end, without the runs that shrank a failure.
  public var played = 0
  /// How many scripts were not played, as they contain an action that the application ignores at that point.
  ///
  /// Such a script has the run of the shorter script without that action. `Int.max` stands for that many and more.
  public var pruned = 0
  /// What went wrong first; nil if nothing did.
  public var failure: ScriptFailure?

  init(alphabet: [String]) { self.alphabet = alphabet }

  /// The numbers as one line, and the failure, if any, on the lines after it.
  public var description: String {
    let numbers = "\(scripts) scripts of \(alphabet.joined(separator: " ")): \(played) played, \(pruned) pruned"
    return failure.map { "\(numbers)\n\($0)" } ?? numbers
  }
}

/// A script that shows a fault.
public struct ScriptFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The shortest script that was found to show the fault: without any one of its actions the fault does not show.
  public var script: String
  /// The script that showed the fault first.
  public var foundIn: String
  /// What is wrong; the first complaint is the fault for which the script was shrunk.
  public var complaints: [RunComplaint]
  /// Makes the same script again, with `checkRandomScripts(seed:count: 1, …)`; nil for a script that was not random.
  public var seed: UInt64?
  /// Whether the fault showed again when the script was played again; if not, the script was not shrunk.
  public var isRepeatable = true

  /// The complaints and the scripts, on several lines.
  public var description: String {
    var lines = ["The script “\(script)” shows a fault:"] + complaints.map { "  \($0)" }
    if !isRepeatable {
      lines.append("  The fault did not show again: something in the test depends on more than the script.")
    }
    if foundIn != script { lines.append("Found in “\(foundIn)”.") }
    if let seed { lines.append("Seed \(seed): checkRandomScripts(seed: \(seed), count: 1, …) makes it again.") }
    return lines.joined(separator: "\n")
  }
}
