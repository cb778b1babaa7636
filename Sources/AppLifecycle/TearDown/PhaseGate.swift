/// The position of each phase between open and closed, as a pure state machine.
///
/// A phase closes in steps. First all handlers of the closing notification end, then the bodies of `run(while:)`. Both
/// may use the held resources, which are released after them.
///
///     open ──close──▶ handlers ──settled──▶ bodies ──ended──▶ closed
///      ▲                 │                    │                 │
///      └────────────────open──────────────────┴─────────────────┘
///
/// Phases are nested: active within foreground, foreground within running. A wider phase takes no step before a
/// narrower one that closes at the same time.
///
/// When a phase opens again while it closes, resources whose release has not begun stay held. Bodies that were running
/// still end, and begin again.
struct PhaseGate {
  /// The position of a phase between open and closed.
  enum Position: Hashable {
    /// The phase is open.
    case open
    /// The phase is closing; handlers of its closing notification still run.
    case handlers
    /// The handlers have ended; the bodies have been asked to end or cancelled, and some still run.
    case bodies
    /// The phase is closed, and its resources are being released or have been released.
    case closed
  }

  private var positions: [Position] = [.closed, .closed, .closed]

  /// The phases from the widest to the narrowest, the order in which they open.
  static let phases: [LifecyclePhase] = [.running, .foreground, .active]

  subscript(phase: LifecyclePhase) -> Position {
    get { positions[phase.depth] }
    set { positions[phase.depth] = newValue }
  }

  /// The open phases, whose resources are needed.
  var open: PhaseSet { phases { $0 == .open } }

  /// The closing phases, whose resources stay held for handlers and bodies that still run.
  var lingering: PhaseSet { phases { $0 == .handlers || $0 == .bodies } }

  /// The phases whose bodies must end.
  var endingBodies: PhaseSet { phases { $0 == .bodies } }

  private func phases(where holds: (Position) -> Bool) -> PhaseSet {
    var phases: PhaseSet = []
    for phase in Self.phases where holds(self[phase]) { phases.insert(PhaseSet(phase)) }
    return phases
  }
}

extension LifecyclePhase {
  /// The number of phases that contain this one.
  var depth: Int {
    switch self {
    case .running: 0
    case .foreground: 1
    case .active: 2
    }
  }

  /// Whether the other phase is the same, or is nested in this one.
  func includes(_ other: LifecyclePhase) -> Bool { other.depth >= depth }

  /// Returns the phase that ends first; phases are nested.
  func narrower(_ other: LifecyclePhase) -> LifecyclePhase { includes(other) ? other : self }
}
