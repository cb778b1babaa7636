import Foundation
import Testing
import UIKitStandIn

/// The stand-in does what components of iOS expect of UIKit.
@Suite(.serialized) @MainActor struct `The stand-in of UIKit` {
  @Test func `posts the notifications of iOS in order, from the application and the scene`() {
    var steps: [String] = []
    let observer = NotificationCenter.default.addObserver(forName: nil, object: nil, queue: nil) { notification in
      nonisolated(unsafe) let notification = notification
      MainActor.assumeIsolated {
        guard notification.object as? UIApplication != nil || notification.object is UIWindowScene else { return }
        steps.append("\(notification.name.rawValue.dropFirst(2)) \(UIApplication.shared.applicationState)")
      }
    }
    UIKitSystem.launch(scene: "main")
    UIKitSystem.leave()
    UIKitSystem.comeBack()
    NotificationCenter.default.removeObserver(observer)
    #expect(
      steps == [
        "ApplicationDidFinishLaunchingNotification background", "SceneWillConnectNotification background",
        "SceneWillEnterForegroundNotification background", "ApplicationWillEnterForegroundNotification background",
        "SceneDidActivateNotification active", "ApplicationDidBecomeActiveNotification active",
        "SceneWillDeactivateNotification active", "ApplicationWillResignActiveNotification active",
        "SceneDidEnterBackgroundNotification background", "ApplicationDidEnterBackgroundNotification background",
        "SceneWillEnterForegroundNotification background", "ApplicationWillEnterForegroundNotification background",
        "SceneDidActivateNotification active", "ApplicationDidBecomeActiveNotification active",
      ], "\(steps)")
  }

  @Test func `calls an observer with the main queue in the post`() {
    var count = 0
    let observer = NotificationCenter.default.addObserver(
      forName: UIApplication.didReceiveMemoryWarningNotification, object: UIApplication.shared, queue: .main
    ) { _ in MainActor.assumeIsolated { count += 1 } }
    UIKitSystem.warnOfMemory()
    #expect(count == 1)
    NotificationCenter.default.removeObserver(observer)
  }

  @Test func `says whether the handlers ended all background tasks in time`() {
    UIKitSystem.launch()
    var first = UIBackgroundTaskIdentifier.invalid
    first = UIApplication.shared.beginBackgroundTask(withName: "first") { [first] in
      // The captured value is that of before.
      UIApplication.shared.endBackgroundTask(first)
    }
    let second = UIApplication.shared.beginBackgroundTask(withName: "second")
    #expect(UIKitSystem.openBackgroundTasks == ["first", "second"])
    #expect(!UIKitSystem.expireBackgroundTasks())
    UIApplication.shared.endBackgroundTask(first)
    UIApplication.shared.endBackgroundTask(second)
    UIApplication.shared.endBackgroundTask(second)
    #expect(UIKitSystem.openBackgroundTasks.isEmpty && UIKitSystem.expireBackgroundTasks())
  }
}
