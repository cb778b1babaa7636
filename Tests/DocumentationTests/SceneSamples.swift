import AppLifecycle
import AppLifecycleTesting
import Testing

// The sample of Docs/LifeCycle.md about scenes. DocumentationTests compares it word for word.

@MainActor private final class TabsDelegate {}

@MainActor private final class Tab {
  private(set) var draft: String
  private var visits = 0

  init(_ scene: Application.Scene) { draft = scene.session.userInfo["draft"] as? String ?? "new" }

  private func reload() {
    visits += 1
    draft += ", seen"
  }
}

extension TabsDelegate: ApplicationDelegate {
  func application(
    _ application: Application, delegateFor scene: Application.Scene
  ) -> (any SceneDelegate)? { Tab(scene) }
}

extension Tab: SceneDelegate {
  func sceneWillEnterForeground(_ scene: Application.Scene) { reload() }
  func sceneDidEnterBackground(_ scene: Application.Scene) {
    scene.session.userInfo["draft"] = draft
  }
}

@MainActor @Suite struct `The samples about scenes` {
  @Test func `find again what was kept in the session`() async throws {
    let system = SimulatedSystem(profile: .scenes) { TabsDelegate() }
    try await system.play("launch; home; scene:reclaim:main; open; home")
    #expect(system.application.openSessions.first?.userInfo["draft"] as? String == "new, seen, seen")
  }
}
