public import AppLifecycleTesting
public import Testing

/// Checks a program with every script of up to so many actions, and records the first failure, shrunk, as an issue.
///
///     @Test @MainActor func `no short script breaks the program`() async throws {
///       try await checkAllScripts(upTo: 5) { run in
///         let server = ServerDouble(run.balance)
///         run.afterEachAction { run.expect(server.clients <= 1, "two clients") }
///         return SimulatedSystem(delegate: AppDelegate(server))
///       }
///     }
///
/// See ``ScriptChecker/checkAll(upTo:)`` for what is checked, in which order, and which scripts are pruned.
///
/// - Parameters:
///   - length: the greatest number of actions.
///   - alphabet: the actions of which scripts are made, as a script.
///   - allowed: the kinds of faults that are no failure.
///   - sourceLocation: where the issue is recorded.
///   - make: makes the program under test and its system, anew for each script.
/// - Returns: how many scripts were played and pruned, and the failure.
/// - Throws: a mistake in the alphabet, or what making the program throws.
@MainActor @discardableResult
public func checkAllScripts(
  upTo length: Int, alphabet: String = ScriptAlphabet.standard, allowing allowed: Set<RunComplaint.Kind> = [],
  sourceLocation: SourceLocation = #_sourceLocation,
  of make: @escaping @MainActor (ScriptRun) throws -> SimulatedSystem
) async throws -> ScriptCheckReport {
  let checker = try ScriptChecker(alphabet: alphabet, allowing: allowed, of: make)
  let report = try await checker.checkAll(upTo: length)
  report.record(at: sourceLocation)
  return report
}

/// Checks a program with long scripts of random actions, and records the first failure, shrunk, as an issue.
///
/// The issue names the seed that makes the failing script again. See ``ScriptChecker/checkRandom(seed:count:length:)``.
///
/// - Parameters:
///   - seed: the seed of the first script; the same seed gives the same scripts.
///   - count: how many scripts.
///   - length: how many actions each has.
///   - alphabet: the actions of which scripts are made, as a script.
///   - allowed: the kinds of faults that are no failure.
///   - sourceLocation: where the issue is recorded.
///   - make: makes the program under test and its system, anew for each script.
/// - Returns: how many scripts were played, and the failure.
/// - Throws: a mistake in the alphabet, or what making the program throws.
@MainActor @discardableResult
public func checkRandomScripts(
  seed: UInt64, count: Int, length: Int = 20, alphabet: String = ScriptAlphabet.extended,
  allowing allowed: Set<RunComplaint.Kind> = [], sourceLocation: SourceLocation = #_sourceLocation,
  of make: @escaping @MainActor (ScriptRun) throws -> SimulatedSystem
) async throws -> ScriptCheckReport {
  let checker = try ScriptChecker(alphabet: alphabet, allowing: allowed, of: make)
  let report = try await checker.checkRandom(seed: seed, count: count, length: length)
  report.record(at: sourceLocation)
  return report
}

/// Checks a program with one script, such as one that a check of many scripts has shrunk a failure to.
///
/// - Parameters:
///   - script: the script.
///   - allowed: the kinds of faults that are no failure.
///   - sourceLocation: where issues are recorded, one for each complaint.
///   - make: makes the program under test and its system.
/// - Returns: what is wrong; empty if nothing is.
/// - Throws: a mistake in the script, or what making the program throws.
@MainActor @discardableResult
public func checkScript(
  _ script: String, allowing allowed: Set<RunComplaint.Kind> = [], sourceLocation: SourceLocation = #_sourceLocation,
  of make: @escaping @MainActor (ScriptRun) throws -> SimulatedSystem
) async throws -> [RunComplaint] {
  let complaints = try await ScriptChecker(allowing: allowed, of: make).complaints(about: script)
  for complaint in complaints {
    Issue.record(Comment(rawValue: "“\(script)”: \(complaint)"), sourceLocation: sourceLocation)
  }
  return complaints
}

extension ScriptCheckReport {
  fileprivate func record(at sourceLocation: SourceLocation) {
    if let failure { Issue.record(failure, sourceLocation: sourceLocation) }
  }
}
