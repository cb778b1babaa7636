// Foundation's typed messages can be made of notifications on Apple's systems alone.
#if canImport(ObjectiveC)
  public import AppLifecycle
  public import Foundation

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension NotificationCenter.MainActorMessage where Self: NotificationConvertible {
    /// The name of the notification.
    public static var name: Notification.Name { notificationName }

    /// Makes the event of a notification; nil if it is not one of this event.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? { try? Self(notification) }

    /// Makes the notification of an event.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      Notification(
        name: notificationName, object: message.notificationObject, userInfo: message.notificationInfo.userInfo)
    }
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension NotificationCenter.AsyncMessage where Self: NotificationConvertible {
    /// The name of the notification.
    public static var name: Notification.Name { notificationName }

    /// Makes the event of a notification; nil if it is not one of this event.
    public static func makeMessage(_ notification: Notification) -> Self? { try? Self(notification) }

    /// Makes the notification of an event.
    public static func makeNotification(_ message: Self) -> Notification {
      Notification(
        name: notificationName, object: message.notificationObject, userInfo: message.notificationInfo.userInfo)
    }
  }

  // An observer of a message hears what a bridge posts, and an event is posted for a message where a bridge receives. An event of a
  // program's own conforms in the same line.

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.DidFinishLaunching: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.DidBecomeActive: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.WillResignActive: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.DidEnterBackground: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.WillEnterForeground: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.WillTerminate: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.DidReceiveMemoryWarning: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.SignificantTimeChange: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.ProtectedDataWillBecomeUnavailable: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Application.ProtectedDataDidBecomeAvailable: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Application
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Scene.WillConnect: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Scene
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Scene.WillEnterForeground: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Scene
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Scene.DidActivate: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Scene
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Scene.WillDeactivate: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Scene
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Scene.DidEnterBackground: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Scene
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  extension Scene.DidDisconnect: NotificationCenter.MainActorMessage {
    /// Whose notification it is.
    public typealias Subject = Scene
  }
#endif
