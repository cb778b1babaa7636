import PubSub

// The notifications of a scene, nested in their sender.

extension Application.Scene {
  /// A notification that the scene is about to be connected; the state is unattached.
  ///
  /// On the main actor, a handler of `receive` runs after the change; on another actor it may run before.
  public struct WillConnect: SceneEvent {
    /// The scene whose life cycle it is.
    public let scene: Application.Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition
  }

  /// A notification that the scene is about to enter the foreground; the state is background, or unattached for a scene
  /// that has just been connected.
  ///
  /// On the main actor, a handler of `receive` runs after the change; on another actor it may run before.
  public struct WillEnterForeground: SceneEvent {
    /// The scene whose life cycle it is.
    public let scene: Application.Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition
  }

  /// A notification that the scene receives events; the state is active in the foreground.
  public struct DidActivate: SceneEvent {
    /// The scene whose life cycle it is.
    public let scene: Application.Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition
  }

  /// A notification that the scene is about to stop receiving events; the state is still active in the foreground.
  ///
  /// Handlers are called in reverse order: the latest subscriber first.
  ///
  /// On the main actor, a handler of `receive` runs after the change; on another actor it may run before.
  public struct WillDeactivate: SceneEvent {
    /// The scene whose life cycle it is.
    public let scene: Application.Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition
  }

  /// A notification that the scene has entered the background.
  ///
  /// Handlers are called in reverse order: the latest subscriber first.
  public struct DidEnterBackground: SceneEvent {
    /// The scene whose life cycle it is.
    public let scene: Application.Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition
  }

  /// A notification that the scene was disconnected; the state is unattached.
  ///
  /// The system has reclaimed the scene, the user has closed its window, or the application is about to end.
  ///
  /// Handlers are called in reverse order: the latest subscriber first.
  public struct DidDisconnect: SceneEvent {
    /// The scene whose life cycle it is.
    public let scene: Application.Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition
  }
}
