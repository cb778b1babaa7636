/// Phases of the life cycle, as a set that costs nothing.
struct PhaseSet: OptionSet {
  let rawValue: UInt8

  static let running = PhaseSet(rawValue: 1)
  static let foreground = PhaseSet(rawValue: 2)
  static let active = PhaseSet(rawValue: 4)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ phase: LifecyclePhase) {
    self =
      switch phase {
      case .running: .running
      case .foreground: .foreground
      case .active: .active
      }
  }

  func contains(_ phase: LifecyclePhase) -> Bool { contains(PhaseSet(phase)) }
}

/// How far each phase is open, as a pure state machine.
///
/// A phase that closes does so in steps: all handlers of the closing notification first, then the bodies of `run(while:)`,
/// which may use what is held; then what is held is released.
///
///     open ──close──▶ handlers ──settled──▶ bodies ──ended──▶ closed
///      ▲                 │                    │                 │
///      └────────────────open──────────────────┴─────────────────┘
///
/// Phases lie within each other: active within foreground, foreground within running. A wider one goes no step ahead of a
/// narrower one that closes at the same time.
///
/// A phase that opens again in between keeps what has not begun to be released; bodies that were running have seen its end.
struct PhaseGate {
  /// How far a phase is open.
  enum Position: Hashable {
    /// It holds.
    case open
    /// It has been left; its last handlers still run.
    case handlers
    /// Its handlers are done; its bodies still run, and have been cancelled.
    case bodies
    /// Nothing of it is kept any longer.
    case closed
  }

  private var positions: [Position] = [.closed, .closed, .closed]

  /// From the widest to the narrowest, as they open.
  static let phases: [LifecyclePhase] = [.running, .foreground, .active]

  subscript(phase: LifecyclePhase) -> Position {
    get { positions[phase.depth] }
    set { positions[phase.depth] = newValue }
  }

  /// The phases that hold: what belongs to them is wanted.
  var open: PhaseSet { phases { $0 == .open } }

  /// The phases that were left, and whose resources are kept for a while: for handlers and bodies that may use them.
  var lingering: PhaseSet { phases { $0 == .handlers || $0 == .bodies } }

  /// The phases whose bodies are to end.
  var endingBodies: PhaseSet { phases { $0 == .bodies } }

  private func phases(where holds: (Position) -> Bool) -> PhaseSet {
    var phases: PhaseSet = []
    if holds(positions[0]) { phases.insert(.running) }
    if holds(positions[1]) { phases.insert(.foreground) }
    if holds(positions[2]) { phases.insert(.active) }
    return phases
  }
}

extension LifecyclePhase {
  /// How many phases lie around it.
  fileprivate var depth: Int {
    switch self {
    case .running: 0
    case .foreground: 1
    case .active: 2
    }
  }

  /// Whether the other phase is this one, or lies within it.
  func includes(_ other: LifecyclePhase) -> Bool { other.depth >= depth }
}
