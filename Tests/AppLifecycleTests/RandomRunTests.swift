import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// Long random scripts on a program that does anything at random: the rules hold, and a seed repeats its run.
@MainActor @Suite(.timeLimit(.hang)) struct `A random run` {
  /// What is compared of two runs of one seed.
  private struct Run: Equatable {
    var script: [String] = []
    var json = ""
    var notes: [String] = []
    var faults: [String] = []
    var foreignWakeUps = 0
  }

  /// What all runs together must have come across, lest the rules hold of nothing.
  private struct Coverage {
    var callbacks: Set<String> = []
    var tokens: Set<String> = []
    var counts: [String: Int] = [:]
  }

  private static let runs: UInt64 = 150
  private static let length = 60

  @Test(arguments: LifecycleProfile.allCases)
  func `keeps all rules, and is the same again with the same seed`(profile: LifecycleProfile) async throws {
    var coverage = Coverage()
    for seed in 0..<Self.runs {
      // Other tests want the main actor, too.
      await Task.yield()
      let run = try await run(seed: seed, profile, &coverage)
      #expect(run.faults.isEmpty, "seed \(seed), \(profile), script: \(run.script.joined(separator: "; "))")
      #expect(run.foreignWakeUps == 0, "seed \(seed), \(profile)")
      guard run.faults.isEmpty, seed.isMultiple(of: 3) else { continue }
      var ignored = Coverage()
      let again = try await self.run(seed: seed, profile, &ignored)
      let difference = zip(again.notes, run.notes).enumerated().first { $1.0 != $1.1 }
      #expect(again.notes.count == run.notes.count, "seed \(seed), \(profile)")
      #expect(difference == nil, "seed \(seed), \(profile)")
      #expect(again.json.utf8.elementsEqual(run.json.utf8), "seed \(seed), \(profile)")
    }
    expect(coverage, of: profile)
  }

  private func run(
    seed: UInt64, _ profile: LifecycleProfile, _ coverage: inout Coverage
  ) async throws -> Run {
    let program = try RandomApplication(seed: seed, profile: profile)
    let system = program.system
    var run = Run()
    func play(_ token: String) async throws {
      run.script.append(token)
      try await system.play(token)
      try await rest(program)
    }
    for _ in 0..<Self.length {
      if program.chance.once(in: 12) { program.restartSomeBody() }
      try await play(program.script.token())
    }
    program.isCalm = true
    // A question that was open may end the application on the way; the second time none is.
    for token in RandomScript.recovery + RandomScript.recovery { try await play(token) }
    if system.application.state != .active { program.fault("\(system.application.state) after all") }
    for resource in program.resources where resource.status != .held {
      program.fault("\(resource.name) is \(resource.status) after all")
    }
    if program.calls.open != Set(system.application.openCalls.map(\.id)) { program.fault("the open calls differ") }
    try await play("kill")
    try await program.end()

    var rules = LifecycleRecordRules(profile: profile)
    for record in system.record { rules.take(record) }
    rules.end()
    run.json = system.record.jsonLines
    run.notes = program.notes
    run.faults = program.faults + program.calls.faults + rules.violations.map { "\($0.place): \($0.message)" }
    run.foreignWakeUps = system.clock.executor.foreignWakeUps
    for record in system.record where record.kind == .delegate { coverage.callbacks.insert(record.name) }
    coverage.tokens.formUnion(run.script.map { $0.split(separator: ":").prefix(2).joined(separator: ":") })
    coverage.counts.merge(program.counts, uniquingKeysWith: +)
    return run
  }

  /// Waits until nothing is under way any more that was handed in from inside.
  private func rest(_ program: RandomApplication) async throws {
    var handedIn: Int
    repeat {
      handedIn = program.handedIn
      try await program.clock.advance(by: .zero)
      // Comes behind all that waits, and does nothing.
      _ = await program.clock.running { [application = program.application] in
        await application.handle(.endInterruption("none"))
      }
    } while handedIn != program.handedIn
    program.checkRest()
  }

  private func expect(_ coverage: Coverage, of profile: LifecycleProfile) {
    var callbacks = Set(ApplicationCallback.allCases.map(\.rawValue))
    if profile == .scenes {
      for callback in [
        ApplicationCallback.didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground,
      ] {
        callbacks.remove(callback.rawValue)
      }
      callbacks.formUnion(SceneCallback.allCases.map(\.rawValue))
    }
    #expect(coverage.callbacks == callbacks)
    let tokens: Set = [
      "launch", "launch:background", "home", "open", "lock", "unlock", "passcode:on", "passcode:off", "interrupt:call",
      "end:call", "switcher", "switcher:return", "switcher:leave", "switcher:kill", "memory", "reclaim", "time",
      "fetch",
      "suspend", "wake", "kill", "quit", "crash", "reboot", "scene:connect", "scene:open", "scene:background",
      "scene:reclaim",
      "scene:close", "wait:5s", "task:begin", "task:end", "mode:begin", "mode:end", "slow:didEnterBackground",
    ]
    #expect(tokens.subtracting(coverage.tokens).isEmpty)
    for what in [
      "acquires", "failed acquires", "releases", "bodies", "operations", "watchdog", "questions", "ends in order",
    ] {
      #expect((coverage.counts[what] ?? 0) > 20, "\(what): \(coverage.counts)")
    }
  }
}
