import Foundation
import PubSub

/// The event that is posted; its amount is always 1, as Foundation's classic notifications carry none.
struct Tick: BusEvent { let amount: Int }

// The amounts of the next two are at other offsets. The compiler replaces a handler that is the same code as another one
// by a call of that other one, which would count as the bus's time.

/// The same for the main actor.
struct MainTick: MainActorEvent {
  let origin = 0
  let amount: Int
}

/// The same where the bus keeps the latest one.
struct StickyTick: BusEvent, StickyEvent {
  let origin = 0
  let target = 0
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
