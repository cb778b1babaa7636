// language mode 5
import Foundation
import NotificationCenterBridge

@MainActor final class Player {
  var observers: [NSObjectProtocol] = []

  func observe() {
    observers.append(
      NotificationCenter.default.addObserver(
        forName: UIApplication.didEnterBackgroundNotification, object: nil, queue: .main
      ) { [weak self] _ in
        #if CURED
          MainActor.assumeIsolated { self?.pause() }
        #else
          // expect warning: call to main actor-isolated instance method 'pause()' in a synchronous nonisolated context
          self?.pause()
        #endif
      })
  }

  func pause() {}
}

// Without a word of the compiler.
final class Download {
  private var task = UIBackgroundTaskIdentifier.invalid

  func begin() { task = UIApplication.shared.beginBackgroundTask(expirationHandler: end) }
  func end() { UIApplication.shared.endBackgroundTask(task) }
}
