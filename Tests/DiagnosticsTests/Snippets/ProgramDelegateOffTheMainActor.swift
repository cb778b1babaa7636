import AppLifecycle
import UnixHost

#if CURED
  @main @MainActor final class AppDelegate {
    private var launches = 0
  }
#else
  @main final class AppDelegate {
    // expect error: stored property … of 'Sendable'-conforming class … is mutable
    private var launches = 0
  }
#endif

extension AppDelegate: MainApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) { launches += 1 }
}
