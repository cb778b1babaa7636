/// A set of phases of the life cycle, stored in one integer.
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
