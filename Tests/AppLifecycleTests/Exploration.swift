import AppLifecycle

/// A state machine beside the rules that watch it.
struct WatchedMachine: Hashable {
  private(set) var machine: LifecycleStateMachine
  private(set) var rules: LifecycleRules

  init(profile: LifecycleProfile = .application, callsDidEnterBackgroundOnBackgroundLaunch: Bool = false) {
    machine = LifecycleStateMachine(
      profile: profile, callsDidEnterBackgroundOnBackgroundLaunch: callsDidEnterBackgroundOnBackgroundLaunch)
    rules = LifecycleRules(
      profile: profile, callsDidEnterBackgroundOnBackgroundLaunch: callsDidEnterBackgroundOnBackgroundLaunch)
  }

  /// What is wrong with what an input leads to; empty if nothing is.
  mutating func take(_ input: LifecycleInput) -> [String] {
    let before = machine
    let effects = machine.handle(input)
    return rules.violations(of: effects, after: input, from: before, to: machine)
  }
}

/// A walk through every state that some inputs can lead to.
///
/// Once every reachable pair of machine and rules has taken every input, sequences of any length have been checked.
struct Exploration {
  /// The first step that broke a rule, as a script, and what was wrong; empty if none did.
  private(set) var violations: [String] = []
  /// The states of the machine that were reached.
  private(set) var machines: Set<LifecycleStateMachine> = []
  private(set) var summary = ""

  init(of beginning: WatchedMachine, inputs: [LifecycleInput]) {
    var paths: [WatchedMachine: [LifecycleInput]] = [beginning: []]
    var open = [beginning]
    var steps = 0
    while let present = open.popLast(), let path = paths[present], violations.isEmpty {
      for input in inputs {
        var next = present
        let found = next.take(input)
        steps += 1
        if !found.isEmpty {
          violations = [(path + [input]).map(\.scriptToken).joined(separator: "; ")] + found
          break
        }
        if paths[next] == nil {
          paths[next] = path + [input]
          open.append(next)
        }
      }
    }
    machines = Set(paths.keys.map(\.machine))
    summary = "\(machines.count) states of the machine, \(paths.count) with their rules, \(steps) steps, all lengths"
  }
}

/// Numbers that a printed seed reproduces.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_F491_4F6C_DD1D
  }
}
