import AppLifecycle
import AppLifecycleTesting

@testable import PausingGame

/// The game on a simulated device, in windows that are never shown.
@MainActor final class SimulatedGame {
  let system: SimulatedSystem
  /// What the game asked of its windows, in order.
  private(set) var calls: [String] = []
  private var delegate: GameDelegate!

  var session: GameSession { delegate.session! }
  var application: Application { system.application }

  init() {
    var note: @MainActor (String) -> Void = { _ in }
    let delegate = GameDelegate { scene in
      note("open \(scene.rawValue)")
      return Window(scene) { note($0) }
    }
    system = SimulatedSystem { delegate }
    self.delegate = delegate
    note = { [weak self] in self?.calls.append($0) }
  }

  /// Plays a script; returns what the game asked of its windows meanwhile.
  @discardableResult func play(_ script: String) async throws -> [String] {
    let before = calls.count
    try await system.play(script)
    return Array(calls[before...])
  }

  func press(_ key: GameDelegate.Key) { delegate.press(key, in: application) }

  func release(_ key: GameDelegate.Key) { delegate.release(key) }

  private final class Window: GameWindow {
    let scene: SceneIdentifier
    let note: @MainActor (String) -> Void

    init(_ scene: SceneIdentifier, note: @escaping @MainActor (String) -> Void) {
      (self.scene, self.note) = (scene, note)
    }

    func makeTextures() throws { note("make \(scene.rawValue)") }
    func freeTextures() { note("free \(scene.rawValue)") }
    func close() { note("close \(scene.rawValue)") }
  }
}
