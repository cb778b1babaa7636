import Foundation
import NotificationCenterBridge

@MainActor final class Uploader {
  func show(_ url: URL) {
    #if CURED
      _ = try? Process.run(URL(filePath: "/usr/bin/xdg-open"), arguments: [url.absoluteString])
    #else
      // expect error: 'open(_:options:completionHandler:)' is unavailable: no system opens URLs here; run a program that does, such as xdg-open
      UIApplication.shared.open(url)
    #endif
  }
}
