/// An application's scenes and their sessions.
@MainActor final class SceneDirectory {
  /// The scenes that are connected, or about to be, in the order in which they connected.
  private(set) var connected: [Application.Scene] = []
  /// The sessions of the windows that were not closed, in the order in which they first connected.
  private(set) var sessions: [SceneSession] = []
  /// The windows that were closed in this process, in case an earlier one has kept them.
  private var ended: Set<SceneIdentifier> = []
  /// The scenes in `connected`, and disconnected scenes whose `sceneDidDisconnect` has not been called yet.
  private var scenes: [SceneIdentifier: Application.Scene] = [:]

  subscript(id: SceneIdentifier) -> Application.Scene? { scenes[id] }

  /// Creates a scene in the window's session; creates the session, too, for a new window.
  func connect(_ id: SceneIdentifier, of application: Application) -> Application.Scene {
    let session: SceneSession
    if let known = sessions.first(where: { $0.identifier == id }) {
      session = known
    } else {
      session = SceneSession(identifier: id)
      sessions.append(session)
    }
    let scene = Application.Scene(of: application, in: session)
    scenes[id] = scene
    connected.append(scene)
    return scene
  }

  func disconnect(_ scene: Application.Scene) {
    if let index = connected.firstIndex(where: { $0 === scene }) { connected.remove(at: index) }
  }

  /// Releases a disconnected scene after its `sceneDidDisconnect` call.
  func forget(_ scene: Application.Scene) {
    scenes[scene.identifier] = nil
    // A delegate often retains its scene: break the cycle.
    scene.delegate = nil
  }

  /// Adds the sessions of an earlier process, but not those that have ended in this one.
  func restoreSessions(_ identifiers: [SceneIdentifier]) {
    var known = ended.union(sessions.map(\.identifier))
    sessions += identifiers.filter { known.insert($0).inserted }.map(SceneSession.init(identifier:))
  }

  func loseSessions() { (sessions, ended) = ([], []) }

  func hasSession(_ id: SceneIdentifier) -> Bool { sessions.contains { $0.identifier == id } }

  /// Removes the session of a window that was closed, and returns it.
  func endSession(_ id: SceneIdentifier) -> SceneSession? {
    ended.insert(id)
    return sessions.firstIndex { $0.identifier == id }.map { sessions.remove(at: $0) }
  }

  /// Removes all scenes because the process has vanished, and returns them so that the caller can set their final
  /// state.
  func loseProcess() -> [Application.Scene] {
    defer { (connected, scenes) = ([], [:]) }
    return connected
  }
}
