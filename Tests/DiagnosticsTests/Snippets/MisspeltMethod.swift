import AppLifecycle

@MainActor final class AppDelegate {
  private var returns = 0
}

extension AppDelegate: ApplicationDelegate {
  #if CURED
    func applicationDidBecomeActive(_ application: Application) { returns += 1 }
  #else
    // expect warning: instance method … nearly matches defaulted requirement … of protocol 'ApplicationDelegate'
    func applicationDidBecomActive(_ application: Application) { returns += 1 }
  #endif
}

@MainActor final class Window {
  private var returns = 0
}

extension Window: SceneDelegate {
  #if CURED
    func sceneDidBecomeActive(_ scene: Application.Scene) { returns += 1 }
  #else
    // expect warning: instance method … nearly matches defaulted requirement … of protocol 'SceneDelegate'
    func sceneDidBecomesActive(_ scene: Application.Scene) { returns += 1 }
  #endif
}
