// A realtime connection as products ship them: it leaves its channel when the application leaves the foreground, in a plain task that no
// background task protects, and joins again on the way back. It was written for UIKit; only the import differs.

import Foundation

#if UIKIT_STAND_IN
  import UIKitStandIn
#elseif canImport(UIKit)
  import UIKit
#else
  import NotificationCenterBridge
#endif

/// The transport of a realtime connection.
@MainActor package protocol RealtimeSocket: AnyObject {
  func open() async throws
  func send(_ message: String) async throws
  func close()
}

/// Joins a channel while the application is in the foreground.
@MainActor package final class RealtimeConnection {
  package private(set) var isJoined = false
  private let channel: String
  private let socket: any RealtimeSocket
  private let center: NotificationCenter
  private var observers: [any NSObjectProtocol] = []
  /// The latest step; each awaits the one before it.
  private var step: Task<Void, Never>?

  package init(channel: String, socket: any RealtimeSocket, notificationCenter: NotificationCenter = .default) {
    (self.channel, self.socket, center) = (channel, socket, notificationCenter)
    observe(UIApplication.didBecomeActiveNotification) { $0.enqueue { await $0.join() } }
    observe(UIApplication.didEnterBackgroundNotification) { $0.enqueue { await $0.leave() } }
    observe(UIApplication.willTerminateNotification) { $0.socket.close() }
  }

  isolated deinit { for observer in observers { center.removeObserver(observer) } }

  /// Sends a message to the channel.
  package func broadcast(_ text: String) { enqueue { try? await $0.socket.send("\($0.channel): \(text)") } }

  /// Returns when all steps have been taken.
  package func waitForSteps() async { await step?.value }

  private func observe(_ name: Notification.Name, _ action: @escaping @MainActor (RealtimeConnection) -> Void) {
    observers.append(
      center.addObserver(forName: name, object: nil, queue: nil) { [weak self] note in
        let isOfApplication = note.object is UIApplication
        MainActor.assumeIsolated {
          if let self, isOfApplication { action(self) }
        }
      })
  }

  private func enqueue(_ body: @escaping @MainActor (RealtimeConnection) async -> Void) {
    step = Task { [weak self, step] in
      await step?.value
      if let self { await body(self) }
    }
  }

  private func join() async {
    guard !isJoined, UIApplication.shared.applicationState != .background else { return }
    do {
      try await socket.open()
      try await socket.send("join \(channel)")
      isJoined = true
    } catch {
      socket.close()
    }
  }

  private func leave() async {
    guard isJoined else { return }
    isJoined = false
    try? await socket.send("leave \(channel)")
    socket.close()
  }
}
