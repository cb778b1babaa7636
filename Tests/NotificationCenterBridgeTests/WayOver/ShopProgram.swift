import AppLifecycle
import Foundation
import NotificationCenterBridge
import PubSub

/// What comes over by itself: a component that listens, or code that posts.
enum ShopPart: CaseIterable {
  case label, connection, cache, ticker, saver, list, badge, printer, sync, session
  case tills, server, account
}

/// The stages of the way over.
enum ShopStage: CaseIterable {
  /// Plain notifications, posted by the platform and by the program.
  case before
  /// The life cycle comes from an `Application`, and a bridge posts it. The program is as it was.
  case step1
  /// Some components and posters have come over.
  case step2
  /// All have come over, and the bridge is gone.
  case step3

  var cameOver: Set<ShopPart> {
    switch self {
    case .before, .step1: []
    case .step2: [.label, .connection, .saver, .list, .session, .sync, .server, .account]
    case .step3: Set(ShopPart.allCases)
    }
  }
}

/// The shop's program, put together for any part of the way.
@MainActor final class ShopProgram {
  let parts = ShopParts()
  let center: NotificationCenter
  private let application: Application?
  private let cameOver: Set<ShopPart>
  private(set) var observers: ObserverTokens = []
  private(set) var links: [NotificationLink] = []
  /// What the bridge could not pass as it should.
  let failures = Log()
  private var subscriptions: Set<EventBus.Subscription> = []

  /// - Parameters:
  ///   - center: where the observers are.
  ///   - application: where the life cycle comes from; nil where the platform posts notifications by itself.
  ///   - cameOver: what has come over; nothing without an application.
  /// - Throws: what `manage` throws.
  init(center: NotificationCenter, application: Application?, cameOver: Set<ShopPart>) throws {
    (self.center, self.application, self.cameOver) = (center, application, cameOver)
    if let application, cameOver.count < ShopPart.allCases.count {
      // First: what has not come over is called first at a launch and, as tear-down is mirrored, last at an end.
      bridgeLifecycle(of: application)
      if !cameOver.isEmpty { bridgeEvents(of: application) }
    }
    for part in ShopPart.allCases {
      if let application, cameOver.contains(part) {
        try bringOver(part, to: application)
      } else {
        observers += observe(part)
      }
    }
  }

  isolated deinit {
    for observer in observers { center.removeObserver(observer) }
  }

  // MARK: Bridges

  private func bridgeLifecycle(of application: Application) {
    let bridge = NotificationCenterBridge(application.bus, to: center)
    links = [bridge.postLifecycle()]

    application.bus.subscribe(to: NotificationBridgeFailure.self) { [failures] in
      failures.add("\($0)")
    }
    .store(in: &subscriptions)
  }

  private func bridgeEvents(of application: Application) {
    let bridge = NotificationCenterBridge(application.bus, to: center)
    links += [
      bridge.exchange(OrderDidArrive.self), bridge.exchange(OrderWasCancelled.self),
      bridge.exchange(SyncDidEnd.self),
      bridge.exchange(UserDidSignIn.self), bridge.exchange(UserDidSignOut.self),
    ]
  }

  // MARK: Listening

  private func observe(_ part: ShopPart) -> ObserverTokens {
    switch part {
    case .label: parts.label.observe(center)
    case .connection: parts.connection.observe(center)
    case .cache: parts.cache.observe(center)
    case .ticker: parts.ticker.observe(center)
    case .saver: parts.saver.observe(center)
    case .list: parts.list.observe(center)
    case .badge: parts.badge.observe(center)
    case .printer: parts.printer.observe(center)
    case .sync: parts.sync.observe(center)
    case .session: parts.session.observe(center)
    case .tills, .server, .account: []
    }
  }

  private func bringOver(_ part: ShopPart, to application: Application) throws(ResourceError) {
    let bus = application.bus
    switch part {
    case .label: parts.label.subscribe(to: bus)
    case .connection: try parts.connection.manage(by: application)
    case .cache: parts.cache.subscribe(to: bus)
    case .ticker: try parts.ticker.manage(by: application)
    case .saver: parts.saver.subscribe(to: bus)
    case .list: parts.list.subscribe(to: bus)
    case .badge: parts.badge.subscribe(to: bus)
    case .printer: parts.printer.subscribe(to: bus)
    case .sync: parts.sync.subscribe(to: bus)
    case .session: parts.session.subscribe(to: bus)
    case .tills, .server, .account: break
    }
  }

  // MARK: Posting

  private func bus(for part: ShopPart) -> EventBus? { cameOver.contains(part) ? application?.bus : nil }

  func order(_ id: Int, at till: Till) {
    if let bus = bus(for: .tills) {
      bus.post(OrderDidArrive(id: id, till: till), from: till)
    } else {
      center.post(name: .orderDidArrive, object: till, userInfo: ["orderID": id])
    }
  }

  func cancelOrder(_ id: Int) {
    if let bus = bus(for: .tills) {
      bus.post(OrderWasCancelled(id: id))
    } else {
      center.post(name: .orderWasCancelled, object: nil, userInfo: ["orderID": id])
    }
  }

  func signIn(_ user: String) {
    if let bus = bus(for: .account) {
      bus.post(UserDidSignIn(user: user))
    } else {
      center.post(name: .userDidSignIn, object: nil, userInfo: ["user": user])
    }
  }

  func signOut() {
    if let bus = bus(for: .account) {
      bus.post(UserDidSignOut())
    } else {
      center.post(name: .userDidSignOut, object: nil)
    }
  }

  func endSync(of ids: Set<Int>) async { await Self.endSync(of: ids, bus(for: .server), center) }

  /// Posts off the main actor, as the connection to the server does.
  @concurrent private static func endSync(of ids: Set<Int>, _ bus: EventBus?, _ center: NotificationCenter) async {
    if let bus {
      bus.post(SyncDidEnd(ids: ids))
    } else {
      center.post(name: .syncDidEnd, object: nil, userInfo: ["orderIDs": ids])
    }
  }
}
