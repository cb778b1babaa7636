/// The memory of a window, which outlives the window's scenes.
///
/// It remains when the window's scene is reclaimed, and ends when the user closes the window. It lives in memory, as
/// long as the application: a simulated process that ends keeps it, a real one loses it. With saved state (the module SavedState) both
/// lose it, and the next process knows the saved sessions again; ``userInfo`` is not saved.
@MainActor public final class SceneSession {
  /// The window's name.
  public nonisolated let identifier: SceneIdentifier
  /// The window's scene while it is connected; nil otherwise.
  @preconcurrency public internal(set) weak var scene: Application.Scene?
  /// Values that the application keeps for the next scene of the window.
  @preconcurrency public var userInfo: [String: any Sendable] = [:]

  init(identifier: SceneIdentifier) { self.identifier = identifier }

  func sceneDidDisconnect(_ former: Application.Scene) {
    if scene === former { scene = nil }
  }
}
