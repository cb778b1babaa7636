public import AppLifecycle
public import Foundation
internal import PubSub

extension NotificationKey<LifecycleTransition> {
  /// The step of an application's life cycle.
  public static var transition: Self { "transition" }
}

extension NotificationKey<SceneTransition> {
  /// The step of a scene's life cycle.
  public static var sceneTransition: Self { "sceneTransition" }
}

// The notifications of the life cycle: the platform's raw names, from the application or the scene.

extension NotificationConvertible where Self: ApplicationCallbackEvent {
  /// The application.
  public var notificationObject: (any AnyObject & Sendable)? { application }
  /// The step, by ``NotificationKey/transition``.
  public var notificationInfo: NotificationInfo { NotificationInfo(.transition, transition) }
  /// Makes the event of a notification that a bridge has posted.
  public init(_ notification: Notification) throws {
    self.init(application: try notification.object(), transition: try notification.value(for: .transition))
  }
}

extension NotificationConvertible where Self: SceneEvent {
  /// The scene.
  public var notificationObject: (any AnyObject & Sendable)? { scene }
  /// The step, by ``NotificationKey/sceneTransition``.
  public var notificationInfo: NotificationInfo { NotificationInfo(.sceneTransition, transition) }
  /// Makes the event of a notification that a bridge has posted.
  public init(_ notification: Notification) throws {
    self.init(scene: try notification.object(), transition: try notification.value(for: .sceneTransition))
  }
}

extension Application.DidFinishLaunching: NotificationConvertible {}
extension Application.DidBecomeActive: NotificationConvertible {}
extension Application.WillResignActive: NotificationConvertible {}
extension Application.DidEnterBackground: NotificationConvertible {}
extension Application.WillEnterForeground: NotificationConvertible {}
extension Application.WillTerminate: NotificationConvertible {}
extension Application.DidReceiveMemoryWarning: NotificationConvertible {}
extension Application.SignificantTimeChange: NotificationConvertible {}
extension Application.ProtectedDataWillBecomeUnavailable: NotificationConvertible {}
extension Application.ProtectedDataDidBecomeAvailable: NotificationConvertible {}
extension Scene.WillConnect: NotificationConvertible {}
extension Scene.WillEnterForeground: NotificationConvertible {}
extension Scene.DidActivate: NotificationConvertible {}
extension Scene.WillDeactivate: NotificationConvertible {}
extension Scene.DidEnterBackground: NotificationConvertible {}
extension Scene.DidDisconnect: NotificationConvertible {}

extension NotificationCenterBridge {
  /// Posts every notification of the life cycle, of applications and scenes, under the platform's raw name.
  ///
  /// Not on Apple's systems, where UIKit posts them itself: observers would be called twice. Make the link before components subscribe: then old observers come before
  /// them, and after them in willResignActive, didEnterBackground and willTerminate, which are delivered in reverse.
  ///
  /// An observer with the queue `.main` needs a program whose main actor stays on the first thread, as under `MainLoop.run` and in
  /// programs with a main delegate. Under an asynchronous `main` on Linux, Foundation waits in the post for the main queue, which waits
  /// for the post.
  ///
  /// - Returns: the link, which lasts while it is kept.
  public func postLifecycle() -> NotificationLink {
    let link = newLink()
    forEachLifecycleEvent { post($0, link) }
    return link
  }

  /// Posts on the bus what another bridge has posted of a life cycle: for a part of a program that has a bus of its own.
  ///
  /// Of the platform's own notifications no event can be made, as they have no ``NotificationKey/transition``.
  ///
  /// - Returns: the link, which lasts while it is kept.
  public func receiveLifecycle() -> NotificationLink {
    let link = newLink()
    forEachLifecycleEvent { receive($0, link) }
    return link
  }

  private func forEachLifecycleEvent(_ body: (any (NotificationConvertible & MainActorEvent).Type) -> Void) {
    // A test holds that each of them conforms.
    for event in ApplicationCallback.allCases.map(\.event) + SceneCallback.allCases.map(\.event) {
      if let event = event as? any (NotificationConvertible & MainActorEvent).Type { body(event) }
    }
  }

  private func post<E: NotificationConvertible & MainActorEvent>(_ type: E.Type, _ link: NotificationLink) {
    post(type, .normal, link)
  }
}
