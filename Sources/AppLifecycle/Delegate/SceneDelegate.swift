/// The object that a ``Scene`` calls at each step of its life cycle, before the notification of that step is posted.
///
/// Every method is optional. Conform in an extension, and write the methods in that extension: there the compiler warns of a
/// method whose name nearly matches. In the body of the class it says nothing, and the method is never called.
///
/// Write `@MainActor` before the class. A delegate is `Sendable`, as every class on the main actor is: without `@MainActor` the
/// compiler reports each stored property that can change.
///
/// Callbacks run on the main actor, one after another. Where several scenes take a step at once, each is called in the order
/// in which they connected, before any of them takes the next step; the application's state moves after the last of them.
@MainActor public protocol SceneDelegate: AnyObject, Sendable {
  /// The scene is about to be connected; state unattached. Its ``Scene/session`` may know what it showed before.
  func sceneWillConnect(_ scene: Scene)
  /// The scene is about to come into sight; state background, or unattached if it has just been connected.
  func sceneWillEnterForeground(_ scene: Scene)
  /// The scene receives events; state active in the foreground.
  func sceneDidBecomeActive(_ scene: Scene)
  /// The scene is about to stop receiving events; state *active* in the foreground, still.
  func sceneWillResignActive(_ scene: Scene)
  /// The scene has left the user's sight; state background.
  func sceneDidEnterBackground(_ scene: Scene)
  /// The scene was disconnected: reclaimed, closed, or the application is about to end; state unattached.
  func sceneDidDisconnect(_ scene: Scene)
}

extension SceneDelegate {
  /// Does nothing.
  public func sceneWillConnect(_ scene: Scene) {}
  /// Does nothing.
  public func sceneWillEnterForeground(_ scene: Scene) {}
  /// Does nothing.
  public func sceneDidBecomeActive(_ scene: Scene) {}
  /// Does nothing.
  public func sceneWillResignActive(_ scene: Scene) {}
  /// Does nothing.
  public func sceneDidEnterBackground(_ scene: Scene) {}
  /// Does nothing.
  public func sceneDidDisconnect(_ scene: Scene) {}
}
