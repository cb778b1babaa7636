import AppLifecycle
import PubSub

@MainActor final class Draft {
  init(bus: EventBus) {}
}

#if CURED
  @MainActor final class AppDelegate {
    private var draft: Draft?
  }
#else
  final class AppDelegate {
    // expect error: stored property … of 'Sendable'-conforming class … is mutable
    private var draft: Draft?
  }
#endif

extension AppDelegate: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) { draft = Draft(bus: application.bus) }
}
