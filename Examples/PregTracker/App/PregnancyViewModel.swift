import AppLifecycle
import PubSub

/// Makes the label, and makes it again whenever the day may have changed.
@MainActor final class PregnancyViewModel {
  struct DidChange: MainActorEvent {
    let label: String
    let progress: Double?
  }

  private(set) var label = ""
  private let dueDate: DueDate
  private let today: Today
  private let bus: EventBus

  /// With `isStale`, leaves out the subscription that keeps the label right.
  init(dueDate: DueDate, today: Today, application: Application, isStale: Bool) {
    (self.dueDate, self.today, bus) = (dueDate, today, application.bus)
    bus.subscribe(to: DueDate.DidChange.self, for: self, from: dueDate) { model, _ in model.refresh() }
    if !isStale {
      // The program may have been suspended for days without any event. So it looks at the calendar now.
      bus.subscribe(to: Application.WillEnterForeground.self, for: self) { model, _ in model.refresh() }
      // Midnight may pass while the program is in the foreground.
      bus.subscribe(to: Application.SignificantTimeChange.self, for: self) { model, _ in model.refresh() }
    }
    refresh()
  }

  /// The text that the label should show now.
  static func label(of dueDate: CivilDate?, on today: Today) -> (text: String, progress: Double?) {
    do {
      guard let dueDate else { return ("No due date yet", nil) }
      let day = try PregnancyDay(today.read(), due: dueDate)
      return (day.label, day.progress)
    } catch {
      return ("No day: \(error)", nil)
    }
  }

  private func refresh() {
    let progress: Double?
    (label, progress) = Self.label(of: dueDate.date, on: today)
    bus.post(DidChange(label: label, progress: progress), from: self)
  }
}
