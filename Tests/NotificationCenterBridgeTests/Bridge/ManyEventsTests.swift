import CBenchmarks
import Foundation
import NotificationCenterBridge
import PubSub
import Synchronization
import Testing

/// `EVENTS=1000000 swift test --filter ManyEventsTests` for a million each way.
private let count = ProcessInfo.processInfo.environment["EVENTS"].flatMap { Int($0) } ?? 20_000

@Suite struct ManyEventsTests {
  /// In a process of its own, as other tests allocate, too.
  @Test func `none is lost, doubled or passed in a circle, in order each way, and nothing grows`() async {
    await #expect(processExitsWith: .success) {
      let (bus, center) = (EventBus(), NotificationCenter())
      let link = NotificationCenterBridge(bus, to: center).exchange(OrderPlaced.self)
      let handled = Mutex(Received())
      let observed = Mutex(Received())
      let subscription = bus.subscribe(to: OrderPlaced.self) { event in handled.withLock { $0.add(event.id) } }
      let observer = center.addObserver(forName: OrderPlaced.notificationName, object: nil, queue: nil) {
        notification in
        let id = try? notification.value(for: .orderID)
        observed.withLock { $0.add(id ?? -1) }
      }
      func post(_ ids: Range<Int>) {
        for id in ids {
          if id.isMultiple(of: 2) {
            bus.post(OrderPlaced(id: id))
          } else {
            center.post(name: OrderPlaced.notificationName, object: nil, userInfo: ["orderID": id])
          }
        }
      }
      // Half on the bus, half on the center: each is to be seen once on both.
      post(0..<1_000)
      let before = bench_heap_in_use()
      post(1_000..<2 * count)
      let growth = Int(bench_heap_in_use()) - Int(before)
      let expected = Received(next: 2 * count, wrong: 0)
      precondition(handled.withLock { $0 } == expected, "handled \(handled.withLock { $0 })")
      precondition(observed.withLock { $0 } == expected, "observed \(observed.withLock { $0 })")
      precondition(growth < 8 * count, "\(growth) bytes more for \(2 * count) events")
      withExtendedLifetime((link, subscription, observer)) {}
    }
  }
}

/// Numbers that come in order.
private struct Received: Equatable {
  var next = 0
  var wrong = 0
  mutating func add(_ id: Int) {
    if id != next { wrong += 1 }
    next = id + 1
  }
}
