// An analytics client as products ship them: a queue on disk, a session, background tasks begun on a queue of its own. It was written
// for UIKit; only the import differs.

import Foundation

#if UIKIT_STAND_IN
  import UIKitStandIn
#elseif canImport(UIKit)
  import UIKit
#else
  import NotificationCenterBridge
#endif

/// An event, as it is stored and sent.
package struct AnalyticsEvent: Codable, Sendable, Hashable {
  package let id: UUID
  package let session: UUID
  package let name: String
}

/// Sends batches of events.
package protocol AnalyticsTransport: AnyObject {
  /// Sends a batch, and calls back on any thread.
  func send(_ batch: [AnalyticsEvent], completion: @escaping @Sendable (Bool) -> Void)
}

/// Stores events on disk, and sends them when the application leaves the foreground, from time to time, and in batches.
package final class AnalyticsClient: @unchecked Sendable {
  package struct Configuration {
    package var file: URL
    package var flushInterval: TimeInterval = 30
    package var flushAt = 20
    package var sessionTimeout: TimeInterval = 30 * 60
    package var now: @Sendable () -> Date = { Date() }

    package init(file: URL) { self.file = file }
  }

  private let configuration: Configuration
  private let transport: any AnalyticsTransport
  private let center: NotificationCenter
  private var observers: [any NSObjectProtocol] = []
  private var timer: Timer?

  private let queue = DispatchQueue(label: "analytics")
  // On the queue only.
  private var events: [AnalyticsEvent] = []
  private var session = UUID()
  private var lastActivity: Date
  private var isSending = false
  private var waitingForSend: [() -> Void] = []

  package init(
    _ configuration: Configuration, transport: any AnalyticsTransport, notificationCenter: NotificationCenter = .default
  ) {
    (self.configuration, self.transport, center) = (configuration, transport, notificationCenter)
    lastActivity = configuration.now()
    queue.sync { load() }
    observe(UIApplication.didFinishLaunchingNotification) { client, note in
      let link = note.userInfo?[UIApplication.LaunchOptionsKey.url] as? URL
      client.capture(link == nil ? "Application Opened" : "Deep Link Opened")
    }
    observe(UIApplication.willEnterForegroundNotification) { client, _ in
      client.queue.async { client.renewSession() }
      client.capture("Application Opened From Background")
    }
    observe(UIApplication.didBecomeActiveNotification) { client, _ in client.startTimer() }
    observe(UIApplication.willResignActiveNotification) { client, _ in client.stopTimer() }
    observe(UIApplication.didEnterBackgroundNotification) { client, note in
      guard let application = note.object as? UIApplication else { return }
      client.didEnterBackground(application)
    }
    observe(UIApplication.willTerminateNotification) { client, _ in client.queue.sync { client.store() } }
  }

  deinit { for observer in observers { center.removeObserver(observer) } }

  private func observe(_ name: Notification.Name, _ action: @escaping (AnalyticsClient, Notification) -> Void) {
    observers.append(
      center.addObserver(forName: name, object: nil, queue: nil) { [weak self] note in
        if let self { action(self, note) }
      })
  }

  /// Stores an event; it is sent later.
  package func capture(_ name: String) {
    queue.async { [self] in
      lastActivity = configuration.now()
      events.append(AnalyticsEvent(id: UUID(), session: session, name: name))
      store()
      if events.count >= configuration.flushAt { send() }
    }
  }

  /// Sends all stored events.
  package func flush(completion: @escaping @Sendable () -> Void = {}) { queue.async { self.send(completion) } }

  /// Returns when all work of the queue has been done.
  package func waitForQueue() { queue.sync {} }

  // MARK: The life cycle

  private func didEnterBackground(_ application: UIApplication) {
    capture("Application Backgrounded")
    queue.async { [self] in
      let task = BackgroundTask()
      task.begin("analytics", in: application)
      send { task.end(in: application) }
    }
  }

  private func startTimer() {
    stopTimer()
    timer = Timer.scheduledTimer(withTimeInterval: configuration.flushInterval, repeats: true) { [weak self] _ in
      self?.flush()
    }
  }

  private func stopTimer() {
    timer?.invalidate()
    timer = nil
  }

  // MARK: On the queue

  private func renewSession() {
    if configuration.now().timeIntervalSince(lastActivity) >= configuration.sessionTimeout { session = UUID() }
  }

  private func send(_ completion: @escaping () -> Void = {}) {
    waitingForSend.append(completion)
    guard !isSending else { return }
    guard !events.isEmpty else { return finishSend() }
    isSending = true
    let batch = events
    transport.send(batch) { [self] isSent in queue.async { self.didSend(batch, isSent) } }
  }

  private func didSend(_ batch: [AnalyticsEvent], _ isSent: Bool) {
    isSending = false
    if isSent {
      events.removeFirst(batch.count)
      store()
    }
    finishSend()
  }

  private func finishSend() {
    let waiting = waitingForSend
    waitingForSend = []
    for completion in waiting { completion() }
  }

  private func load() {
    guard let data = try? Data(contentsOf: configuration.file) else { return }
    events = (try? JSONDecoder().decode([AnalyticsEvent].self, from: data)) ?? []
  }

  private func store() { try? JSONEncoder().encode(events).write(to: configuration.file, options: .atomic) }
}

/// A background task that the expiration or the work ends, whichever is first.
private final class BackgroundTask: @unchecked Sendable {
  private let lock = NSLock()
  private var identifier = UIBackgroundTaskIdentifier.invalid

  func begin(_ name: String, in application: UIApplication) {
    let identifier = application.beginBackgroundTask(withName: name) { self.end(in: application) }
    lock.withLock { self.identifier = identifier }
  }

  func end(in application: UIApplication) {
    let identifier = lock.withLock {
      defer { self.identifier = .invalid }
      return self.identifier
    }
    if identifier != .invalid { application.endBackgroundTask(identifier) }
  }
}
