import Foundation
import NotificationCenterBridge

@MainActor final class Uploader {
  private var task = UIBackgroundTaskIdentifier.invalid

  func show(_ url: URL) {
    #if !CURED
      // expect error: 'open(_:options:completionHandler:)' is unavailable: no system opens URLs here; run a program that does, such as xdg-open
      UIApplication.shared.open(url)
    #endif
  }

  func forget() {
    #if CURED
      task = .invalid
    #else
      // expect error: 'UIBackgroundTaskInvalid' has been renamed to 'UIBackgroundTaskIdentifier.invalid'
      task = UIBackgroundTaskInvalid
    #endif
  }
}
