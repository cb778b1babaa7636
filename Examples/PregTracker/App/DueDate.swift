import AppLifecycle
import PubSub
import SavedState

/// The due date, which the program's next run finds again; components that show it subscribe to its changes.
@MainActor final class DueDate {
  struct DidChange: MainActorEvent { let date: CivilDate }

  private let saved: SavedValue<CivilDate?>
  private let bus: EventBus

  init(application: Application) throws(SavedStateError) {
    saved = try application.savedState.value("dueDate", default: nil)
    bus = application.bus
  }

  var date: CivilDate? { saved.value }

  func set(_ date: CivilDate) {
    if saved.value != date { saved.value = date }
    bus.post(DidChange(date: date), from: self)
  }
}
