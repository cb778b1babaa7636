import AppLifecycle

@MainActor final class AppDelegate {
  private var launches = 0
}

#if CURED
  extension AppDelegate: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) { launches += 1 }
  }
#else
  // expect error: cannot form main actor-isolated conformance of … to SendableMetatype-inheriting protocol 'ApplicationDelegate'
  // expect error: type … does not conform to protocol 'ApplicationDelegate'
  extension AppDelegate: @MainActor ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) { launches += 1 }
  }
#endif
