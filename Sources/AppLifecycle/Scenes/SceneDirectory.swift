/// An application's scenes and their sessions.
@MainActor final class SceneDirectory {
  /// The scenes that are connected, or about to be, in the order in which they connected.
  private(set) var connected: [Scene] = []
  /// The sessions of the windows that were not closed, in the order in which they first connected.
  private(set) var sessions: [SceneSession] = []
  /// As `connected`, and a scene that was disconnected until it has been told so.
  private var scenes: [SceneIdentifier: Scene] = [:]

  subscript(id: SceneIdentifier) -> Scene? { scenes[id] }

  /// Makes a scene in the window's session, which is new for a window that is.
  func connect(_ id: SceneIdentifier, of application: Application) -> Scene {
    let session: SceneSession
    if let known = sessions.first(where: { $0.identifier == id }) {
      session = known
    } else {
      session = SceneSession(identifier: id)
      sessions.append(session)
    }
    let scene = Scene(of: application, in: session)
    scenes[id] = scene
    connected.append(scene)
    return scene
  }

  func disconnect(_ scene: Scene) {
    if let index = connected.firstIndex(where: { $0 === scene }) { connected.remove(at: index) }
  }

  /// Lets go of a scene that was disconnected, and has been told so.
  func forget(_ scene: Scene) {
    scenes[scene.identifier] = nil
    // A delegate often holds its scene.
    scene.delegate = nil
  }

  func endSession(_ id: SceneIdentifier) { sessions.removeAll { $0.identifier == id } }

  /// The process vanishes, and its scenes with it: they are returned, to be told so.
  func loseProcess() -> [Scene] {
    defer { (connected, scenes) = ([], [:]) }
    return connected
  }
}
