import AppLifecycle
import PubSub

// The program as it becomes: events, subscriptions and managed resources. Nothing here needs Foundation.

struct OrderDidArrive: MainActorEvent {
  let id: Int
  let till: Till
}

struct OrderWasCancelled: MainActorEvent {
  let id: Int
}

/// Posted by the thread that talks to the server.
struct SyncDidEnd: Event {
  let ids: Set<Int>
}

struct UserDidSignIn: MainActorEvent {
  let user: String
}

struct UserDidSignOut: MainActorEvent {}

extension DayLabel {
  func subscribe(to bus: EventBus) {
    bus.subscribe(self, to: Application.WillEnterForeground.self) { label, _ in
      label.refresh()
    }
    bus.subscribe(self, to: Application.SignificantTimeChange.self) { label, _ in
      label.refresh()
    }
  }
}

extension Connection {
  func manage(by application: Application) throws(ResourceError) {
    try application.manage("connection", while: .foreground) { [self] in
      open()
    } release: { [self] _ in
      close()
    }
  }
}

extension PriceCache {
  func subscribe(to bus: EventBus) {
    bus.subscribe(self, to: Application.DidReceiveMemoryWarning.self) { cache, _ in cache.empty() }
    bus.subscribe(self, to: UserDidSignOut.self) { cache, _ in cache.empty() }
  }
}

extension Ticker {
  func manage(by application: Application) throws(ResourceError) {
    try application.manage("ticker", while: .active) { [self] in
      start()
    } release: { [self] _ in
      stop()
    }
  }
}

extension StateSaver {
  func subscribe(to bus: EventBus) {
    bus.subscribe(self, to: Application.DidEnterBackground.self) { saver, _ in saver.save() }
    bus.subscribe(self, to: Application.WillTerminate.self) { saver, _ in saver.save() }
  }
}

extension OrderList {
  func subscribe(to bus: EventBus) {
    bus.subscribe(self, to: OrderDidArrive.self) { list, event in list.add(event.id) }
    bus.subscribe(self, to: OrderWasCancelled.self) { list, event in list.remove(event.id) }
  }
}

extension Badge {
  func subscribe(to bus: EventBus) {
    bus.subscribe(self, to: OrderDidArrive.self) { badge, event in badge.increment(for: event.id) }
    bus.subscribe(self, to: Application.DidBecomeActive.self) { badge, _ in badge.reset() }
  }
}

extension ReceiptPrinter {
  func subscribe(to bus: EventBus) {
    bus.subscribe(self, to: OrderDidArrive.self, from: till) { printer, event in printer.printReceipt(of: event.id) }
  }
}

extension SyncQueue {
  func subscribe(to bus: EventBus) {
    bus.subscribe(self, to: OrderDidArrive.self) { queue, event in queue.add(event.id) }
    bus.subscribe(self, to: SyncDidEnd.self) { queue, event in queue.remove(event.ids) }
  }
}

extension Session {
  func subscribe(to bus: EventBus) {
    bus.subscribe(self, to: UserDidSignIn.self) { session, event in session.begin(event.user) }
    bus.subscribe(self, to: UserDidSignOut.self) { session, _ in session.end() }
  }
}
