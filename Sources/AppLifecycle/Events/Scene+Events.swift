public import PubSub

// The notifications of a scene, nested in their sender.

extension Scene {
  /// The scene is about to be connected; state unattached.
  public struct WillConnect: SceneEvent {
    /// The delegate call that the event follows.
    public static var callback: SceneCallback { .willConnect }
    /// The scene whose life cycle it is.
    public let scene: Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition

    /// Creates the event for a step of the life cycle.
    public init(scene: Scene, transition: SceneTransition) {
      self.scene = scene
      self.transition = transition
    }
  }

  /// The scene is about to come into sight; state background, or unattached if it has just been connected.
  public struct WillEnterForeground: SceneEvent {
    /// The delegate call that the event follows.
    public static var callback: SceneCallback { .willEnterForeground }
    /// The scene whose life cycle it is.
    public let scene: Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition

    /// Creates the event for a step of the life cycle.
    public init(scene: Scene, transition: SceneTransition) {
      self.scene = scene
      self.transition = transition
    }
  }

  /// The scene receives events; state active in the foreground.
  public struct DidActivate: SceneEvent {
    /// The delegate call that the event follows.
    public static var callback: SceneCallback { .didBecomeActive }
    /// The scene whose life cycle it is.
    public let scene: Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition

    /// Creates the event for a step of the life cycle.
    public init(scene: Scene, transition: SceneTransition) {
      self.scene = scene
      self.transition = transition
    }
  }

  /// The scene is about to stop receiving events; state *active* in the foreground, still.
  ///
  /// Handlers are called in reverse order: the latest subscriber first.
  public struct WillDeactivate: SceneEvent {
    /// The delegate call that the event follows.
    public static var callback: SceneCallback { .willResignActive }
    /// The traits of the event: delivery in reverse order, the latest subscriber first.
    public static var traits: EventTraits { .reversed }
    /// The scene whose life cycle it is.
    public let scene: Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition

    /// Creates the event for a step of the life cycle.
    public init(scene: Scene, transition: SceneTransition) {
      self.scene = scene
      self.transition = transition
    }
  }

  /// The scene has left the user's sight; state background.
  ///
  /// Handlers are called in reverse order: the latest subscriber first.
  public struct DidEnterBackground: SceneEvent {
    /// The delegate call that the event follows.
    public static var callback: SceneCallback { .didEnterBackground }
    /// The traits of the event: delivery in reverse order, the latest subscriber first.
    public static var traits: EventTraits { .reversed }
    /// The scene whose life cycle it is.
    public let scene: Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition

    /// Creates the event for a step of the life cycle.
    public init(scene: Scene, transition: SceneTransition) {
      self.scene = scene
      self.transition = transition
    }
  }

  /// The scene was disconnected: reclaimed, closed, or the application is about to end; state unattached.
  ///
  /// Handlers are called in reverse order: the latest subscriber first.
  public struct DidDisconnect: SceneEvent {
    /// The delegate call that the event follows.
    public static var callback: SceneCallback { .didDisconnect }
    /// The traits of the event: delivery in reverse order, the latest subscriber first.
    public static var traits: EventTraits { .reversed }
    /// The scene whose life cycle it is.
    public let scene: Scene
    /// The states before and after the step, and its cause.
    public let transition: SceneTransition

    /// Creates the event for a step of the life cycle.
    public init(scene: Scene, transition: SceneTransition) {
      self.scene = scene
      self.transition = transition
    }
  }
}
