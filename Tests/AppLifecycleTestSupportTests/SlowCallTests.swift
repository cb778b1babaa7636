import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import AppLifecycleTestSupport

/// An overrun that a script asks for is no fault, whatever the script has asked with.
@Suite(.timeLimit(.hang)) @MainActor struct `A slow call of a script` {
  private func watched(_ profile: LifecycleProfile) -> (system: SimulatedSystem, watch: RunWatch) {
    let system = SimulatedSystem(profile: profile)
    system.addAction("leave") { [application = system.application] in application.send(.home) }
    system.addAction("end") { [application = system.application] in application.shutDown(status: 0) }
    system.addAction("type") {}
    return (system, RunWatch(system))
  }

  @Test(arguments: [
    "launch; slow:didEnterBackground:6s; home", "launch; slow:didEnterBackground:6s; do:leave",
    "launch; slow:didEnterBackground:6s; do:type; home", "launch; slow:didEnterBackground:6s; host:stop",
    "launch; slow:willTerminate:6s; do:end", "launch; slow:willTerminate:6s; kill",
    "launch; slow:willTerminate:6s; quit", "launch; slow:willTerminate:6s; host:end",
    "launch; slow:shouldTerminate:31s; quit",
  ])
  func `explains its overrun in both profiles`(script: String) async throws {
    for profile in [LifecycleProfile.application, .scenes] {
      let (system, watch) = watched(profile)
      try await system.play(script)
      #expect(!system.application.ledger.overruns.isEmpty, "\(profile)")
      #expect(await watch.end() == [], "\(profile)")
    }
  }

  @Test(arguments: [
    "scene:open:left; slow:sceneDidEnterBackground:6s; scene:background:left",
    "scene:open:left; slow:didEnterBackground:6s; scene:close:left",
  ])
  func `explains the overrun of a window`(script: String) async throws {
    let (system, watch) = watched(.scenes)
    try await system.play(script)
    #expect(!system.application.ledger.overruns.isEmpty)
    #expect(await watch.end() == [])
  }

  @Test(arguments: LifecycleProfile.allCases)
  func `explains the overrun of a handler whose time it has taken, though other actions come between`(
    profile: LifecycleProfile
  ) async throws {
    let (system, watch) = watched(profile)
    let subscription = system.bus.receive(Application.DidEnterBackground.self, label: "save") {
      [clock = system.clock] _ in try await clock.sleep(for: .seconds(3))
    }
    try await system.play("launch; slow:didEnterBackground:4s; do:leave; do:type; wait:10s")
    withExtendedLifetime(subscription) {}
    #expect(system.application.ledger.overruns.count == 1)
    #expect(await watch.end() == [])
  }

  @Test(arguments: LifecycleProfile.allCases)
  func `explains no overrun of an action that begins when it has ended`(profile: LifecycleProfile) async throws {
    let (system, watch) = watched(profile)
    let subscription = system.bus.receive(Application.DidEnterBackground.self, label: "save") {
      [clock = system.clock] _ in try await clock.sleep(for: .seconds(6))
    }
    try await system.play("slow:didBecomeActive:1s; launch; home")
    withExtendedLifetime(subscription) {}
    #expect(watch.complaints.map(\.kind) == [.overrun])
  }
}
