/// The source of tips: a server over TCP in the program, a list in memory where a script is played.
@MainActor protocol TipsService: AnyObject, Sendable {
  /// Opens a connection, which reports its state and the tips until it has been closed.
  func connect(_ report: @escaping @MainActor (TipsReport) -> Void) -> any TipsConnection
  func stop() async
}

/// A connection to a tips service, or the attempts to open one.
@MainActor protocol TipsConnection: AnyObject, Sendable {
  func requestTip()
  /// Closes the connection; it is closed when this returns.
  func close() async
}

/// A report of a connection.
enum TipsReport: Hashable, Sendable {
  case connecting(to: String)
  case connected(to: String)
  case tip(String)
  /// The connection failed, and is tried again after a delay.
  case failed(String, retryingIn: Duration)
}

/// The tips of the program's own server.
enum Tips {
  static let all = [
    "Drink water before you are thirsty.",
    "Folic acid matters most in the first twelve weeks.",
    "A short walk every day does more than a long one on Sunday.",
    "Write down your questions before each appointment.",
    "Sleep on your side from the middle of pregnancy on.",
    "Wash fruit and vegetables well, and leave raw milk cheese.",
    "Pack the hospital bag by week 36.",
    "Ask for help; carrying is enough work for one person.",
  ]
}

/// Tips without a network, for runs that must be the same each time.
@MainActor final class MemoryTips: TipsService {
  private var count = 0

  func connect(_ report: @escaping @MainActor (TipsReport) -> Void) -> any TipsConnection {
    report(.connected(to: "memory"))
    let connection = Connection(service: self, report: report)
    connection.requestTip()
    return connection
  }

  func stop() {}

  private func next() -> String {
    defer { count += 1 }
    return Tips.all[count % Tips.all.count]
  }

  private final class Connection: TipsConnection {
    private let service: MemoryTips
    private let report: @MainActor (TipsReport) -> Void

    init(service: MemoryTips, report: @escaping @MainActor (TipsReport) -> Void) {
      (self.service, self.report) = (service, report)
    }

    func requestTip() { report(.tip(service.next())) }
    func close() {}
  }
}
