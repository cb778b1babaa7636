import AppLifecycle
import AppLifecycleTesting
import Dispatch
import TestTraits
import Testing

/// Work that a script sends through the main queue, as components of iOS do.
@Suite(.timeLimit(.hang)) @MainActor struct `Work that comes by the main queue` {
  /// Calls a closure in the last of several blocks, each of which enqueues the next one.
  private func after(_ blocks: Int, _ body: @escaping @MainActor () -> Void) {
    DispatchQueue.main.async {
      MainActor.assumeIsolated { if blocks > 1 { self.after(blocks - 1, body) } else { body() } }
    }
  }

  @Test(arguments: 1...8) func `is over before time passes`(blocks: Int) async throws {
    let system = SimulatedSystem()
    let clock = system.clock
    var steps: [String] = []
    system.addAction("work") { [application = system.application] in
      application.task {
        await withUnsafeContinuation { continuation in after(blocks) { continuation.resume() } }
        steps.append("woke \(clock.now.offset)")
        try await clock.sleep(for: .seconds(1))
        steps.append("slept \(clock.now.offset)")
      }
    }
    system.addAction("look") { steps.append("looked") }
    try await system.play("launch; do:work; do:look; wait:5s")
    #expect(steps == ["woke 0.0 seconds", "looked", "slept 1.0 seconds"])
  }
}
