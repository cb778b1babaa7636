import Foundation
import PubSub

/// The event that is posted; its amount is always 1, as Foundation's classic notifications carry none.
struct Tick: BusEvent { let amount: Int }

/// The same for the main actor.
struct MainTick: MainActorEvent { let amount: Int }

/// The same where the bus keeps the latest one.
struct StickyTick: BusEvent, StickyEvent {
  let amount: Int
}

/// The same as messages of Foundation's.
enum TickMessage {
  final class Subject: Sendable {}

  struct Synchronous: NotificationCenter.MainActorMessage {
    typealias Subject = TickMessage.Subject
    let amount: Int
  }

  struct Asynchronous: NotificationCenter.AsyncMessage {
    typealias Subject = TickMessage.Subject
    let amount: Int
  }
}

/// The same as a classic notification.
let tickName = Notification.Name("Tick")
