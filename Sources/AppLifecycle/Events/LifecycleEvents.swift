public import PubSub

/// A notification of an application's life cycle, posted on the main actor.
///
/// The application is its subject, so `from: application` subscribes to one application only. It is posted right after the
/// delegate call that it belongs to, even if the delegate does not implement the method or, with scenes, is not called. Its
/// name is the raw name of the platform's notification. The package's own events conform; do not conform types of the
/// program.
public protocol ApplicationEvent: MainActorEvent {
  /// The application whose life cycle it is.
  var application: Application { get }
  /// The step of the life cycle: the states before and after, the cause, the instant, and the excursion from the active
  /// state that it begins or ends.
  var transition: LifecycleTransition { get }
}

extension ApplicationEvent {
  /// The delegate call that the event follows.
  public static var callback: ApplicationCallback { ApplicationCallback.ofEvent(Self.self) }
  /// The raw name of the platform's notification.
  public static var name: EventName { EventName(rawValue: callback.notificationName ?? callback.rawValue) }
  /// True for the events of a tear-down: the latest subscriber first.
  public static var isReversed: Bool { callback.row.phase.closing != nil }

  /// Makes the event for a step of the life cycle, by its row in the table.
  package init(application: Application, transition: LifecycleTransition) {
    self = Self.callback.row.makeEvent(application, transition)
  }
}

/// A notification of a scene's life cycle, posted on the main actor right after the delegate call that it belongs to.
///
/// The scene is its subject, so `from: scene` subscribes to one scene only, and `from: scene.session` to all scenes of one
/// window, one after another. It is posted even if the scene has no delegate, or the delegate does not implement the
/// method. Its name is the raw name of the platform's notification. The package's own events conform; do not conform types
/// of the program.
public protocol SceneEvent: MainActorEvent {
  /// The scene whose life cycle it is.
  var scene: Application.Scene { get }
  /// The step of the life cycle: the scene's states before and after, the cause and the instant.
  var transition: SceneTransition { get }
}

extension SceneEvent {
  /// The delegate call that the event follows.
  public static var callback: SceneCallback { SceneCallback.ofEvent(Self.self) }
  /// The raw name of the platform's notification.
  public static var name: EventName { EventName(rawValue: callback.notificationName) }
  /// True for the events of a tear-down: the latest subscriber first.
  public static var isReversed: Bool { callback.row.phase.closing != nil }

  /// Makes the event for a step of the life cycle, by its row in the table.
  package init(scene: Application.Scene, transition: SceneTransition) {
    self = Self.callback.row.makeEvent(scene, transition)
  }
}
