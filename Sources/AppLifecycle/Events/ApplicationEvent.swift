public import PubSub

/// A notification of an application's life cycle, posted on the main actor right after the delegate call that it belongs to.
///
/// It is posted from the application (`from: application` subscribes to one application only), also where the delegate does
/// not implement the method. Its name is the platform's raw name.
public protocol ApplicationEvent: MainActorEvent {
  /// Whose life cycle.
  var application: Application { get }
  /// The step: states before and after, cause, instant, and the stay outside of active that it begins or ends.
  var transition: LifecycleTransition { get }
}

/// An application event that follows a delegate call.
public protocol ApplicationCallbackEvent: ApplicationEvent {
  /// The delegate call that the event follows.
  static var callback: ApplicationCallback { get }
  /// Creates the event for a step of the life cycle.
  init(application: Application, transition: LifecycleTransition)
}

extension ApplicationCallbackEvent {
  /// The platform's raw name.
  public static var name: EventName { EventName(rawValue: callback.notificationName ?? callback.rawValue) }
}
