/// Which of the platform's two life cycles an application follows.
///
/// In both, the application has one state, and its notifications tell when that changes. What differs is which delegate is called.
public enum LifecycleProfile: String, Sendable, Hashable, CaseIterable {
  /// The app-based life cycle: the application's delegate is called at every step, then the notification is posted.
  case application
  /// The scene-based life cycle: each window has a scene with a state and a delegate of its own.
  ///
  /// The application's state is that of its most active scene. Its delegate is told nothing of foreground and active; its
  /// notifications are posted when, and only when, its state changes.
  case scenes
}
