public import AppLifecycleTesting
public import Testing

/// Checks a program with every script of up to `length` actions, and records the first failure as an issue, with the
/// shortest script.
///
///     @Test @MainActor func `no short script breaks the program`() async throws {
///       try await checkAllScripts(upTo: 5) { run in
///         let server = ServerDouble(run.balance)
///         run.afterEachAction { run.expect(server.clients <= 1, "two clients") }
///         return SimulatedSystem { AppDelegate(server) }
///       }
///     }
///
/// ``ScriptChecker/checkAll(upTo:)`` describes the checks, their order, and the scripts that are pruned.
///
/// - Parameters:
///   - length: the greatest number of actions.
///   - alphabet: the actions of the scripts, as a script.
///   - allowed: the kinds of faults that do not fail the check.
///   - sourceLocation: the place at which the issue is recorded.
///   - make: makes a new program under test and its system for each script.
/// - Returns: the numbers of scripts that were played and pruned, and the failure.
/// - Throws: a `ScriptError` for a mistake in the alphabet, such as a `do:NAME` that `make` did not add; or an error of
///   `make`.
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

/// Checks a program with long scripts of random actions, and records the first failure as an issue, with a
/// shortened script.
///
/// No action of the shortened script can be left out, and its waits are as short as possible. The issue names the seed that makes the failing script again. See ``ScriptChecker/checkRandom(seed:count:length:)``.
///
/// - Parameters:
///   - seed: the seed of the first script; the same seed gives the same scripts.
///   - count: the number of scripts.
///   - length: the number of actions of each script.
///   - alphabet: the actions of the scripts, as a script.
///   - allowed: the kinds of faults that do not fail the check.
///   - sourceLocation: the place at which the issue is recorded.
///   - make: makes a new program under test and its system for each script.
/// - Returns: the number of scripts that were played, and the failure.
/// - Throws: a `ScriptError` for a mistake in the alphabet, such as a `do:NAME` that `make` did not add; or an error of
///   `make`.
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

/// Checks a program with one script, such as the failing script of an earlier check.
///
/// - Parameters:
///   - script: the script.
///   - order: the order in which jobs run that are ready at the same time; that of a failure, ``ScriptFailure/order``, if the fault
///     depends on it.
///   - allowed: the kinds of faults that do not fail the check.
///   - sourceLocation: the place at which issues are recorded, one for each complaint.
///   - make: makes the program under test and its system.
/// - Returns: the faults; empty if there are none.
/// - Throws: a `ScriptError` for a mistake in the script, or an error of `make`.
@MainActor @discardableResult
public func checkScript(
  _ script: String, order: SimulationExecutor.Order = .fifo, allowing allowed: Set<RunComplaint.Kind> = [],
  sourceLocation: SourceLocation = #_sourceLocation,
  of make: @escaping @MainActor (ScriptRun) throws -> SimulatedSystem
) async throws -> [RunComplaint] {
  let complaints = try await ScriptChecker(allowing: allowed, of: make).complaints(about: script, order: order)
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
