public import AppLifecycle
public import Foundation
internal import PubSub

extension NotificationKey<LifecycleTransition> {
  /// The key of the transition of an application.
  public static var transition: Self { "transition" }
}

extension NotificationKey<SceneTransition> {
  /// The key of the transition of a scene.
  public static var sceneTransition: Self { "sceneTransition" }
}

// The notifications of the life cycle have the platform's raw names; their object is the application or the scene.

extension NotificationConvertible where Self: ApplicationEvent {
  /// The application, as the object of the notification.
  public var notificationObject: (any AnyObject & Sendable)? { application }
  /// The transition, with the key ``NotificationKey/transition``.
  public var notificationInfo: NotificationInfo { NotificationInfo(.transition, transition) }
  /// Makes the event from a notification that a bridge has posted.
  ///
  /// - Parameter notification: the notification.
  /// - Throws: ``NotificationMismatch`` if it is not a notification of this event.
  public init(_ notification: Notification) throws {
    self.init(application: try notification.object(), transition: try notification.value(for: .transition))
  }
}

extension NotificationConvertible where Self: SceneEvent {
  /// The scene, as the object of the notification.
  public var notificationObject: (any AnyObject & Sendable)? { scene }
  /// The transition, with the key ``NotificationKey/sceneTransition``.
  public var notificationInfo: NotificationInfo { NotificationInfo(.sceneTransition, transition) }
  /// Makes the event from a notification that a bridge has posted.
  ///
  /// - Parameter notification: the notification.
  /// - Throws: ``NotificationMismatch`` if it is not a notification of this event.
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
extension Application.Scene.WillConnect: NotificationConvertible {}
extension Application.Scene.WillEnterForeground: NotificationConvertible {}
extension Application.Scene.DidActivate: NotificationConvertible {}
extension Application.Scene.WillDeactivate: NotificationConvertible {}
extension Application.Scene.DidEnterBackground: NotificationConvertible {}
extension Application.Scene.DidDisconnect: NotificationConvertible {}

extension NotificationCenterBridge {
  /// Posts every life-cycle event of applications and scenes as a notification with the platform's raw name.
  ///
  /// Do not call it on Apple's systems: UIKit posts these notifications itself, so observers would be called twice.
  /// Make the link before components subscribe. Then old observers are called before them; for willResignActive,
  /// didEnterBackground and willTerminate, which are delivered in reverse order, after them.
  ///
  /// An observer with the queue `.main` is called in the post if its file imports this module. In another file on Linux
  /// it requires that the main actor stays on the first thread, as with `MainLoop.run` and in programs with a main
  /// delegate. With an asynchronous `main` the post hangs there: Foundation waits in the post for the main queue, which
  /// waits for the post. The bridge reports this on standard error.
  ///
  /// Observers of didEnterBackground may start work that they do not announce, such as a plain `Task {}`. While the link
  /// exists, a host lets the process run on for one second after that notification, before it stops or ends the process
  /// (`Application.Configuration.backgroundGrace`).
  ///
  /// A service never leaves the foreground, so its observers get `willTerminate` alone. With `servicesEnterBackground`,
  /// the bridge posts `didEnterBackground` to the center before it, in a process that has not been in the foreground since
  /// its launch. Components that send their data on leaving the foreground then send it, within the same second. The
  /// application itself has no such transition, and the bus no such event.
  ///
  /// - Parameter servicesEnterBackground: whether a process that ends without having been in the foreground tells the
  ///   observers first that it has entered the background.
  /// - Returns: the link, which lasts while it is kept.
  public func postLifecycle(servicesEnterBackground: Bool = false) -> NotificationLink {
    link { link in
      forEachLifecycleEvent { if $0 != Application.DidEnterBackground.self { post($0, link) } }
      post(Application.DidEnterBackground.self, .normal, link) { event in
        MainActor.assumeIsolated { event.application.didTellObserversOfBackground() }
        return event
      }
      guard servicesEnterBackground else { return }
      post(Application.WillEndUnseen.self, .normal, link) { event in
        MainActor.assumeIsolated { event.application.didTellObserversOfBackground() }
        return Application.DidEnterBackground(application: event.application, transition: event.transition)
      }
    }
  }

  /// Posts the life-cycle notifications of another bridge as events, for a part of a program with a bus of its own.
  ///
  /// It cannot convert the platform's own notifications, which have no ``NotificationKey/transition``. The application does
  /// not wait for asynchronous handlers on this bus: the process may be stopped or end before they return. So a handler of
  /// `didEnterBackground` or `willTerminate` that needs time must subscribe on the application's bus.
  ///
  /// - Returns: the link, which lasts while it is kept.
  public func receiveLifecycle() -> NotificationLink {
    link { link in forEachLifecycleEvent { receive($0, link) } }
  }

  private func forEachLifecycleEvent(_ body: (any NotificationConvertible.Type) -> Void) {
    // A test checks that each of these events conforms.
    for event in ApplicationCallback.allCases.map(\.event) + SceneCallback.allCases.map(\.event) {
      if let event = event as? any NotificationConvertible.Type { body(event) }
    }
  }

  private func post<E: NotificationConvertible>(_ type: E.Type, _ link: NotificationLink) {
    post(type, .normal, link) { $0 }
  }
}
