// Foundation's typed messages can be converted from and to notifications only on Apple's systems.
#if canImport(ObjectiveC)
  public import AppLifecycle
  public import Foundation

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension NotificationCenter.MainActorMessage where Self: NotificationConvertible {
    /// The name of the notification.
    public static var name: Notification.Name { notificationName }

    /// Makes the event from a notification; returns nil if it is not a notification of this event.
    ///
    /// - Parameter notification: the notification.
    /// - Returns: the event, or nil.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? { try? Self(notification) }

    /// Makes the notification from an event.
    ///
    /// - Parameter message: the event.
    /// - Returns: the notification.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      Notification(
        name: notificationName, object: message.notificationObject, userInfo: message.notificationInfo.userInfo)
    }
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension NotificationCenter.AsyncMessage where Self: NotificationConvertible {
    /// The name of the notification.
    public static var name: Notification.Name { notificationName }

    /// Makes the event from a notification; returns nil if it is not a notification of this event.
    ///
    /// - Parameter notification: the notification.
    /// - Returns: the event, or nil.
    public static func makeMessage(_ notification: Notification) -> Self? { try? Self(notification) }

    /// Makes the notification from an event.
    ///
    /// - Parameter message: the event.
    /// - Returns: the notification.
    public static func makeNotification(_ message: Self) -> Notification {
      Notification(
        name: notificationName, object: message.notificationObject, userInfo: message.notificationInfo.userInfo)
    }
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension NotificationCenter.MainActorMessage where Self: ApplicationEvent {
    /// The object of the notification.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension NotificationCenter.MainActorMessage where Self: SceneEvent {
    /// The object of the notification.
    public typealias Subject = Application.Scene
  }

  // An observer of a message receives what a bridge posts, and a bridge that receives posts an event for each message.
  // An event of your own conforms in the same way, and names its subject there.

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.DidFinishLaunching: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.DidBecomeActive: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.WillResignActive: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.DidEnterBackground: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.WillEnterForeground: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.WillTerminate: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.DidReceiveMemoryWarning: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.SignificantTimeChange: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.ProtectedDataWillBecomeUnavailable: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.ProtectedDataDidBecomeAvailable: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.Scene.WillConnect: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.Scene.WillEnterForeground: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.Scene.DidActivate: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.Scene.WillDeactivate: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.Scene.DidEnterBackground: NotificationCenter.MainActorMessage {}
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.Scene.DidDisconnect: NotificationCenter.MainActorMessage {}
#endif
