import Foundation
import NotificationCenterBridge
import PubSub
import Synchronization
import Testing

@Suite struct `A bridge to a notification center` {
  private let bus = EventBus()
  private let center = NotificationCenter()
  private let log = Log()

  private var bridge: NotificationCenterBridge { NotificationCenterBridge(bus, to: center) }

  /// An observer in the classic manner.
  private func observe(_ name: Notification.Name?, _ label: String) -> any NSObjectProtocol {
    center.addObserver(forName: name, object: nil, queue: nil) { [log] notification in
      log.add("\(label) \(notification.userInfo?["orderID"] ?? "-")")
    }
  }

  private func subscribe(_ label: String) -> EventBus.Subscription {
    bus.subscribe(to: OrderPlaced.self) { [log] in log.add("\(label) \($0.id)") }
  }

  @Test func `posts events as notifications, inside the post and in its order`() {
    let observer = observe(OrderPlaced.notificationName, "observer")
    let before = subscribe("before")
    let link = bridge.post(OrderPlaced.self)
    let after = subscribe("after")
    bus.post(OrderPlaced(id: 1))
    bus.post(OrderPlaced(id: 2))
    #expect(log.all == ["before 1", "observer 1", "after 1", "before 2", "observer 2", "after 2"])
    withExtendedLifetime((observer, before, link, after)) {}
  }

  @Test func `posts notifications as events, inside the post and in its order`() {
    let subscription = subscribe("handler")
    let before = observe(OrderPlaced.notificationName, "before")
    let link = bridge.receive(OrderPlaced.self)
    let after = observe(OrderPlaced.notificationName, "after")
    center.post(name: OrderPlaced.notificationName, object: nil, userInfo: ["orderID": 1])
    center.post(name: Notification.Name("other"), object: nil)
    #expect(Set(log.all) == ["before 1", "handler 1", "after 1"] && log.all.count == 3)
    withExtendedLifetime((subscription, before, link, after)) {}
  }

  @Test func `both ways passes each event once`() {
    let link = bridge.exchange(OrderPlaced.self)
    let observer = observe(nil, "observer")
    let subscription = subscribe("handler")
    bus.post(OrderPlaced(id: 1))
    #expect(log.all == ["observer 1", "handler 1"])
    center.post(name: OrderPlaced.notificationName, object: nil, userInfo: ["orderID": 2])
    #expect(Set(log.all.dropFirst(2)) == ["observer 2", "handler 2"] && log.all.count == 4)
    withExtendedLifetime((link, observer, subscription)) {}
  }

  /// What a cancelled handler has captured is released when the post is over: it belongs to no event.
  @Test func `passes what is posted by what a post releases`() {
    final class Last: Sendable {
      let bus: EventBus
      init(_ bus: EventBus) { self.bus = bus }
      deinit { bus.post(OrderPlaced(id: 100)) }
    }
    let link = bridge.exchange(OrderPlaced.self)
    let observer = observe(OrderPlaced.notificationName, "observer")
    let kept = Mutex<EventBus.Subscription?>(nil)
    let canceller = bus.subscribe(to: OrderPlaced.self) { event in
      if event.id == 1 { kept.withLock { $0 }?.cancel() }
    }
    do {
      let last = Last(bus)
      let subscription = bus.subscribe(to: OrderPlaced.self) { _ in withExtendedLifetime(last) {} }
      kept.withLock { $0 = subscription }
    }
    center.post(name: OrderPlaced.notificationName, object: nil, userInfo: ["orderID": 1])
    #expect(log.all.count { $0 == "observer 100" } == 1, "\(log.all)")
    withExtendedLifetime((link, observer, canceller)) {}
  }

  @Test func `has the object as subject, and the subject as object`() {
    let (mine, other) = (Shop(), Shop())
    let link = bridge.exchange(OrderPlaced.self)
    let subscription = bus.subscribe(to: OrderPlaced.self, from: mine) { [log] in log.add("handler \($0.id)") }
    let observer = center.addObserver(forName: OrderPlaced.notificationName, object: mine, queue: nil) {
      [log] in log.add("observer \($0.userInfo?["orderID"] ?? "-")")
    }
    for (id, shop) in [(1, mine), (2, other)] {
      center.post(name: OrderPlaced.notificationName, object: shop, userInfo: ["orderID": id])
    }
    center.post(name: OrderPlaced.notificationName, object: "a text", userInfo: ["orderID": 3])
    for (id, shop) in [(4, mine), (5, other)] { bus.post(OrderPlaced(id: id), from: shop) }
    #expect(log.all.sorted() == ["handler 1", "handler 4", "observer 1", "observer 4"])
    withExtendedLifetime((link, subscription, observer)) {}
  }

  @Test func `passes what handlers and observers post meanwhile`() {
    let link = bridge.exchange(OrderPlaced.self)
    let observer = center.addObserver(forName: OrderPlaced.notificationName, object: nil, queue: nil) {
      [log, center] notification in
      let id = notification.userInfo?["orderID"] as? Int ?? 0
      log.add("observer \(id)")
      if id == 1 { center.post(name: OrderPlaced.notificationName, object: nil, userInfo: ["orderID": 10]) }
    }
    let subscription = bus.subscribe(to: OrderPlaced.self) { [log, bus] event in
      log.add("handler \(event.id)")
      if event.id == 10 { bus.post(OrderPlaced(id: 100)) }
    }
    bus.post(OrderPlaced(id: 1))
    for id in [1, 10, 100] {
      #expect(log.all.count { $0 == "observer \(id)" } == 1, "\(log.all)")
      #expect(log.all.count { $0 == "handler \(id)" } == 1, "\(log.all)")
    }
    #expect(log.all.count == 6)
    withExtendedLifetime((link, observer, subscription)) {}
  }

  @Test func `in a ring of buses and centers passes each event once round`() {
    let (buses, centers) = ([EventBus(), EventBus()], [NotificationCenter(), NotificationCenter()])
    // Each bus exchanges with both centers.
    let links = buses.flatMap { bus in
      centers.map { NotificationCenterBridge(bus, to: $0).exchange(OrderPlaced.self) }
    }
    let subscriptions = buses.enumerated().map { number, bus in
      bus.subscribe(to: OrderPlaced.self) { [log] in log.add("bus \(number): \($0.id)") }
    }
    buses[0].post(OrderPlaced(id: 1))
    #expect(log.all.count { $0 == "bus 0: 1" } == 1)
    // It came along both centers, and each of them is a notification of its own.
    #expect(log.all.count { $0 == "bus 1: 1" } == 2)
    #expect(log.all.count == 3)
    withExtendedLifetime((links, subscriptions)) {}
  }

  @Test func `ends with its link, and keeps neither bus nor center`() {
    weak var formerBus: EventBus?
    weak var formerCenter: NotificationCenter?
    do {
      let (bus, center) = (EventBus(), NotificationCenter())
      (formerBus, formerCenter) = (bus, center)
      let link = NotificationCenterBridge(bus, to: center).exchange(OrderPlaced.self)
      let subscription = bus.subscribe(to: OrderPlaced.self) { [log] in log.add("\($0.id)") }
      link.cancel()
      link.cancel()
      center.post(name: OrderPlaced.notificationName, object: nil, userInfo: ["orderID": 1])
      #expect(log.all.isEmpty)
      var other: NotificationLink? = NotificationCenterBridge(bus, to: center).receive(OrderPlaced.self)
      center.post(name: OrderPlaced.notificationName, object: nil, userInfo: ["orderID": 2])
      #expect(log.all == ["2"])
      other = nil
      center.post(name: OrderPlaced.notificationName, object: nil, userInfo: ["orderID": 3])
      #expect(log.all == ["2"])
      withExtendedLifetime((subscription, other)) {}
    }
    #expect(formerBus == nil && formerCenter == nil)
  }

  @Test func `has the subject of a post as the notification's object`() {
    let shop = Shop()
    let observer = center.addObserver(forName: OrderPlaced.notificationName, object: nil, queue: nil) {
      [log] notification in log.add(notification.object as? Shop === shop ? "the shop" : "another")
    }
    let link = bridge.post(OrderPlaced.self)
    bus.post(OrderPlaced(id: 1), from: shop)
    bus.post(OrderPlaced(id: 2))
    #expect(log.all == ["the shop", "another"])
    withExtendedLifetime((observer, link)) {}
  }

  // MARK: Notifications that do not fit

  private func failures() -> EventBus.Subscription {
    bus.subscribe(to: NotificationBridgeFailure.self) { [log] in log.add("\($0)") }
  }

  @Test func `reports a notification that lacks its values, and posts no event`() {
    let (link, failures, subscription) = (bridge.receive(OrderPlaced.self), failures(), subscribe("handler"))
    center.post(name: OrderPlaced.notificationName, object: nil)
    center.post(name: OrderPlaced.notificationName, object: nil, userInfo: ["orderID": "seven"])
    #expect(
      log.all == [
        "the notification OrderPlaced was not posted as the event OrderPlaced: userInfo has no value for \"orderID\"",
        "the notification OrderPlaced was not posted as the event OrderPlaced: userInfo has a value of type String for \"orderID\", and Int is expected",
      ])
    withExtendedLifetime((link, failures, subscription)) {}
  }

  @Test @MainActor func `reports a wrong object`() {
    let (link, failures) = (bridge.receive(ShopOpened.self), failures())
    center.post(name: ShopOpened.notificationName, object: log)
    center.post(name: ShopOpened.notificationName, object: nil)
    #expect(
      log.all == [
        "the notification com.example.shop.opened was not posted as the event ShopOpened: the object is a Log, and Shop is expected",
        "the notification com.example.shop.opened was not posted as the event ShopOpened: there is no object, and Shop is expected",
      ])
    withExtendedLifetime((link, failures)) {}
  }

  @Test @MainActor func `reports a main-actor notification from another thread, and posts its event later, in order`()
    async
  {
    let shops = [Shop(), Shop(), Shop()]
    let (link, failures) = (bridge.receive(ShopOpened.self), failures())
    let (ended, hasEnded) = AsyncStream.makeStream(of: Void.self)
    let last = bus.subscribe(to: ShopOpened.self) { [log] event in
      let number = shops.firstIndex { $0 === event.shop } ?? -1
      log.add("shop \(number)")
      if number == 2 { hasEnded.finish() }
    }
    Thread.detachNewThread { [center] in
      for shop in shops { center.post(name: ShopOpened.notificationName, object: shop) }
    }
    for await _ in ended {}
    let report =
      "the notification com.example.shop.opened was posted off the main thread: the event ShopOpened follows on the main actor"
    #expect(log.all.filter { $0 == report }.count == 3)
    #expect(log.all.filter { $0 != report } == ["shop 0", "shop 1", "shop 2"])
    withExtendedLifetime((link, failures, last)) {}
  }

  // MARK: Objects that are being deinitialized

  /// In a child process: what keeps an object that is being deinitialized ends the process later.
  @Test func `keeps no object that posts a main-actor notification in its deinitializer off the main thread`() async {
    await #expect(processExitsWith: .success) {
      let (bus, center, log) = (EventBus(), NotificationCenter(), Log())
      let bridge = NotificationCenterBridge(bus, to: center)
      let links = [bridge.receive(ShopClosed.self), bridge.receive(ShopOpened.self)]
      let (ended, hasEnded) = AsyncStream.makeStream(of: Void.self)
      let subscriptions = [
        bus.subscribe(to: NotificationBridgeFailure.self) { log.add("\($0.eventName) \($0.reason)") },
        await MainActor.run {
          bus.subscribe(to: ShopOpened.self) { _ in log.add("opened") }
        },
        await MainActor.run {
          bus.subscribe(to: ShopClosed.self) { _ in
            log.add("closed, subject: \(EventBus.subjectOfPost == nil ? "none" : "some")")
            hasEnded.finish()
          }
        },
      ]
      Thread.detachNewThread {
        // The event of the first notification has the object; that of the second one has not.
        _ = ClosingShop { center.post(name: ShopOpened.notificationName, object: $0) }
        _ = ClosingShop { center.post(name: ShopClosed.notificationName, object: $0) }
      }
      for await _ in ended {}
      precondition(log.all.last == "closed, subject: none" && !log.all.contains("opened"), "\(log.all)")
      precondition(log.all.count == 3, "\(log.all)")
      withExtendedLifetime((links, subscriptions)) {}
    }
  }

  @Test @MainActor func `posts the event that follows from the object, which it keeps until then`() async {
    let link = bridge.receive(ShopClosed.self)
    let (ended, hasEnded) = AsyncStream.makeStream(of: Void.self)
    let subscription = bus.subscribe(to: ShopClosed.self) { [log] _ in
      log.add("subject: \(EventBus.subjectOfPost is Shop)")
      hasEnded.finish()
    }
    Thread.detachNewThread { [center] in center.post(name: ShopClosed.notificationName, object: Shop()) }
    for await _ in ended {}
    #expect(log.all == ["subject: true"])
    withExtendedLifetime((link, subscription)) {}
  }
}

/// From a shop, which it does not have.
private struct ShopClosed: MainActorEvent, NotificationConvertible {
  init(_ notification: Notification) {}
}

/// Posts when it is deinitialized.
private final class ClosingShop: Shop, @unchecked Sendable {
  private let post: (ClosingShop) -> Void
  init(_ post: @escaping (ClosingShop) -> Void) {
    self.post = post
    super.init()
  }
  deinit { post(self) }
}
