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
struct SyncDidEnd: BusEvent {
  let ids: Set<Int>
}

struct UserDidSignIn: MainActorEvent {
  let user: String
}

struct UserDidSignOut: MainActorEvent {}

extension DayLabel {
  func subscribe(to bus: EventBus) {
    bus.subscribe(to: Application.WillEnterForeground.self, for: self) { label, _ in
      label.refresh()
    }
    bus.subscribe(to: Application.SignificantTimeChange.self, for: self) { label, _ in
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
    bus.subscribe(to: Application.DidReceiveMemoryWarning.self, for: self) { cache, _ in cache.empty() }
    bus.subscribe(to: UserDidSignOut.self, for: self) { cache, _ in cache.empty() }
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
    bus.subscribe(to: Application.DidEnterBackground.self, for: self) { saver, _ in saver.save() }
    bus.subscribe(to: Application.WillTerminate.self, for: self) { saver, _ in saver.save() }
  }
}

extension OrderList {
  func subscribe(to bus: EventBus) {
    bus.subscribe(to: OrderDidArrive.self, for: self) { list, event in list.add(event.id) }
    bus.subscribe(to: OrderWasCancelled.self, for: self) { list, event in list.remove(event.id) }
  }
}

extension Badge {
  func subscribe(to bus: EventBus) {
    bus.subscribe(to: OrderDidArrive.self, for: self) { badge, event in badge.increment(for: event.id) }
    bus.subscribe(to: Application.DidBecomeActive.self, for: self) { badge, _ in badge.reset() }
  }
}

extension ReceiptPrinter {
  func subscribe(to bus: EventBus) {
    bus.subscribe(to: OrderDidArrive.self, for: self, from: till) { printer, event in printer.printReceipt(of: event.id)
    }
  }
}

extension SyncQueue {
  func subscribe(to bus: EventBus) {
    bus.subscribe(to: OrderDidArrive.self, for: self) { queue, event in queue.add(event.id) }
    bus.subscribe(to: SyncDidEnd.self, for: self) { queue, event in queue.remove(event.ids) }
  }
}

extension Session {
  func subscribe(to bus: EventBus) {
    bus.subscribe(to: UserDidSignIn.self, for: self) { session, event in session.begin(event.user) }
    bus.subscribe(to: UserDidSignOut.self, for: self) { session, _ in session.end() }
  }
}
