import AppLifecycle

// The compiler says nothing of all this; if it learns to, Docs/Diagnostics.md may say less.

@MainActor final class InTheBody: ApplicationDelegate {
  private var returns = 0

  func applicationDidBecomActive(_ application: Application) { returns += 1 }
}

@MainActor final class InAnotherExtension: ApplicationDelegate {}

extension InAnotherExtension {
  func applicationDidBecomActive(_ application: Application) {}
}

@MainActor final class WithOtherParameters {}

extension WithOtherParameters: ApplicationDelegate {
  func applicationDidBecomeActive() {}
  func applicationWillResignActive(application: Application) {}
  private func applicationDidEnterBackgroun(_ application: Application) {}
}
