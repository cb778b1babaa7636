import Synchronization

// The components of a shop's program: what each does, and nothing of how it hears of it. That comes in three forms: as observers of
// a notification center (ShopObservers.swift), as subscriptions and managed resources (ShopSubscriptions.swift), and half and half
// (ShopProgram.swift).

/// Shows the day.
@MainActor final class DayLabel {
  private let today: Today
  private(set) var text = ""

  init(_ today: Today) {
    self.today = today
    refresh()
  }

  func refresh() { text = "day \(today.day)" }
}

/// The calendar, which a test turns.
@MainActor final class Today {
  var day = 1
}

/// A connection to the server: open in the foreground.
@MainActor final class Connection {
  private let log: Log
  private(set) var isOpen = false
  private(set) var openings = 0

  init(_ log: Log) { self.log = log }

  func open() {
    guard !isOpen else { return }
    isOpen = true
    openings += 1
    log.add("open")
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    log.add("close")
  }
}

/// Prices that were looked up.
@MainActor final class PriceCache {
  private(set) var names: Set<String> = []
  func keep(_ name: String) { names.insert(name) }
  func empty() { names = [] }
}

/// A timer: runs while the application is active.
@MainActor final class Ticker {
  private(set) var isTicking = false
  func start() { isTicking = true }
  func stop() { isTicking = false }
}

/// The orders.
@MainActor final class OrderList {
  private let log: Log
  private(set) var ids: [Int] = []

  init(_ log: Log) { self.log = log }

  func add(_ id: Int) {
    ids.append(id)
    log.add("list \(id)")
  }

  func remove(_ id: Int) { ids.removeAll { $0 == id } }
}

/// Writes the orders down.
@MainActor final class StateSaver {
  private let list: OrderList
  private let log: Log
  private(set) var saved: [[Int]] = []

  init(_ list: OrderList, _ log: Log) { (self.list, self.log) = (list, log) }

  func save() {
    saved.append(list.ids)
    log.add("save")
  }
}

/// How many orders have come since the user last looked.
@MainActor final class Badge {
  private let log: Log
  private(set) var count = 0

  init(_ log: Log) { self.log = log }

  func increment(for id: Int) {
    count += 1
    log.add("badge \(id)")
  }

  func reset() { count = 0 }
}

/// Where orders are taken.
final class Till: Sendable {}

/// Prints receipts for one till.
@MainActor final class ReceiptPrinter {
  let till: Till
  private let log: Log
  private(set) var receipts: [Int] = []

  init(of till: Till, _ log: Log) { (self.till, self.log) = (till, log) }

  func printReceipt(of id: Int) {
    receipts.append(id)
    log.add("printer \(id)")
  }
}

/// The orders that the server does not know yet; used on any thread.
final class SyncQueue: Sendable {
  private let pending = Mutex<Set<Int>>([])
  var count: Int { pending.withLock(\.count) }
  func add(_ id: Int) { _ = pending.withLock { $0.insert(id) } }
  func remove(_ ids: Set<Int>) { pending.withLock { $0.subtract(ids) } }
}

/// The user who is signed in, as the program shows it.
@MainActor final class Session {
  private(set) var user: String?
  func begin(_ user: String) { self.user = user }
  func end() { user = nil }
}

/// All components of one run.
@MainActor struct ShopParts {
  let log: Log
  let today: Today
  let (counter, garden): (Till, Till)
  let (label, connection, cache, ticker): (DayLabel, Connection, PriceCache, Ticker)
  let (list, saver, badge, printer): (OrderList, StateSaver, Badge, ReceiptPrinter)
  let (sync, session): (SyncQueue, Session)

  init() {
    let (log, today, counter) = (Log(), Today(), Till())
    (self.log, self.today, self.counter, garden) = (log, today, counter, Till())
    (label, connection, cache, ticker) = (DayLabel(today), Connection(log), PriceCache(), Ticker())
    let list = OrderList(log)
    (self.list, saver, badge) = (list, StateSaver(list, log), Badge(log))
    printer = ReceiptPrinter(of: counter, log)
    (sync, session) = (SyncQueue(), Session())
  }

  var facts: ShopFacts {
    ShopFacts(
      label: label.text, isConnected: connection.isOpen, connections: connection.openings, cached: cache.names,
      isTicking: ticker.isTicking, orders: list.ids, saved: saver.saved, badge: badge.count,
      receipts: printer.receipts, pending: sync.count, user: session.user)
  }
}

/// What can be seen of the program from outside.
struct ShopFacts: Equatable {
  var label = "day 1"
  var isConnected = false
  var connections = 0
  var cached: Set<String> = []
  var isTicking = false
  var orders: [Int] = []
  var saved: [[Int]] = []
  var badge = 0
  var receipts: [Int] = []
  var pending = 0
  var user: String?
}
