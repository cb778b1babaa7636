import AppLifecycle

/// Distinguishes copies of an order to end from repeated orders, and orders that ask from orders that do not.
///
/// The type is pure. The terminal or the shell sends a signal to the whole job. A wrapper such as `timeout`, `npm` or a
/// container's init also forwards it, so the program receives each order twice. A supervisor repeats an order while the
/// program still saves. A user repeats Ctrl-C if nothing seems to happen.
///
///     none ──asking order──▶ asked ──any order, no copy──▶ ending ──insisting order, no copy──▶ the process ends at once
///      │ ▲                     │ │                          ▲ ▲
///      │ └──refused, forgotten─┘ └────the end begins────────┘ │
///      └──other order─────────────────────────────────────────┘
///
/// A host forgets a refusal when the user goes on: at a key since the question, or when the program leaves the
/// foreground.
struct EndOrders: Sendable, Hashable {
  /// An order that arrives within this time after the handling of the last one is a copy of it.
  static let copyWindow = Duration.milliseconds(500)
  /// The causes that ask, and those that insist, by default: the key, which may have been pressed by mistake, and whose user
  /// sees that the program still runs.
  static let keys: Set<LifecycleCause> = [.interruptKey]

  /// The time when the host handled the latest order that had an effect; nil before the first.
  private(set) var began: Duration?
  private let asking: Set<LifecycleCause>
  private let insisting: Set<LifecycleCause>
  private var stage = Stage.none

  private enum Stage: Sendable, Hashable { case none, asked, ending }

  /// The meaning of an order.
  enum Meaning: Sendable, Hashable {
    /// The first order, with a cause that asks: the application may refuse to end.
    case ask
    /// End in order, with the whole tear-down.
    case end
    /// A copy of the order before, or a repetition whose cause does not insist: the end goes on.
    case copy
    /// A separate, later order that insists: end at once.
    case endAtOnce
  }

  /// - Parameters:
  ///   - asking: the causes for which a first order asks.
  ///   - insisting: the causes for which an order that is no copy ends the process at once after the end has begun.
  init(asking: Set<LifecycleCause> = [], insisting: Set<LifecycleCause> = Self.keys) {
    (self.asking, self.insisting) = (asking, insisting)
  }

  /// Handles an order, and returns its meaning.
  mutating func take(_ record: SignalRecord) -> Meaning {
    let isCopy = began.map { record.arrived - $0 < Self.copyWindow } ?? false
    switch stage {
    case .none where asking.contains(record.cause):
      (stage, began) = (.asked, record.taken)
      return .ask
    case .none: break
    // Wrappers forward Ctrl-C as SIGINT. A SIGTERM always counts, because the delegate may refuse the end that Ctrl-C
    // asked for.
    case .asked: if isCopy, record.signal == .interrupt { return .copy }
    case .ending: return isCopy || !insisting.contains(record.cause) ? .copy : .endAtOnce
    }
    (stage, began) = (.ending, record.taken)
    return .end
  }

  /// Notes that the end has begun, so that no further order asks.
  mutating func beginEnd() { if stage == .asked { stage = .ending } }

  /// Forgets the question after a refusal, so that the next order is a first one again.
  mutating func forgetQuestion() { if stage == .asked { stage = .none } }

  /// Returns the time until which a further SIGTERM changes nothing, also after the host has ended.
  ///
  /// - Parameter budget: the longest time that the end may take.
  /// - Returns: the time; nil without an order.
  func repetitionsEnd(within budget: Duration) -> Duration? {
    let insists = insisting.contains(LifecycleCause(signal: .terminate))
    return began.map { $0 + (insists ? Self.copyWindow : max(Self.copyWindow, budget)) }
  }
}
