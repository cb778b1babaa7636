// An image cache as products ship them: memory is given back at a warning, old files are removed in the background. It was written for
// UIKit; only the import differs.

import Foundation

#if UIKIT_STAND_IN
  import UIKitStandIn
#elseif canImport(UIKit)
  import UIKit
#else
  import NotificationCenterBridge
#endif

/// Keeps images in memory and on disk.
package final class ImageCache: @unchecked Sendable {
  private let directory: URL
  private let maximumAge: TimeInterval
  private let now: @Sendable () -> Date
  private let center: NotificationCenter
  private var observers: [any NSObjectProtocol] = []

  private let lock = NSLock()
  private var memory: [String: Data] = [:]
  private let files = DispatchQueue(label: "images", qos: .utility)

  package init(
    directory: URL, maximumAge: TimeInterval = 7 * 86_400, now: @escaping @Sendable () -> Date = { Date() },
    notificationCenter: NotificationCenter = .default
  ) {
    (self.directory, self.maximumAge, self.now, center) = (directory, maximumAge, now, notificationCenter)
    try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let actions: [(Notification.Name, @Sendable (ImageCache) -> Void)] = [
      (UIApplication.didReceiveMemoryWarningNotification, { $0.removeFromMemory() }),
      (UIApplication.willTerminateNotification, { $0.removeOldFiles() }),
      (UIApplication.didEnterBackgroundNotification, { $0.removeOldFilesInBackground() }),
    ]
    observers = actions.map { name, action in
      center.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
        if let self { action(self) }
      }
    }
  }

  deinit { for observer in observers { center.removeObserver(observer) } }

  /// Stores an image in memory, and soon on disk.
  package func store(_ data: Data, for key: String) {
    lock.withLock { memory[key] = data }
    let file = directory.appendingPathComponent(key)
    let date = now()
    files.async {
      try? data.write(to: file, options: .atomic)
      try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    }
  }

  /// An image; nil if there is none.
  package func image(for key: String) -> Data? {
    if let data = lock.withLock({ memory[key] }) { return data }
    guard let data = try? Data(contentsOf: directory.appendingPathComponent(key)) else { return nil }
    lock.withLock { memory[key] = data }
    return data
  }

  /// The number of images in memory.
  package var countInMemory: Int { lock.withLock { memory.count } }

  /// Returns when all work with files has been done.
  package func waitForFiles() { files.sync {} }

  private func removeFromMemory() { lock.withLock { memory = [:] } }

  private func removeOldFiles() { files.sync { removeFiles() } }

  private func removeOldFilesInBackground() {
    let application = MainActor.assumeIsolated { UIApplication.shared }
    let task = application.beginBackgroundTask(withName: "remove old images", expirationHandler: nil)
    files.async { [self] in
      removeFiles()
      DispatchQueue.main.async { application.endBackgroundTask(task) }
    }
  }

  private func removeFiles() {
    let keys: [URLResourceKey] = [.contentModificationDateKey]
    let files = try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: keys)
    for file in files ?? [] {
      let date = try? file.resourceValues(forKeys: Set(keys)).contentModificationDate
      if let date, now().timeIntervalSince(date) > maximumAge { try? FileManager.default.removeItem(at: file) }
    }
  }
}
