/// Distinguishes copies of an order to end from repeated orders, and orders that ask from orders that do not.
///
/// The type is pure. The terminal or the shell sends a signal to the whole job. A wrapper such as `timeout`, `npm` or a
/// container's init also forwards it, so the program receives each order twice. A user repeats an order later, if
/// nothing seems to happen.
///
///     none ──asking order──▶ asked ──any order, no copy──▶ ending ──any order, no copy──▶ the process ends at once
///      │ ▲                     │ │                          ▲ ▲
///      │ └──refused, forgotten─┘ └────the end begins────────┘ │
///      └──other order─────────────────────────────────────────┘
///
/// A host forgets a refusal when the user goes on: at a key since the question, or when the program leaves the
/// foreground.
struct EndOrders: Sendable, Hashable {
  /// An order that arrives within this time after the handling of the last one is a copy of it.
  static let copyWindow = Duration.milliseconds(500)

  /// The time when the host handled the latest order that was not a copy; nil before the first.
  private(set) var began: Duration?
  private var stage = Stage.none

  private enum Stage: Sendable, Hashable { case none, asked, ending }

  /// The meaning of an order.
  enum Meaning: Sendable, Hashable {
    /// The first order, with a cause that asks: the application may refuse to end.
    case ask
    /// End in order, with the whole tear-down.
    case end
    /// A copy of the order before.
    case copy
    /// A separate, later order: end at once.
    case endAtOnce
  }

  /// Handles an order.
  ///
  /// - Parameters:
  ///   - record: the signal.
  ///   - asks: whether a first order with this cause asks.
  /// - Returns: the meaning of the order.
  mutating func take(_ record: SignalRecord, asks: Bool = false) -> Meaning {
    let isCopy = began.map { record.arrived - $0 < Self.copyWindow } ?? false
    switch stage {
    case .none where asks:
      (stage, began) = (.asked, record.taken)
      return .ask
    case .none: break
    // Wrappers forward Ctrl-C as SIGINT. A SIGTERM always counts, because the delegate may refuse the end that Ctrl-C
    // asked for.
    case .asked: if isCopy, record.signal == .interrupt { return .copy }
    case .ending: return isCopy ? .copy : .endAtOnce
    }
    (stage, began) = (.ending, record.taken)
    return .end
  }

  /// Notes that the end has begun, so that no further order asks.
  mutating func beginEnd() { if stage == .asked { stage = .ending } }

  /// Forgets the question after a refusal, so that the next order is a first one again.
  mutating func forgetQuestion() { if stage == .asked { stage = .none } }
}
