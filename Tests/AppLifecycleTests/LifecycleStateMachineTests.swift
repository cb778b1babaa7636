import AppLifecycle
import TestTraits
import Testing

/// Every sequence of inputs, checked step by step against the rules of the life cycle (``LifecycleRules``), which are
/// written down a second time there, independent of the machine.
@Suite(.longRunning) struct LifecycleStateMachineTests {
  /// Every input, with two interruptions that can overlap.
  private static let inputs =
    ([
      .launch, .launchInBackground, .open, .home, .lock, .unlock, .setPasscode(true), .setPasscode(false),
      .beginInterruption(.call), .endInterruption(.call), .beginInterruption("alert"), .endInterruption("alert"),
      .memoryWarning, .significantTimeChange, .fetch, .suspend, .wake, .terminate, .shutDown,
    ] as [SystemInput]).map(LifecycleInput.system) + DeviceInput.allCases.map(LifecycleInput.device)

  /// Once every reachable pair of machine and rules has taken every input, sequences of any length have been checked.
  @Test func `in every reachable state every input keeps every rule`() {
    let exploration = Exploration(of: WatchedMachine(), inputs: Self.inputs)
    #expect(exploration.violations == [])
    print("life cycle: \(exploration.summary)")
    #expect(exploration.machines.count > 100)
    #expect(Set(exploration.machines.map(\.state)) == Set(ApplicationState.allCases))
  }

  @Test func `every sequence of up to four inputs keeps every rule`() {
    var sequences = EverySequence(of: Self.inputs)
    let keepsTheRules = sequences.keepTheRules(on: WatchedMachine(), upTo: 4)
    #expect(keepsTheRules)
    #expect(sequences.count == 27 + 27 * 27 + 27 * 27 * 27 + 27 * 27 * 27 * 27)
    print("life cycle: \(sequences.count) sequences of up to four inputs")
  }

  @Test func `random long sequences with many interruptions keep every rule`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    let names = ["call", "alert", "faceID", "controlCenter", "notificationCenter", "appSwitcher", "launching", "x"]
    let inputs =
      Self.inputs
      + names.map(DeactivationReason.init(rawValue:)).flatMap { reason -> [LifecycleInput] in
        [.system(.beginInterruption(reason)), .system(.endInterruption(reason))]
      }
    print("life cycle: random sequences, seed \(seed)")
    playAtRandom(inputs, on: WatchedMachine(), seed: seed)
  }

  @Test func `the watching rules are sharp: each kind of mistake is noticed`() {
    let active: LifecycleStateMachine = {
      var machine = LifecycleStateMachine()
      _ = machine.handle(.system(.launch))
      return machine
    }()
    var inBackground = active
    let right = inBackground.handle(.system(.home))
    var rules = LifecycleRules()
    _ = rules.violations(
      of: LifecycleStateMachine().effects(of: .launch), after: .system(.launch), from: .init(), to: active)
    var sound = rules
    #expect(sound.violations(of: right, after: .system(.home), from: active, to: inBackground).isEmpty)
    for index in right.indices {
      // A step left out, done twice, or exchanged with the next.
      var mistakes = [right, right, right]
      mistakes[0].remove(at: index)
      mistakes[1].insert(right[index], at: index)
      if index + 1 < right.endIndex { mistakes[2].swapAt(index, index + 1) } else { mistakes.removeLast() }
      for mistake in mistakes {
        var watching = rules
        #expect(
          !watching.violations(of: mistake, after: .system(.home), from: active, to: inBackground).isEmpty, "\(mistake)"
        )
      }
    }
    var watching = rules
    #expect(!watching.violations(of: [.ignore(.notRunning)], after: .system(.home), from: active, to: active).isEmpty)
  }
}

extension LifecycleStateMachine {
  fileprivate func effects(of input: SystemInput) -> [Effect] {
    var machine = self
    return machine.handle(.system(input))
  }
}
