import AppLifecycle

/// Every state that an application can reach, and the effect of each input there, as the state machine itself gives them.
struct StateGraph {
  typealias Effect = LifecycleStateMachine.Effect

  /// The effect of an input in a state.
  struct Step {
    /// The index of the state afterwards.
    var target: Int
    /// The index of the list of effects.
    var effects: Int
  }

  let profile: LifecycleProfile
  let inputs: [SystemInput]
  /// The state machine in each of its states; the first is that of an application that was never launched.
  private(set) var states: [LifecycleStateMachine]
  /// The step of each input in each state.
  private(set) var steps: [[Step]] = []
  /// The different lists of effects.
  private(set) var effects: [[Effect]] = []

  /// Follows every input from every state, until no new state appears.
  init(_ profile: LifecycleProfile, windows: [SceneIdentifier] = [.main]) {
    self.profile = profile
    let inputs = SystemInput.all(windows: profile == .scenes ? windows : [])
    self.inputs = inputs
    let first = LifecycleStateMachine(profile: profile)
    states = [first]
    var indices = [first: 0]
    var effectIndices: [[Effect]: Int] = [:]
    var next = 0
    while next < states.count {
      var row: [Step] = []
      for input in inputs {
        var machine = states[next]
        let list = machine.handle(input)
        let target = indices[machine] ?? states.count
        if target == states.count {
          indices[machine] = target
          states.append(machine)
        }
        let index = effectIndices[list] ?? effects.count
        if index == effects.count {
          effectIndices[list] = index
          effects.append(list)
        }
        row.append(Step(target: target, effects: index))
      }
      steps.append(row)
      next += 1
    }
  }
}

extension SystemInput {
  /// One input of each kind, in the order in which the page and the tables show them.
  ///
  /// A test compares them with the script language.
  static func all(windows: [SceneIdentifier]) -> [SystemInput] {
    [
      .launch, .launchInBackground, .open, .home, .beginInterruption(.call), .endInterruption(.call), .openSwitcher,
      .returnFromSwitcher, .leaveThroughSwitcher, .killFromSwitcher, .suspend, .wake, .fetch, .lock, .unlock,
      .setPasscode(true), .setPasscode(false), .memoryWarning, .significantTimeChange, .terminate, .shutDown, .crash,
      .reclaim, .purge, .reboot,
    ]
      + windows.flatMap {
        [
          .connectScene($0), .openScene($0), .sendSceneToBackground($0), .unfocusScene($0), .focusScene($0),
          .reclaimScene($0), .closeScene($0),
        ]
      }
  }
}
