/// Tells copies of an order to end from an order that is repeated, and an order that asks from one that does not.
///
/// Pure. A wrapper such as `timeout`, `npm` or a container's init forwards a signal that the terminal or the shell has sent to the
/// whole job already, so that a program gets each order twice. A person who sees that nothing happens repeats the order later.
///
///     none ──asking order──▶ asked ──any order, no copy──▶ ending ──any order, no copy──▶ the process ends at once
///      │ ▲                     │ │                          ▲ ▲
///      │ └──refused, and a key─┘ └────the end begins────────┘ │
///      └──other order─────────────────────────────────────────┘
struct EndOrders: Sendable, Hashable {
  /// An order that arrives sooner after the one before was taken up is a copy of it.
  static let copyWindow = Duration.milliseconds(500)

  /// When the latest order that counts was taken up; nil before.
  private(set) var began: Duration?
  private var stage = Stage.none

  private enum Stage: Sendable, Hashable { case none, asked, ending }

  /// What an order means.
  enum Meaning: Sendable, Hashable {
    /// The first one, and its cause asks: the application may refuse to end.
    case ask
    /// End, in full order.
    case end
    /// A copy of the one before.
    case copy
    /// A separate, later one: end at once.
    case endAtOnce
  }

  /// Takes an order.
  ///
  /// - Parameters:
  ///   - record: the signal.
  ///   - asks: whether a first order of this cause asks.
  /// - Returns: what it means.
  mutating func take(_ record: SignalRecord, asks: Bool = false) -> Meaning {
    let isCopy = began.map { record.arrived - $0 < Self.copyWindow } ?? false
    switch stage {
    case .none where asks:
      (stage, began) = (.asked, record.taken)
      return .ask
    case .none: break
    // Wrappers forward Ctrl-C as SIGINT. A SIGTERM is not lost to an end that may be refused.
    case .asked: if isCopy, record.signal == .interrupt { return .copy }
    case .ending: return isCopy ? .copy : .endAtOnce
    }
    (stage, began) = (.ending, record.taken)
    return .end
  }

  /// The end has begun: nothing is asked any more.
  mutating func beginEnd() { if stage == .asked { stage = .ending } }

  /// The end was refused and the user has gone on working: the next order is a first one again.
  mutating func forgetQuestion() { if stage == .asked { stage = .none } }
}
