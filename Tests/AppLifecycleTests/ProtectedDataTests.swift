import AppLifecycle
import AppLifecycleTesting
import Observation
import PubSub
import Scheduling
import Testing

/// `isProtectedDataAvailable`, where the two notifications are posted and where they are not.
@Suite @MainActor struct `Protected data` {
  private func isAvailable(after script: String) async throws -> Bool {
    let system = SimulatedSystem()
    try await system.play(script)
    return system.application.isProtectedDataAvailable
  }

  @Test(arguments: [
    ("launch", true), ("passcode:on; launch", true), ("launch; lock", true), ("passcode:on; launch; lock", false),
    ("passcode:on; launch; lock; unlock", true), ("passcode:on; launch; lock; passcode:off", false),
    // No notification is posted in these.
    ("passcode:on; lock", false), ("passcode:on; lock; fetch", false), ("passcode:on; lock; unlock; fetch", true),
    ("passcode:on; launch; lock; wait:6s", false), ("passcode:on; launch; lock; wait:6s; unlock", true),
    ("passcode:on; launch; home; wait:6s; lock", false), ("passcode:on; launch; lock; kill", false),
    ("passcode:on; launch; lock; kill; unlock", true), ("passcode:on; launch; lock; crash; reboot", true),
  ])
  func `is right in every state`(script: String, isAvailable: Bool) async throws {
    #expect(try await self.isAvailable(after: script) == isAvailable)
  }

  @Test func `stays readable through the handlers of a lock, and is readable in those of an unlock`() async throws {
    let system = SimulatedSystem()
    var seen: [String] = []
    func follow<E: ApplicationEvent>(_ type: E.Type) -> EventBus.Subscription {
      system.bus.subscribe(to: type) { event in
        seen.append("\(E.callback.shortName) \(event.application.isProtectedDataAvailable)")
      }
    }
    let subscriptions = [
      follow(Application.DidEnterBackground.self), follow(Application.ProtectedDataWillBecomeUnavailable.self),
      follow(Application.ProtectedDataDidBecomeAvailable.self), follow(Application.WillEnterForeground.self),
    ]
    try await system.play("passcode:on; launch; lock")
    seen.append("locked \(system.application.isProtectedDataAvailable)")
    try await system.play("unlock")
    #expect(
      seen == [
        "didEnterBackground true", "protectedDataWillBecomeUnavailable true", "locked false",
        "protectedDataDidBecomeAvailable true", "willEnterForeground true",
      ])
    subscriptions.forEach { $0.cancel() }
  }

  @Test func `is observable`() async throws {
    let system = SimulatedSystem()
    try await system.play("passcode:on; launch")
    let changes = Guarded(0)
    withObservationTracking {
      _ = system.application.isProtectedDataAvailable
    } onChange: {
      changes.withLock { $0 += 1 }
    }
    try await system.play("home; open")
    #expect(changes.withLock { $0 } == 0)
    try await system.play("lock")
    #expect(changes.withLock { $0 } == 1)
  }
}
