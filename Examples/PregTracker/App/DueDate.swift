import PubSub

/// The state of the program; components that show it subscribe to its changes.
@MainActor final class DueDate {
  struct DidChange: MainActorEvent { let date: CivilDate }

  private(set) var date: CivilDate?
  private let bus: EventBus

  init(bus: EventBus) { self.bus = bus }

  func set(_ date: CivilDate) {
    self.date = date
    bus.post(DidChange(date: date), from: self)
  }
}
