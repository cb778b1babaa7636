// The unchanged view model of an iOS app: on Linux only the import differs.

#if canImport(UIKit)
  import UIKit
#else
  import Foundation
  import NotificationCenterBridge
#endif

/// The text of a label that shows how far along a pregnancy is.
@MainActor final class DueDateModel {
  private(set) var label = ""
  private let dueDate: Date
  private let now: () -> Date
  private var observers: [any NSObjectProtocol] = []

  init(dueDate: Date, now: @escaping () -> Date = { Date() }) {
    self.dueDate = dueDate
    self.now = now
    refresh()
    // Without this the label shows the day on which the app was launched.
    observe(UIApplication.willEnterForegroundNotification)
    observe(UIApplication.significantTimeChangeNotification)
  }

  isolated deinit {
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }

  private func observe(_ name: Notification.Name) {
    observers.append(
      NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) { [weak self] _ in
        MainActor.assumeIsolated { self?.refresh() }
      })
  }

  private func refresh() {
    let calendar = Calendar(identifier: .gregorian)
    // From midnight to midnight: the day changes then, and not at the hour of the due date.
    let (today, dueDay) = (calendar.startOfDay(for: now()), calendar.startOfDay(for: dueDate))
    let left = calendar.dateComponents([.day], from: today, to: dueDay).day ?? 0
    label = "\(280 - left) days along"
  }
}
