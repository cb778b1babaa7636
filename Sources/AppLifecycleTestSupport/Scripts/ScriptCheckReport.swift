public import AppLifecycleTesting

/// The result of a check of many scripts.
public struct ScriptCheckReport: Sendable, Hashable, CustomStringConvertible {
  /// The actions from which the scripts were made.
  public var alphabet: [String]
  /// The number of decided scripts: played and pruned ones.
  ///
  /// A check of all scripts that finds no fault has decided every script up to its length.
  public var scripts: Int { played.addingReportingOverflow(pruned).overflow ? .max : played + pruned }
  /// The number of scripts that were played from launch to end, without the runs for shortening a failure.
  public var played = 0
  /// The number of scripts that were not played, because their run is that of another script.
  ///
  /// Most of them contain an action that the application ignores at that point. `Int.max` means that number or more.
  public var pruned = 0
  /// The first failure; nil if there was none.
  public var failure: ScriptFailure?

  init(alphabet: [String]) { self.alphabet = alphabet }

  /// The numbers on one line and, if there is one, the failure on the lines after it.
  public var description: String {
    let numbers = "\(scripts) scripts of \(alphabet.joined(separator: " ")): \(played) played, \(pruned) pruned"
    return failure.map { "\(numbers)\n\($0)" } ?? numbers
  }
}

/// A script that shows a fault.
public struct ScriptFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The shortened script that shows the fault: without any one of its actions, the fault does not show, unless
  /// ``shorteningError`` is not nil.
  public var script: String
  /// The script that showed the fault first.
  public var foundIn: String
  /// The faults; the first one is the fault for which the script was shortened.
  public var complaints: [RunComplaint]
  /// The seed that makes the same script again, with `checkRandomScripts(seed:count: 1, …)`; nil for a script that was
  /// not random.
  public var seed: UInt64?
  /// The order of jobs that were ready at the same time; the fault may show in no other one.
  public var order = SimulationExecutor.Order.fifo
  /// Whether the fault showed again when the script was played again; if not, the script was not shortened.
  public var isRepeatable = true
  /// The error that ended the shortening early, as text: that of a cancelled task or of a program that could not be made;
  /// nil if there was none.
  public var shorteningError: String?

  /// The complaints and the scripts, on several lines.
  public var description: String {
    var lines = ["The script “\(script)” shows a fault:"] + complaints.map { "  \($0)" }
    if !isRepeatable {
      lines.append("  The fault did not occur again: something in the test depends on more than the script.")
    }
    if let shorteningError {
      lines.append("A shorter script may show it, too: the shortening ended with \(shorteningError).")
    }
    if foundIn != script { lines.append("Found in “\(foundIn)”.") }
    if case .seeded(let number) = order {
      lines.append("Order \(number): checkScript(…, order: .seeded(\(number))) plays the script in the same order.")
    }
    if let seed { lines.append("Seed \(seed): checkRandomScripts(seed: \(seed), count: 1, …) generates it again.") }
    return lines.joined(separator: "\n")
  }

  /// Notes the error that ended the shortening.
  mutating func note(_ error: any Error) { shorteningError = String(describing: error) }
}
