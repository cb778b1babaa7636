public import PubSub

/// A notification of an application's life cycle, posted on the main actor.
///
/// The application is its subject, so `from: application` subscribes to one application only.
/// ``Application/StateDidChange`` follows a change of the state. Every other event is posted right after the delegate
/// call that it belongs to, even if the delegate does not implement the method or, with scenes, is not called. Its name
/// is the raw name of the platform's notification.
public protocol ApplicationEvent: MainActorEvent {
  /// The application whose life cycle it is.
  var application: Application { get }
  /// The step of the life cycle: the states before and after, the cause, the instant, and the excursion from the active
  /// state that it begins or ends.
  var transition: LifecycleTransition { get }
}

// A new event begins with its row in NotificationTable.swift.

/// An application event that follows a delegate call.
public protocol ApplicationCallbackEvent: ApplicationEvent {
  /// The delegate call that the event follows.
  static var callback: ApplicationCallback { get }
}

extension ApplicationCallbackEvent {
  /// The raw name of the platform's notification.
  public static var name: EventName { EventName(rawValue: callback.notificationName ?? callback.rawValue) }

  /// Makes the event for a step of the life cycle, by its row in the table.
  package init(application: Application, transition: LifecycleTransition) {
    guard let event = Self.callback.row.make(application, transition) as? Self else {
      preconditionFailure("\(Self.self) is not the event of \(Self.callback)")
    }
    self = event
  }
}
