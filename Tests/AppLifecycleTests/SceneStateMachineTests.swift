import AppLifecycle
import TestTraits
import Testing

/// Every sequence of inputs with scenes, checked step by step against the rules of the life cycle (``LifecycleRules``).
@Suite(.longRunning) struct SceneStateMachineTests {
  private static let scenes: [SceneIdentifier] = [.main, "b"]

  /// Every input, with two scenes, and an interruption beside the switcher.
  private static let inputs =
    ([
      .launch, .launchInBackground, .open, .home, .lock, .unlock, .setPasscode(true), .setPasscode(false),
      .beginInterruption(.call), .endInterruption(.call), .memoryWarning, .significantTimeChange, .fetch, .suspend,
      .wake, .terminate, .shutDown,
    ] as [SystemInput]).map(LifecycleInput.system) + DeviceInput.allCases.map(LifecycleInput.device)
    + inputs(of: scenes)

  private static func inputs(of scenes: [SceneIdentifier]) -> [LifecycleInput] {
    scenes.flatMap { id -> [SystemInput] in
      [
        .connectScene(id), .openScene(id), .sendSceneToBackground(id), .unfocusScene(id), .focusScene(id),
        .reclaimScene(id), .closeScene(id),
      ]
    }.map(LifecycleInput.system)
  }

  /// Once every reachable pair of machine and rules has taken every input, sequences of any length have been checked.
  @Test func `in every reachable state of two scenes every input keeps every rule`() {
    let exploration = Exploration(of: WatchedMachine(profile: .scenes), inputs: Self.inputs)
    #expect(exploration.violations == [])
    print("life cycle with scenes: \(exploration.summary)")
    #expect(exploration.machines.count > 1_000)
    #expect(Set(exploration.machines.map(\.state)) == Set(ApplicationState.allCases))
    let states = Set(exploration.machines.flatMap { machine in Self.scenes.map { machine.state(of: $0) } })
    #expect(states == Set(SceneState.allCases))
  }

  @Test func `with the documented didEnterBackground at background launches, too`() {
    for profile in LifecycleProfile.allCases {
      let inputs: [SystemInput] = [
        .launch, .launchInBackground, .open, .home, .fetch, .suspend, .terminate, .lock, .unlock,
        .beginInterruption(.call), .endInterruption(.call),
      ]
      let machine = WatchedMachine(profile: profile, callsDidEnterBackgroundOnBackgroundLaunch: true)
      let exploration = Exploration(of: machine, inputs: [.device(.crash)] + inputs.map(LifecycleInput.system))
      #expect(exploration.violations == [])
      #expect(Set(exploration.machines.map(\.state)) == Set(ApplicationState.allCases))
    }
  }

  @Test(arguments: [[], [.launch], [.launch, .openScene("b")], [.launch, .openScene("b"), .lock]] as [[SystemInput]])
  func `every sequence of up to three inputs keeps every rule`(beginning: [SystemInput]) {
    let path = beginning.map(LifecycleInput.system)
    var machine = WatchedMachine(profile: .scenes)
    for input in path { #expect(machine.take(input) == []) }
    var sequences = EverySequence(of: Self.inputs, after: path)
    let keepsTheRules = sequences.keepTheRules(on: machine, upTo: 3)
    #expect(keepsTheRules)
    let count = Self.inputs.count
    #expect(sequences.count == count + count * count + count * count * count)
    let text = beginning.map(\.scriptToken).joined(separator: "; ")
    print("life cycle with scenes: \(sequences.count) sequences of up to three inputs after '\(text)'")
  }

  @Test func `random long sequences with many scenes, odd names and interruptions keep every rule`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    let odd: [SceneIdentifier] = ["", " ", "a:b", "\u{0}", "é", "e\u{301}x", "main ", "Main", "🪟"]
    let reasons: [DeactivationReason] = ["call", "appSwitcher", "launching", ""]
    let inputs =
      Self.inputs + Self.inputs(of: odd) + Self.inputs(of: odd)
      + reasons.flatMap { reason -> [SystemInput] in
        [.beginInterruption(reason), .endInterruption(reason), .endInterruption(reason)]
      }.map(LifecycleInput.system)
    print("life cycle with scenes: random sequences, seed \(seed)")
    playAtRandom(inputs, on: WatchedMachine(profile: .scenes), seed: seed)
  }

  static let sharpnessCases: [(before: [SystemInput], input: SystemInput)] = [
    ([], .launch), ([.launch, .openScene("b")], .home), ([.launch, .openScene("b")], .terminate),
    ([.launch, .openScene("b"), .openScene("c"), .lock, .suspend], .unlock), ([.launch], .closeScene(.main)),
    ([.launch, .openScene("b")], .closeScene(.main)), ([.launch, .openScene("b")], .sendSceneToBackground("b")),
    ([.launch, .openScene("b"), .beginInterruption(.call)], .endInterruption(.call)),
    ([.launch, .openScene("b")], .beginInterruption(.call)), ([.launch, .connectScene("b")], .openScene("b")),
    ([.launch], .unfocusScene(.main)), ([.launch, .openScene("b")], .unfocusScene(.main)),
    ([.launch, .unfocusScene(.main)], .focusScene(.main)), ([.launch, .connectScene("b")], .unfocusScene("b")),
    ([.launch, .openScene("b"), .unfocusScene(.main)], .focusScene(.main)),
    ([.launch, .openScene("b"), .unfocusScene("b"), .home], .open),
    ([.launch, .connectScene("b")], .reclaimScene("b")), ([.launch], .connectScene("b")),
  ]

  @Test(arguments: sharpnessCases)
  func `the watching rules are sharp: each kind of mistake is noticed`(before: [SystemInput], input: SystemInput) {
    var watched = WatchedMachine(profile: .scenes)
    for input in before { #expect(watched.take(.system(input)) == []) }
    let machine = watched.machine
    var after = machine
    let right = after.handle(.system(input))
    var sound = watched.rules
    #expect(sound.violations(of: right, after: .system(input), from: machine, to: after) == [])
    for index in right.indices {
      // A step left out, done twice, exchanged with the next, or done by another.
      var mistakes = [right, right, right, right]
      mistakes[0].remove(at: index)
      mistakes[1].insert(right[index], at: index)
      mistakes[2][index] = right[index].done(by: "elsewhere")
      // When exactly before a callback its reasons are announced is for the machine to choose.
      if index + 1 < right.endIndex, !right[index].isReasons, !right[index + 1].isReasons {
        mistakes[3].swapAt(index, index + 1)
      }
      for mistake in mistakes where mistake != right {
        var watching = watched.rules
        #expect(
          !watching.violations(of: mistake, after: .system(input), from: machine, to: after).isEmpty, "\(mistake)")
      }
    }
  }
}

extension LifecycleStateMachine.Effect {
  fileprivate var isReasons: Bool { if case .setDeactivationReasons = self { true } else { false } }

  fileprivate func done(by scene: SceneIdentifier) -> Self {
    switch self {
    case .commitScene(_, let state): .commitScene(scene, state)
    case .setSceneFocus(_, let hasFocus): .setSceneFocus(scene, hasFocus)
    case .callScene(_, let callback): .callScene(scene, callback)
    case .endSession: .endSession(scene)
    case .call(let callback) where callback != .willFinishLaunching: .post(callback)
    case .post(let callback): .call(callback)
    default: self
    }
  }
}
