import AppLifecycle

@MainActor final class AppDelegate {
  private func save() async {}
}

extension AppDelegate: ApplicationDelegate {
  #if CURED
    func applicationWillResignActive(_ application: Application) {
      application.performBackgroundTask(named: "save") { await self.save() }
    }
  #else
    func applicationWillResignActive(_ application: Application) {
      // expect error: 'async' call in a function that does not support concurrency
      await save()
    }

    // expect warning: instance method … nearly matches defaulted requirement … of protocol 'ApplicationDelegate'
    func applicationDidEnterBackground(_ application: Application) async { await save() }
  #endif
}
