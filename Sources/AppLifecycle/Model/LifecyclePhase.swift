/// A phase of the life cycle, during which the application holds resources and runs bodies.
public enum LifecyclePhase: String, Sendable, Hashable, CaseIterable {
  /// From `didFinishLaunching` to `willTerminate`.
  case running
  /// From `willEnterForeground` to `didEnterBackground`; at a cold launch without scenes it begins with
  /// `didFinishLaunching`.
  case foreground
  /// From `didBecomeActive` to `willResignActive`.
  case active
}
