import AppLifecycle

#if CURED
  @MainActor final class AppDelegate {
    private var launches = 0
  }
#else
  // expect error: actor … cannot conform to global-actor-isolated protocol 'ApplicationDelegate'
  actor AppDelegate: ApplicationDelegate {
    private var launches = 0
  }
#endif

#if CURED
  extension AppDelegate: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) { launches += 1 }
  }
#endif
