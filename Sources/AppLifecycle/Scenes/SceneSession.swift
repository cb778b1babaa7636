/// What the system remembers of a window: it stays when the window's scene is reclaimed and when the process ends, and ends
/// when the user closes the window.
@MainActor public final class SceneSession {
  /// The window's name.
  public nonisolated let identifier: SceneIdentifier
  /// The window's scene while it is connected.
  public internal(set) weak var scene: Scene?
  /// What the application wants to find again when the window's scene is reconnected.
  public var userInfo: [String: any Sendable] = [:]

  init(identifier: SceneIdentifier) { self.identifier = identifier }

  func sceneDidDisconnect(_ former: Scene) {
    if scene === former { scene = nil }
  }
}
