import BenchmarkHarness
import Foundation
import NotificationCenterBridge
import PubSub

extension Section {
  /// Events that become notifications, and notifications that become events, beside a post to the same ten at once.
  static func bridging(_ scale: Scale) -> Section {
    Section(
      name: "bridging", title: "Through a bridge to 10, ns a post", rounds: scale.rounds,
      judgements: [toCenter, toBus].map { row in
        Judgement(row, "× \(Column.foundation)", .atMost, 1.3, aim: 1.1) {
          $0.ratio(row, Column.ours, to: Column.foundation)
        }
      }
    ) {
      [
        contestant(Column.ours, toCenter, scale) { bank in
          let (bus, center) = (EventBus(), NotificationCenter())
          let link = NotificationCenterBridge(bus, to: center).exchange(BridgedTick.self)
          let observers = observe(center, bank)
          return { times in
            withExtendedLifetime((link, observers)) { for _ in 0..<times { bus.post(BridgedTick(amount: 1)) } }
          }
        },
        contestant(Column.foundation, toCenter, scale) { bank in
          let center = NotificationCenter()
          let observers = observe(center, bank)
          return { times in withExtendedLifetime(observers) { for _ in 0..<times { post(on: center) } } }
        },
        contestant(Column.ours, toBus, scale) { bank in
          let (bus, center) = (EventBus(), NotificationCenter())
          let link = NotificationCenterBridge(bus, to: center).exchange(BridgedTick.self)
          let subscriptions = bank.counters.map { counter in
            bus.subscribe(to: BridgedTick.self) { counter.total &+= $0.amount }
          }
          return { times in
            // Neither a link nor a subscription keeps the bus.
            withExtendedLifetime((bus, link, subscriptions)) { for _ in 0..<times { post(on: center) } }
          }
        },
        contestant(Column.foundation, toBus, scale) { bank in
          let center = NotificationCenter()
          let observers = observe(center, bank)
          return { times in withExtendedLifetime(observers) { for _ in 0..<times { post(on: center) } } }
        },
      ]
    }
  }
}

private let toCenter = "an event to 10 observers"
private let toBus = "a notification to 10 handlers"

private struct BridgedTick: BusEvent {
  let amount: Int
}

extension NotificationKey<Int> {
  fileprivate static var amount: Self { "amount" }
}

extension BridgedTick: NotificationConvertible {
  static var notificationName: Notification.Name { bridgedTickName }
  var notificationInfo: NotificationInfo { NotificationInfo(.amount, amount) }
  init(_ notification: Notification) throws { self.init(amount: try notification.value(for: .amount)) }
}

private let bridgedTickName = Notification.Name("BridgedTick")

private func post(on center: NotificationCenter) {
  center.post(name: bridgedTickName, object: nil, userInfo: ["amount": 1])
}

/// Observers that read the amount.
private func observe(_ center: NotificationCenter, _ bank: CounterBank) -> [any NSObjectProtocol] {
  bank.counters.map { counter in
    center.addObserver(forName: bridgedTickName, object: nil, queue: nil) { notification in
      counter.total &+= notification.userInfo?["amount"] as? Int ?? 0
    }
  }
}

private func contestant(
  _ column: String, _ row: String, _ scale: Scale, _ make: (CounterBank) -> (Int) -> Void
) -> Contestant {
  let bank = CounterBank(10)
  return Contestant(
    column, row: row, slice: scale.slice, deliveries: 10, total: { bank.total }, repeat: make(bank))
}
