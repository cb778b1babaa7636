/// The object that an ``Application/Scene`` calls at each step of its life cycle, before the notification of that step is posted.
///
/// Every method is optional. Conform in an extension, and write the methods in that extension: there the compiler warns
/// of a method whose name nearly matches. In the body of the class it gives no warning, and the misspelled method is
/// never called.
///
/// Write `@MainActor` before the class. A delegate is `Sendable`, as every class on the main actor is: without `@MainActor` the
/// compiler reports each stored property that can change.
///
/// Callbacks run on the main actor, one after another. When several scenes take the same step, their delegates are
/// called in the order in which the scenes connected. Only then does any of these scenes take its next step. The
/// application's state changes after the last of these calls.
@MainActor public protocol SceneDelegate: AnyObject, Sendable {
  /// Tells the delegate that the scene is about to be connected; the state is unattached.
  ///
  /// If the window had a scene before, ``Application/Scene/session`` is that of the former scene, with its `userInfo`.
  ///
  /// - Parameter scene: the scene whose life cycle it is.
  func sceneWillConnect(_ scene: Application.Scene)
  /// Tells the delegate that the scene is about to enter the foreground; the state is background, or unattached for a
  /// scene that has just been connected.
  ///
  /// - Parameter scene: the scene whose life cycle it is.
  func sceneWillEnterForeground(_ scene: Application.Scene)
  /// Tells the delegate that the scene receives events; the state is active in the foreground.
  ///
  /// - Parameter scene: the scene whose life cycle it is.
  func sceneDidBecomeActive(_ scene: Application.Scene)
  /// Tells the delegate that the scene is about to stop receiving events; the state is still active in the foreground.
  ///
  /// - Parameter scene: the scene whose life cycle it is.
  func sceneWillResignActive(_ scene: Application.Scene)
  /// Tells the delegate that the scene has entered the background.
  ///
  /// - Parameter scene: the scene whose life cycle it is.
  func sceneDidEnterBackground(_ scene: Application.Scene)
  /// Tells the delegate that the scene was disconnected; the state is unattached.
  ///
  /// The system has reclaimed the scene, the user has closed its window, or the application is about to end.
  ///
  /// - Parameter scene: the scene whose life cycle it is.
  func sceneDidDisconnect(_ scene: Application.Scene)
}

extension SceneDelegate {
  /// Does nothing.
  public func sceneWillConnect(_ scene: Application.Scene) {}
  /// Does nothing.
  public func sceneWillEnterForeground(_ scene: Application.Scene) {}
  /// Does nothing.
  public func sceneDidBecomeActive(_ scene: Application.Scene) {}
  /// Does nothing.
  public func sceneWillResignActive(_ scene: Application.Scene) {}
  /// Does nothing.
  public func sceneDidEnterBackground(_ scene: Application.Scene) {}
  /// Does nothing.
  public func sceneDidDisconnect(_ scene: Application.Scene) {}
}
