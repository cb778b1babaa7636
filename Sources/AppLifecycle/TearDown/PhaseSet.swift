/// A set of phases of the life cycle, stored in one integer.
struct PhaseSet: OptionSet {
  let rawValue: UInt8

  static let running = PhaseSet(.running)
  static let foreground = PhaseSet(.foreground)
  static let active = PhaseSet(.active)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ phase: LifecyclePhase) { rawValue = 1 << phase.depth }

  func contains(_ phase: LifecyclePhase) -> Bool { contains(PhaseSet(phase)) }
}
