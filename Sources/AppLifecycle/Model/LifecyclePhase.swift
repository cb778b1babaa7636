/// A stretch of the life cycle during which something is to be held.
public enum LifecyclePhase: String, Sendable, Hashable, CaseIterable {
  /// From `didFinishLaunching` to `willTerminate`.
  case running
  /// From `willEnterForeground` (at a cold launch without scenes `didFinishLaunching`) to `didEnterBackground`.
  case foreground
  /// From `didBecomeActive` to `willResignActive`.
  case active
}
