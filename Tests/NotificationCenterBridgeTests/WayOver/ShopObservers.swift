import Foundation

// The program as it was: twenty classic observers. Each component returns the tokens of its own.

extension Notification.Name {
  static let didFinishLaunching = Self("UIApplicationDidFinishLaunchingNotification")
  static let didBecomeActive = Self("UIApplicationDidBecomeActiveNotification")
  static let willResignActive = Self("UIApplicationWillResignActiveNotification")
  static let didEnterBackground = Self("UIApplicationDidEnterBackgroundNotification")
  static let willEnterForeground = Self("UIApplicationWillEnterForegroundNotification")
  static let willTerminate = Self("UIApplicationWillTerminateNotification")
  static let didReceiveMemoryWarning = Self("UIApplicationDidReceiveMemoryWarningNotification")
  static let significantTimeChange = Self("UIApplicationSignificantTimeChangeNotification")

  static let orderDidArrive = Self("com.example.shop.orderDidArrive")
  static let orderWasCancelled = Self("com.example.shop.orderWasCancelled")
  static let syncDidEnd = Self("com.example.shop.syncDidEnd")
  static let userDidSignIn = Self("com.example.shop.userDidSignIn")
  static let userDidSignOut = Self("com.example.shop.userDidSignOut")
}

/// What `addObserver` returns.
typealias ObserverTokens = [any NSObjectProtocol]

extension DayLabel {
  func observe(_ center: NotificationCenter) -> ObserverTokens {
    [
      center.addObserver(forName: .willEnterForeground, object: nil, queue: nil) {
        [weak self] _ in
        MainActor.assumeIsolated { self?.refresh() }
      },
      center.addObserver(forName: .significantTimeChange, object: nil, queue: nil) {
        [weak self] _ in
        MainActor.assumeIsolated { self?.refresh() }
      },
    ]
  }
}

extension Connection {
  func observe(_ center: NotificationCenter) -> ObserverTokens {
    [
      center.addObserver(forName: .didFinishLaunching, object: nil, queue: nil) { [weak self] _ in
        MainActor.assumeIsolated { self?.open() }
      },
      center.addObserver(forName: .willEnterForeground, object: nil, queue: nil) { [weak self] _ in
        MainActor.assumeIsolated { self?.open() }
      },
      center.addObserver(forName: .didEnterBackground, object: nil, queue: nil) { [weak self] _ in
        MainActor.assumeIsolated { self?.close() }
      },
    ]
  }
}

extension PriceCache {
  func observe(_ center: NotificationCenter) -> ObserverTokens {
    [.didReceiveMemoryWarning, .userDidSignOut].map { name in
      center.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
        MainActor.assumeIsolated { self?.empty() }
      }
    }
  }
}

extension Ticker {
  func observe(_ center: NotificationCenter) -> ObserverTokens {
    [
      center.addObserver(forName: .didBecomeActive, object: nil, queue: nil) { [weak self] _ in
        MainActor.assumeIsolated { self?.start() }
      },
      center.addObserver(forName: .willResignActive, object: nil, queue: nil) { [weak self] _ in
        MainActor.assumeIsolated { self?.stop() }
      },
    ]
  }
}

extension StateSaver {
  func observe(_ center: NotificationCenter) -> ObserverTokens {
    [.didEnterBackground, .willTerminate].map { name in
      center.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
        MainActor.assumeIsolated { self?.save() }
      }
    }
  }
}

extension OrderList {
  func observe(_ center: NotificationCenter) -> ObserverTokens {
    [
      center.addObserver(forName: .orderDidArrive, object: nil, queue: nil) { [weak self] notification in
        guard let id = notification.userInfo?["orderID"] as? Int else { return }
        MainActor.assumeIsolated { self?.add(id) }
      },
      center.addObserver(forName: .orderWasCancelled, object: nil, queue: nil) { [weak self] notification in
        guard let id = notification.userInfo?["orderID"] as? Int else { return }
        MainActor.assumeIsolated { self?.remove(id) }
      },
    ]
  }
}

extension Badge {
  func observe(_ center: NotificationCenter) -> ObserverTokens {
    [
      center.addObserver(forName: .orderDidArrive, object: nil, queue: nil) { [weak self] notification in
        guard let id = notification.userInfo?["orderID"] as? Int else { return }
        MainActor.assumeIsolated { self?.increment(for: id) }
      },
      center.addObserver(forName: .didBecomeActive, object: nil, queue: nil) { [weak self] _ in
        MainActor.assumeIsolated { self?.reset() }
      },
    ]
  }
}

extension ReceiptPrinter {
  func observe(_ center: NotificationCenter) -> ObserverTokens {
    [
      center.addObserver(forName: .orderDidArrive, object: till, queue: nil) { [weak self] notification in
        guard let id = notification.userInfo?["orderID"] as? Int else { return }
        MainActor.assumeIsolated { self?.printReceipt(of: id) }
      }
    ]
  }
}

extension SyncQueue {
  func observe(_ center: NotificationCenter) -> ObserverTokens {
    [
      center.addObserver(forName: .orderDidArrive, object: nil, queue: nil) { [weak self] notification in
        if let id = notification.userInfo?["orderID"] as? Int { self?.add(id) }
      },
      center.addObserver(forName: .syncDidEnd, object: nil, queue: nil) { [weak self] notification in
        if let ids = notification.userInfo?["orderIDs"] as? Set<Int> { self?.remove(ids) }
      },
    ]
  }
}

extension Session {
  func observe(_ center: NotificationCenter) -> ObserverTokens {
    [
      center.addObserver(forName: .userDidSignIn, object: nil, queue: nil) { [weak self] notification in
        guard let user = notification.userInfo?["user"] as? String else { return }
        MainActor.assumeIsolated { self?.begin(user) }
      },
      center.addObserver(forName: .userDidSignOut, object: nil, queue: nil) { [weak self] _ in
        MainActor.assumeIsolated { self?.end() }
      },
    ]
  }
}
