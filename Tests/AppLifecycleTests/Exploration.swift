import AppLifecycle
import Scheduling
import Testing

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

/// Every sequence of some inputs, up to a length.
struct EverySequence {
  let inputs: [LifecycleInput]
  private(set) var count = 0
  private var path: [LifecycleInput]

  init(of inputs: [LifecycleInput], after beginning: [LifecycleInput] = []) {
    (self.inputs, path) = (inputs, beginning)
  }

  /// Plays the sequences on a machine; records the first that breaks a rule, and returns false then.
  mutating func keepTheRules(on machine: WatchedMachine, upTo length: Int) -> Bool {
    guard length > 0 else { return true }
    for input in inputs {
      var next = machine
      path.append(input)
      count += 1
      let violations = next.take(input)
      guard violations.isEmpty else {
        Issue.record("\(path.map(\.scriptToken).joined(separator: "; ")): \(violations)")
        return false
      }
      guard keepTheRules(on: next, upTo: length - 1) else { return false }
      path.removeLast()
    }
    return true
  }
}

/// Plays 200 random sequences of 200 inputs, and expects that they keep every rule.
func playAtRandom(_ inputs: [LifecycleInput], on beginning: WatchedMachine, seed: UInt64) {
  var random = SplitMix64(seed: seed)
  for _ in 0..<200 {
    var machine = beginning
    for step in 0..<200 {
      let violations = machine.take(inputs.randomElement(using: &random)!)
      #expect(violations.isEmpty, "seed \(seed), step \(step)")
      guard violations.isEmpty else { return }
    }
  }
}
