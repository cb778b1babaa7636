import AppLifecycle
import AppLifecycleTesting
import TestTraits
import Testing

@testable import AppLifecycleTestSupport

/// The shortest script of all, and checks that are cancelled or fail after they have found something.
@Suite(.timeLimit(.hang)) @MainActor struct `The corners of a script check` {
  private struct NoMoreRuns: Error {}

  /// A program that is wrong in the background, and that calls a closure with the number of each run.
  private func program(
    atRun count: @escaping @MainActor (Int) throws -> Void
  ) -> @MainActor (ScriptRun) throws -> SimulatedSystem {
    var runs = 0
    return { run in
      runs += 1
      try count(runs)
      let system = SimulatedSystem(order: run.order)
      run.afterEachAction { [unowned system] in run.expect(system.application.state != .background, "wrong") }
      return system
    }
  }

  @Test func `A check of all scripts plays the empty one`() async throws {
    let report = try await ScriptChecker(alphabet: "launch") { run in
      run.balance.opened("file")
      run.balance.opened("file")
      return SimulatedSystem()
    }.checkAll(upTo: 2)
    #expect(report.failure?.script == "" && report.failure?.foundIn == "")
    #expect(report.failure?.complaints.map(\.message) == ["“file” was opened while it was already open"])
    #expect(report.played == 1 && report.scripts == 1)
  }

  /// The runs of the search up to the failure, and the first one that plays the failing script again.
  private func runsUpToFailure(
    _ check: @MainActor (ScriptChecker) async throws -> ScriptCheckReport
  ) async throws -> (Int, ScriptFailure) {
    var most = 0
    let report = try await check(ScriptChecker(alphabet: Self.alphabet, of: program { most = $0 }))
    return (most, try #require(report.failure))
  }

  private static let alphabet = "launch interrupt:call end:call lock unlock memory wait:100ms"

  /// A way to check.
  enum Check: String, CaseIterable, Sendable {
    case all, random

    @MainActor func report(of checker: ScriptChecker) async throws -> ScriptCheckReport {
      switch self {
      case .all: try await checker.checkAll(upTo: 2)
      case .random: try await checker.checkRandom(seed: 7, count: 5, length: 12)
      }
    }
  }

  @Test(arguments: Check.allCases)
  func `A check that is cancelled while it shortens a script keeps the failure`(check: Check) async throws {
    let (runs, whole) = try await runsUpToFailure { try await check.report(of: $0) }
    var (kept, lost, unfinished) = (0, 0, 0)
    for last in 1...runs {
      let checker = try ScriptChecker(
        alphabet: Self.alphabet,
        of: program { number in if number == last { withUnsafeCurrentTask { $0?.cancel() } } })
      let result = await Task { try await check.report(of: checker) }.result
      switch result {
      case .success(let report):
        kept += 1
        let failure = try #require(report.failure)
        #expect(failure.foundIn == whole.foundIn && failure.seed == whole.seed && failure.isRepeatable)
        #expect(failure.complaints.map(\.message) == ["wrong"])
        if failure.shorteningError != nil {
          unfinished += 1
          #expect("\(failure)".contains("the shortening ended with CancellationError()"))
        }
        // What is left shows the fault.
        let fault = try await checker.complaints(about: failure.script, order: failure.order)
        #expect(fault == failure.complaints)
      case .failure(let error):
        lost += 1
        #expect(error is CancellationError)
        // Nothing had been found yet.
        #expect(kept == 0)
      }
    }
    // The first random script shows the fault.
    #expect(kept > 1 && unfinished > 0 && (lost > 0 || check == .random))
  }

  @Test func `A shorter script that fails once only does not replace one that fails again`() async throws {
    var hasFailed = false
    let checker = try ScriptChecker(alphabet: Self.alphabet) { run in
      let system = SimulatedSystem(order: run.order)
      // Scripts that are tried to find a shorter one run first in, first out.
      let failsOnce = run.order == .fifo && !hasFailed
      hasFailed = hasFailed || failsOnce
      run.afterEachAction { [unowned system] in
        run.expect(!failsOnce && system.application.state != .background, "wrong")
      }
      return system
    }
    let failure = try #require(try await checker.checkRandom(seed: 7, count: 5, length: 12).failure)
    #expect(hasFailed && failure.isRepeatable && failure.order != .fifo)
    #expect(try await checker.complaints(about: failure.script, order: failure.order) == failure.complaints)
  }

  @Test(arguments: Check.allCases)
  func `So does one whose program cannot be made any more`(check: Check) async throws {
    let (runs, whole) = try await runsUpToFailure { try await check.report(of: $0) }
    let checker = try ScriptChecker(
      alphabet: Self.alphabet, of: program { if $0 == runs { throw NoMoreRuns() } })
    let failure = try await check.report(of: checker).failure
    #expect(failure?.foundIn == whole.foundIn && failure?.isRepeatable == true)
  }
}
