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
  let inputs: [LifecycleInput]
  /// The state machine in each of its states; the first is that of an application that was never launched.
  private(set) var states: [LifecycleStateMachine]
  /// The step of each input in each state.
  private(set) var steps: [[Step]] = []
  /// The different lists of effects.
  private(set) var effects: [[Effect]] = []

  /// Follows every input from every state, until no new state appears.
  init(_ profile: LifecycleProfile, windows: [SceneIdentifier] = [.main]) {
    self.profile = profile
    let inputs = LifecycleInput.all(windows: profile == .scenes ? windows : [])
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

extension LifecycleInput {
  /// One input of each kind, in the order in which the page and the tables show them.
  ///
  /// A test compares them with the script language.
  static func all(windows: [SceneIdentifier]) -> [LifecycleInput] {
    var inputs: [LifecycleInput] = []
    func add(_ system: SystemInput..., device: DeviceInput...) {
      inputs += system.map(LifecycleInput.system) + device.map(LifecycleInput.device)
    }
    add(
      .launch, .launchInBackground, .open, .home, .beginInterruption(.call), .endInterruption(.call),
      device: .openSwitcher, .returnFromSwitcher, .leaveThroughSwitcher, .killFromSwitcher)
    add(
      .suspend, .wake, .fetch, .lock, .unlock, .setPasscode(true), .setPasscode(false), .memoryWarning,
      .significantTimeChange, .terminate, .shutDown, device: .crash, .reclaim, .purge, .reboot)
    for id in windows {
      add(
        .connectScene(id), .openScene(id), .sendSceneToBackground(id), .unfocusScene(id), .focusScene(id),
        .reclaimScene(id), .closeScene(id))
    }
    return inputs
  }
}
