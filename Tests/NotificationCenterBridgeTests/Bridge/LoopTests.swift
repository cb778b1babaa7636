public import Foundation
public import NotificationCenterBridge
public import PubSub
import Testing

/// What a bridge takes for an event that returns, and what not.
@Suite struct `A bridge and events that return` {
  private struct Confirmed: BusEvent, NotificationConvertible {
    let id: Int
    init(id: Int) { self.id = id }
    var notificationInfo: NotificationInfo { NotificationInfo(.orderID, id) }
    init(_ notification: Notification) throws { self.init(id: try notification.value(for: .orderID)) }
  }

  private let log = Log()

  private func observe(_ name: Notification.Name, at center: NotificationCenter, _ text: String) -> any NSObjectProtocol
  {
    center.addObserver(forName: name, object: nil, queue: nil) { [log] in
      log.add("\(text) \($0.userInfo?["orderID"] ?? "-")")
    }
  }

  private func place(_ id: Int, at center: NotificationCenter) {
    center.post(name: OrderPlaced.notificationName, object: nil, userInfo: ["orderID": id])
  }

  @Test func `no notification returns to its center, through however many buses and centers`() {
    let buses = (0..<3).map { _ in EventBus() }
    let centers = (0..<3).map { _ in NotificationCenter() }
    var links: [NotificationLink] = []
    for index in 0..<3 {
      links.append(NotificationCenterBridge(buses[index], to: centers[index]).receive(OrderPlaced.self))
      links.append(NotificationCenterBridge(buses[index], to: centers[(index + 1) % 3]).post(OrderPlaced.self))
    }
    let observers = (0..<3).map { observe(OrderPlaced.notificationName, at: centers[$0], "center \($0)") }
    let subscriptions = (0..<3).map { index in
      buses[index].subscribe(to: OrderPlaced.self) { [log] in log.add("bus \(index) \($0.id)") }
    }
    place(1, at: centers[0])
    buses[1].post(OrderPlaced(id: 2))
    let places = (0..<3).flatMap { ["bus \($0)", "center \($0)"] }
    #expect(log.all.sorted() == (places.map { "\($0) 1" } + places.map { "\($0) 2" }).sorted())
    withExtendedLifetime((links, observers, subscriptions)) {}
  }

  @Test func `a notification with another's userInfo is new, at once or later`() {
    let (bus, center) = (EventBus(), NotificationCenter())
    let bridge = NotificationCenterBridge(bus, to: center)
    let links = [bridge.exchange(OrderPlaced.self), bridge.exchange(Confirmed.self)]
    nonisolated(unsafe) var former: [AnyHashable: Any]?
    let observer = center.addObserver(forName: OrderPlaced.notificationName, object: nil, queue: nil) { notification in
      former = notification.userInfo
      center.post(name: Confirmed.notificationName, object: nil, userInfo: notification.userInfo)
    }
    let subscriptions = [
      bus.subscribe(to: Confirmed.self) { [log] in log.add("confirmed \($0.id)") },
      bus.subscribe(to: OrderPlaced.self) { [log] in log.add("placed \($0.id)") },
    ]
    place(1, at: center)
    bus.post(OrderPlaced(id: 2))
    center.post(name: OrderPlaced.notificationName, object: nil, userInfo: former)
    #expect(log.all.sorted() == ["confirmed 1", "confirmed 2", "confirmed 2", "placed 1", "placed 2", "placed 2"])
    withExtendedLifetime((links, observer, subscriptions)) {}
  }

  @Test func `a notification from another object is new, with the same name and userInfo`() {
    let (bus, center, others) = (EventBus(), NotificationCenter(), Shop())
    let link = NotificationCenterBridge(bus, to: center).exchange(OrderPlaced.self)
    let observer = center.addObserver(forName: OrderPlaced.notificationName, object: nil, queue: nil) { notification in
      guard notification.object == nil else { return }
      center.post(name: notification.name, object: others, userInfo: notification.userInfo)
    }
    let subscription = bus.subscribe(to: OrderPlaced.self) { [log] event in
      log.add("\(event.id) \(EventBus.subjectOfPost === others)")
    }
    bus.post(OrderPlaced(id: 1))
    #expect(log.all.sorted() == ["1 false", "1 true"])
    withExtendedLifetime((link, observer, subscription)) {}
  }

  @Test func `what the bus reports of a post is new`() {
    let (bus, center) = (EventBus(), NotificationCenter())
    let bridge = NotificationCenterBridge(bus, to: center)
    let links = [bridge.receive(OrderPlaced.self), bridge.post(EventBus.Undelivered.self)]
    let observer = observe(EventBus.Undelivered.notificationName, at: center, "undelivered")
    bus.post(OrderPlaced(id: 1))
    place(2, at: center)
    #expect(log.all == ["undelivered -", "undelivered -"])
    withExtendedLifetime((links, observer)) {}
  }

  @Test func `what was refused for its depth is reported`() {
    let (bus, center) = (EventBus(nestingLimit: 2), NotificationCenter())
    let bridge = NotificationCenterBridge(bus, to: center)
    let links = [bridge.receive(OrderPlaced.self), bridge.post(EventBus.PostRefused.self)]
    let observer = observe(EventBus.PostRefused.notificationName, at: center, "refused")
    let subscription = bus.subscribe(to: OrderPlaced.self) { [weak bus] _ in bus?.post(OrderPlaced(id: 3)) }
    bus.post(OrderPlaced(id: 1))
    place(2, at: center)
    #expect(log.all == ["refused -", "refused -"])
    withExtendedLifetime((links, observer, subscription)) {}
  }
}

extension EventBus.Undelivered: NotificationConvertible {
  /// Not made of notifications.
  public init(_ notification: Notification) throws { throw CancellationError() }
}

extension EventBus.PostRefused: NotificationConvertible {
  /// Not made of notifications.
  public init(_ notification: Notification) throws { throw CancellationError() }
}
