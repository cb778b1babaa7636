import PubSub

/// The one thing that the program knows; whoever cares about it subscribes.
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
