/// One of the platform's two life cycles, which an application chooses.
///
/// In both, the application has one state, and posts notifications when that state changes. They differ in the delegate
/// that is called.
public enum LifecycleProfile: String, Sendable, Hashable, CaseIterable {
  /// The app-based life cycle: the application's delegate is called at every step, then the notification is posted.
  case application
  /// The scene-based life cycle: each window has a scene with a state and a delegate of its own.
  ///
  /// The application's state is that of its most active scene. The application does not call its own delegate for
  /// foreground and active. It posts its notifications of these steps when, and only when, its state changes.
  case scenes
}
