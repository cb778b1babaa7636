public import PubSub

/// A notification of a scene's life cycle, posted on the main actor right after the delegate call that it belongs to.
///
/// The scene is its subject, so `from: scene` subscribes to one scene only, and `from: scene.session` to all scenes of one
/// window, one after another. It is posted even if the scene has no
/// delegate, or the delegate does not implement the method. Its name is the raw name of the platform's notification.
public protocol SceneEvent: MainActorEvent {
  /// The delegate call that the event follows.
  static var callback: SceneCallback { get }
  /// The scene whose life cycle it is.
  var scene: Application.Scene { get }
  /// The step of the life cycle: the scene's states before and after, the cause and the instant.
  var transition: SceneTransition { get }
}

extension SceneEvent {
  /// The raw name of the platform's notification.
  public static var name: EventName { EventName(rawValue: callback.notificationName) }

  /// Makes the event for a step of the life cycle, by its row in the table.
  package init(scene: Application.Scene, transition: SceneTransition) {
    guard let event = Self.callback.row.make(scene, transition) as? Self else {
      preconditionFailure("\(Self.self) is not the event of \(Self.callback)")
    }
    self = event
  }
}
