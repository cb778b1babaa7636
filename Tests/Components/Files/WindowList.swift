// A list of windows, in a class without an actor, which reads the scenes in blocks on the main queue. It was written for UIKit; only the
// import differs.

import Foundation

#if UIKIT_STAND_IN
  import UIKitStandIn
#elseif canImport(UIKit)
  import UIKit
#else
  import NotificationCenterBridge
#endif

/// The windows that are connected.
package final class WindowList {
  private var scenes: Set<UIScene> = []
  private var observers: [NSObjectProtocol] = []

  package init(notificationCenter center: NotificationCenter = .default) {
    let changes: [(Notification.Name, (WindowList, UIScene) -> Void)] = [
      (UIScene.willConnectNotification, { $0.scenes.insert($1) }),
      (UIScene.didDisconnectNotification, { $0.scenes.remove($1) }),
    ]
    for (name, change) in changes {
      observers.append(
        center.addObserver(forName: name, object: nil, queue: .main) { [weak self] note in
          if let self, let scene = note.object as? UIScene { change(self, scene) }
        })
    }
  }

  /// The names of the windows that are on the screen.
  package var names: Set<String> {
    let sessions = scenes.filter { $0.activationState != .background }.map(\.session)
    return Set(sessions.filter { $0.scene != nil }.map(\.persistentIdentifier))
  }
}
