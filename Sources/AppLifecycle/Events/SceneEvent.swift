public import PubSub

/// A notification of a scene's life cycle, posted on the main actor right after the delegate call that it belongs to.
///
/// It is posted from the scene (`from: scene` subscribes to one scene only), also where the delegate does not implement the
/// method, or there is none. Its name is the platform's raw name.
public protocol SceneEvent: MainActorEvent {
  /// The delegate call that the event follows.
  static var callback: SceneCallback { get }
  /// Whose life cycle.
  var scene: Scene { get }
  /// The step: the scene's states before and after, cause and instant.
  var transition: SceneTransition { get }
  /// Creates the event for a step of the life cycle.
  init(scene: Scene, transition: SceneTransition)
}

extension SceneEvent {
  /// The platform's raw name.
  public static var name: EventName { EventName(rawValue: callback.notificationName) }
}
