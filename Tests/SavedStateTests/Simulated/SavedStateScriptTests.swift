import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import Foundation
import SavedState
import TestTraits
import Testing

/// A program with saved state, with everything done to it in every order.
@MainActor @Suite(.timeLimit(.hang), .longRunning) struct SavedStateScriptTests {
  private static func checked(_ run: ScriptRun) -> SimulatedSystem {
    let system = Notebook.system(order: run.order)
    run.expectSavedState(of: system)
    return system
  }

  /// What interrupts saves that overlap, often enough that few scripts meet it.
  private static let savesOnly = """
    launch crash home wait:100ms wait:6s do:type do:title do:save do:slow slow:save:100ms slow:save:2s fail:save kill \
    scene:open:b do:type-b scene:close:b
    """

  /// What a script may do.
  enum Actions: CaseIterable { case all, savesOnly }

  /// One of them again: `SEED=… REPETITIONS=1 swift test --filter SavedStateScriptTests`.
  ///
  /// More and longer ones: `REPETITIONS=5000 SCRIPT_LENGTH=30`, which is 10,000 scripts.
  @Test("random scripts: what was acknowledged is found", arguments: Actions.allCases)
  func randomScripts(actions: Actions) async throws {
    let seed = UInt64(ProcessInfo.processInfo.environment["SEED"] ?? "") ?? .random(in: 0...UInt64.max)
    print("random scripts of saved state: SEED=\(seed)")
    let count = repetitions(default: 500)
    let length = ProcessInfo.processInfo.environment["SCRIPT_LENGTH"].flatMap { Int($0) } ?? 12
    let began = ContinuousClock.now
    let report = try await checkRandomScripts(
      seed: seed, count: count, length: length, alphabet: actions == .all ? Notebook.alphabet : Self.savesOnly,
      of: Self.checked)
    print("\(report.played) scripts of \(actions) in \(ContinuousClock.now - began)")
    #expect(report.played == count)
  }

  @Test("all short scripts: what was acknowledged is found") func shortScripts() async throws {
    let began = ContinuousClock.now
    let report = try await checkAllScripts(
      upTo: 4,
      alphabet: "launch home crash kill wait:40s scene:open:b scene:close:b do:type-b do:save slow:save:6s fail:save",
      of: Self.checked)
    print("\(report) in \(ContinuousClock.now - began)")
    #expect(report.scripts > 10_000)
  }

  @Test("the same seed gives the same record") func repeats() async throws {
    let seed = UInt64(ProcessInfo.processInfo.environment["SEED"] ?? "") ?? .random(in: 0...UInt64.max)
    print("records of saved state: SEED=\(seed)")
    func records() async throws -> [[LifecycleRecord]] {
      var systems: [SimulatedSystem] = []
      try await checkRandomScripts(seed: seed, count: 200, length: 30, alphabet: Notebook.alphabet) { run in
        let system = Self.checked(run)
        systems.append(system)
        return system
      }
      return systems.map(\.record)
    }
    let first = try await records()
    #expect(first.count >= 200)
    #expect(try await records() == first)
  }
}
