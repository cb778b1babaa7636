import AppLifecycle

/// The delegate of a window's scene: it opens the window, and has textures only while the window is in sight.
@MainActor final class GameScene {
  private let openWindow: @MainActor (SceneIdentifier) -> any GameWindow
  private var window: (any GameWindow)?
  private var textures: ManagedResource<any GameWindow>?

  /// - Parameter openWindow: opens a window for a scene.
  init(openWindow: @escaping @MainActor (SceneIdentifier) -> any GameWindow) { self.openWindow = openWindow }
}

extension GameScene: SceneDelegate {
  func sceneWillConnect(_ scene: Application.Scene) { window = openWindow(scene.identifier) }

  func sceneWillEnterForeground(_ scene: Application.Scene) {
    guard let application = scene.application, let window else { return }
    do {
      textures = try application.manage("textures of \(scene.identifier.rawValue)", while: .foreground) {
        try window.makeTextures()
        return window
      } release: {
        $0.freeTextures()
      }
    } catch {
      preconditionFailure("\(error)")  // two resources of one name: a mistake in this program
    }
  }

  /// Releases this scene's textures alone: the other window may keep the application in the foreground.
  func sceneDidEnterBackground(_ scene: Application.Scene) {
    guard let textures else { return }
    do { try scene.application?.unmanage(textures) } catch { preconditionFailure("\(error)") }
    self.textures = nil
  }

  func sceneDidDisconnect(_ scene: Application.Scene) {
    window?.close()
    window = nil
  }
}
