import AppLifecycle
import AppLifecycleTesting
import Foundation
import LifecycleJournal
import PubSub

/// A journal with some of everything: the runs of a program that has scenes, resources, handlers and a background task.
@MainActor enum TripsJournal {
  /// Two runs of the program on a simulated system, an hour apart; the second one is slow, and the watchdog ends it.
  static func write(to path: String) async throws {
    try await write(
      to: path, number: 0, profile: .scenes,
      "launch; wait:20s; scene:open:map; wait:5s; interrupt:call; wait:40s; end:call; wait:10s; home; wait:30m; open;"
        + "wait:1m; memory; wait:3s; scene:close:map; kill")
    try await write(
      to: path, number: 1, profile: .application, thumbnails: .seconds(8),
      "passcode:on; launch; wait:90s; lock")
  }

  private static func write(
    to path: String, number: Int, profile: LifecycleProfile, thumbnails: Duration = .milliseconds(700), _ script: String
  ) async throws {
    let system = SimulatedSystem(profile: profile)
    let (application, bus, clock) = (system.application, system.bus, system.clock)
    let start = Duration.seconds(1_795_280_400 + 7_200 * number)
    let facts = RunFacts(
      program: "trips", processID: Int32(4_711 + number), bootID: "boot", wallTime: { start + clock.now.offset })
    let journal = Journal(
      at: path, of: application, configuration: Journal.Configuration(), files: SystemFiles(), facts: facts)
    func take(_ milliseconds: Int) async throws { try await clock.sleep(for: .milliseconds(milliseconds)) }

    let database = try application.manage("database", while: .running) {
      try await take(180)
    } release: {
      try? await take(90)
    }
    try application.manage("feed", while: .foreground, after: database) { _ in
      try await take(420)
    } release: { _ in
      try? await take(60)
    }
    try application.manage("location", while: .active) {
      try await take(40)
    } release: {
      try? await take(5)
    }
    let subscriptions = [
      bus.subscribe(to: Application.WillEnterForeground.self, label: "trip list") { _ in
        clock.passWithoutWaking(.milliseconds(24))
      },
      bus.receive(Application.DidEnterBackground.self, label: "save draft") { _ in try await take(300) },
      bus.receive(Application.DidEnterBackground.self, label: "thumbnails") { _ in
        try await clock.sleep(for: thumbnails)
      },
      bus.subscribe(to: Application.WillResignActive.self) { _ in
        application.performBackgroundTask(named: "upload") { try? await take(12_000) }
      },
    ]
    try await system.play(script)
    withExtendedLifetime(subscriptions) { journal.close() }
  }
}
