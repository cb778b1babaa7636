import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// The same script gives the same record.
///
/// `REPETITIONS` says how often it is run, as the continuous integration does.
@MainActor @Suite(.timeLimit(.hang)) struct `A script that is repeated` {
  private struct Run: Equatable {
    var json: String
    var notes: [String]
    var foreignWakeUps: Int
  }

  private static let repetitions = TestTraits.repetitions(default: 100)

  @Test(arguments: [LifecycleProfile.application, .scenes])
  func `gives the same record byte for byte every time, with asynchronous handlers and resources`(
    profile: LifecycleProfile
  ) async throws {
    let first = try await run(profile)
    #expect(first.json.utf8.count > 3_000 && first.notes.count > 20 && first.foreignWakeUps == 0)
    #expect(first.json.contains("watchdog:late"))
    for number in 2...max(2, Self.repetitions) {
      // Other tests want the main actor, too.
      await Task.yield()
      let next = try await run(profile)
      // Text that long is not to be printed a thousand times.
      guard next == first else {
        Issue.record("run \(number) differs: \(next.notes.difference(from: first.notes))")
        return
      }
    }
  }

  private func run(_ profile: LifecycleProfile) async throws -> Run {
    let system = SimulatedSystem(profile: profile)
    let (clock, application) = (system.clock, system.application)
    let program = RepeatedProgram(clock: clock)
    let database = try application.manage("database", while: .running) {
      try await program.work("acquire database", taking: 30)
    } release: {
      try await program.work("release database", taking: 20)
    }
    var attempts = 0
    try application.manage("socket", while: .foreground, after: database) { _ in
      attempts += 1
      if attempts == 1 { throw CancellationError() }
      try await program.work("acquire socket", taking: 5)
    } release: {
      try await program.work("release socket", taking: 7)
    }
    let subscriptions = [
      system.bus.receive(Application.DidBecomeActive.self) { _ in try await program.work("active", taking: 40) },
      system.bus.receive(Application.DidEnterBackground.self) { _ in
        try await program.work("background", taking: 7)
      },
      system.bus.receive(Application.DidEnterBackground.self) { _ in await program.elsewhere("background") },
      system.bus.receive(Application.WillTerminate.self, label: "late") { _ in
        try await program.work("end", taking: 60_000)
      },
    ]
    let caller = TaskStarter(clock: clock).start {
      await application.run(while: .active) { try? await program.work("body", taking: 100_000) }
    }
    try await system.play("launch; wait:1s; interrupt:call; end:call; home; wait:1m; open; wait:1s; kill")
    caller.cancel()
    await clock.settle()
    withExtendedLifetime(subscriptions) {}
    return Run(json: system.record.jsonLines, notes: program.notes, foreignWakeUps: clock.executor.foreignWakeUps)
  }
}

@MainActor private final class RepeatedProgram {
  let clock: ManualClock
  private(set) var notes: [String] = []

  init(clock: ManualClock) { self.clock = clock }

  func work(_ what: String, taking milliseconds: Int) async throws {
    notes.append("\(what) begins at \(clock.now.offset)")
    defer { notes.append("\(what) ends at \(clock.now.offset)") }
    try await clock.sleep(for: .milliseconds(milliseconds))
  }

  /// Does some of it off the main actor.
  @concurrent nonisolated func elsewhere(_ what: String) async {
    await Task.yield()
    await note("\(what), elsewhere")
  }

  private func note(_ what: String) { notes.append(what) }
}
