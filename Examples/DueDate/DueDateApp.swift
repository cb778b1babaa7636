// `swift run DueDate`, then Ctrl-Z, `fg`, and `q` to quit.

import AppLifecycle
import Foundation
import NotificationCenterBridge
import PubSub
import UnixHost

/// A terminal program around a view model that was written for UIKit.
@main @MainActor final class DueDateApp {
  private var lifecycle: NotificationLink?
  private var view: DueDateView?
}

extension DueDateApp: MainApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    // The bridge posts UIKit's notifications for what happens in the terminal.
    lifecycle = NotificationCenterBridge(application.bus).postLifecycle()
    let now = CommandLine.arguments.dropFirst().first.map { path in { Self.date(inFile: path) } } ?? { Date() }
    let dueDay = DateComponents(calendar: Calendar(identifier: .gregorian), year: 2027, month: 4, day: 1)
    let dueDate = dueDay.date ?? .distantFuture
    view = DueDateView(DueDateModel(dueDate: dueDate, now: now), application.bus)
  }

  /// The date in a file, such as `2027-01-01T00:00:00Z`; so a test can decide which day it is.
  private static func date(inFile path: String) -> Date {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return ISO8601DateFormatter().date(from: text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .distantPast
  }
}

/// Shows the model's label on the terminal's screen.
@MainActor final class DueDateView {
  private let model: DueDateModel

  init(_ model: DueDateModel, _ bus: EventBus) {
    self.model = model
    bus.subscribe(to: Terminal.NeedsDisplay.self, for: self) { view, event in
      event.terminal.write("\u{1B}[2J\u{1B}[H\(view.model.label)\nCtrl-Z and fg refresh it; q quits.")
    }
    bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { _, event in
      if event.keys.contains("q") { event.application.send(.terminate, cause: "q") }
    }
  }
}
