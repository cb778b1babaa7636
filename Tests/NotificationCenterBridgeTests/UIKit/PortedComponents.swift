import Foundation

#if canImport(UIKit)
  import UIKit
#else
  import NotificationCenterBridge
#endif

// The components of *Coming from NotificationCenter*: written for UIKit, with blocks and with selectors.

final class ThumbnailCache: @unchecked Sendable {
  private let queue = DispatchQueue(label: "thumbnails")
  private var thumbnails: [String: Data] = [:]
  private var tokens: [any NSObjectProtocol] = []
  private let file: URL

  init(file: URL, center: NotificationCenter = .default) {
    self.file = file
    let warning = UIApplication.didReceiveMemoryWarningNotification
    tokens = [
      center.addObserver(forName: warning, object: nil, queue: .main) {
        [weak self] _ in self?.removeAll()
      },
      center.addObserver(
        forName: UIApplication.didEnterBackgroundNotification, object: nil, queue: nil
      ) { [weak self] notification in
        guard let application = notification.object as? UIApplication else { return }
        self?.save(application)
      },
    ]
  }

  private func save(_ application: UIApplication) {
    let task = application.beginBackgroundTask(withName: "thumbnails")
    queue.async {
      try? JSONEncoder().encode(self.thumbnails).write(to: self.file)
      application.endBackgroundTask(task)
    }
  }

  func insert(_ data: Data, for name: String) { queue.async { self.thumbnails[name] = data } }

  var count: Int { queue.sync { thumbnails.count } }

  private func removeAll() { queue.async { self.thumbnails = [:] } }
}

#if canImport(ObjectiveC)
  enum BeforePort {
    final class SessionLog: NSObject {
      private(set) var lines: [String] = []

      init(_ center: NotificationCenter = .default) {
        super.init()
        center.addObserver(
          self, selector: #selector(begin),
          name: UIApplication.didBecomeActiveNotification, object: nil)
        center.addObserver(
          self, selector: #selector(end),
          name: UIApplication.didEnterBackgroundNotification, object: nil)
      }

      @objc private func begin() { lines.append("begin") }
      @objc private func end() { lines.append("end") }
    }
  }
#endif

@MainActor final class SessionLog {
  private(set) var lines: [String] = []
  private var tokens: [any NSObjectProtocol] = []
  private let center: NotificationCenter

  init(_ center: NotificationCenter = .default) {
    self.center = center
    observe(UIApplication.didBecomeActiveNotification, SessionLog.begin)
    observe(UIApplication.didEnterBackgroundNotification, SessionLog.end)
  }

  isolated deinit { tokens.forEach(center.removeObserver) }

  private func observe(
    _ name: Notification.Name, _ method: @escaping @MainActor (SessionLog) -> () -> Void
  ) {
    tokens.append(
      center.addObserver(forName: name, object: nil, queue: .main) { [weak self] _ in
        MainActor.assumeIsolated { if let self { method(self)() } }
      })
  }

  private func begin() { lines.append("begin") }
  private func end() { lines.append("end") }
}
