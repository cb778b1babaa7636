import AppLifecycle
import AppLifecycleTesting
import Testing

/// The sequences of the app-based life cycle, as the platform's documentation and experiments on devices give them.
///
/// A line is a commit (`inactive`) or a delegate call with the state seen inside it (`didBecomeActive (active)`).
@Suite struct SequenceTests {
  /// What happens before, what happens then, and what the application must see of the latter.
  struct Sequence: Sendable, CustomTestStringConvertible {
    let name: String
    let before: String
    let script: String
    let expected: [String]

    init(_ name: String, after before: String = "", _ script: String, _ expected: [String]) {
      (self.name, self.before, self.script, self.expected) = (name, before, script, expected)
    }

    var testDescription: String { name }
  }

  static let coldLaunch = [
    "inactive", "willFinishLaunching (inactive)", "didFinishLaunching (inactive)", "active", "didBecomeActive (active)",
  ]
  static let backgroundLaunch = [
    "background", "willFinishLaunching (background)", "didFinishLaunching (background)",
  ]
  static let resign = ["willResignActive (active)", "inactive"]
  static let enterBackground = ["background", "didEnterBackground (background)"]
  static let leave = resign + enterBackground
  static let comeBack = ["willEnterForeground (background)", "inactive", "active", "didBecomeActive (active)"]
  static let terminate = ["willTerminate (background)", "notRunning"]
  static let dataGoes = ["protectedDataWillBecomeUnavailable (background)"]
  static let dataComes = ["protectedDataDidBecomeAvailable (background)"]

  static let launches = [
    Sequence("cold launch", "launch", coldLaunch),
    Sequence("opened while not running", "open", coldLaunch),
    Sequence("background launch", "launch:background", backgroundLaunch),
    Sequence("fetch while not running", "fetch", backgroundLaunch),
    Sequence("background launch, opened later", after: "launch:background", "open", comeBack),
    Sequence("background launch, suspended, opened", after: "fetch; suspend", "open", ["background"] + comeBack),
    Sequence("launched again after a crash", after: "launch; crash", "launch", coldLaunch),
    Sequence("launched during a call", after: "interrupt:call", "launch", Array(coldLaunch.prefix(3))),
    Sequence("the call ends", after: "interrupt:call; launch", "end:call", ["active", "didBecomeActive (active)"]),
    Sequence("launched into the background of a locked screen", after: "lock", "launch:background", backgroundLaunch),
  ]

  static let excursions = [
    Sequence("home", after: "launch", "home", leave),
    Sequence("back from background", after: "launch; home", "open", comeBack),
    Sequence("suspended: nothing is called", after: "launch; home", "suspend", ["suspended"]),
    Sequence("back from suspended", after: "launch; home; suspend", "open", ["background"] + comeBack),
    Sequence("woken: nothing is called", after: "launch; home; suspend", "wake", ["background"]),
    Sequence("woken by a fetch: nothing is called", after: "launch; home; suspend", "fetch", ["background"]),
    Sequence("home during a call: resigned already", after: "launch; interrupt:call", "home", enterBackground),
    Sequence(
      "back while the call lasts", after: "launch; interrupt:call; home", "open", Array(comeBack.prefix(2))),
    Sequence("a call while in background changes nothing", after: "launch; home", "interrupt:call; end:call", []),
  ]

  static let interruptions =
    ["call", "alert", "controlCenter", "notificationCenter", "faceID", "something.else"].map {
      Sequence(
        "\($0) begins and ends", after: "launch", "interrupt:\($0); end:\($0)",
        resign + ["active", "didBecomeActive (active)"])
    } + [
      Sequence("a second interruption during the first", after: "launch; interrupt:call", "interrupt:alert", []),
      Sequence("the first ends, the second stands", after: "launch; interrupt:call; interrupt:alert", "end:call", []),
      Sequence(
        "the last one ends", after: "launch; interrupt:call; interrupt:alert; end:call", "end:alert",
        ["active", "didBecomeActive (active)"]),
      Sequence("switcher opens", after: "launch", "switcher", resign),
      Sequence("back from the switcher", after: "launch; switcher", "switcher:return", Array(comeBack.suffix(2))),
      Sequence("left through the switcher", after: "launch; switcher", "switcher:leave", enterBackground),
      Sequence("home from the switcher", after: "launch; switcher", "home", enterBackground),
      Sequence("the switcher's reason goes with home", after: "launch; switcher; home", "open", comeBack),
      Sequence("the switcher's reason goes with the process", after: "launch; switcher; crash", "launch", coldLaunch),
      Sequence(
        "a call during the switcher, which is left by return", after: "launch; switcher; interrupt:call",
        "switcher:return", []),
    ]

  static let locks = [
    Sequence("locked", after: "launch", "lock", leave),
    Sequence("unlocked", after: "launch; lock", "unlock", comeBack),
    Sequence("unlocked after suspension", after: "launch; lock; suspend", "unlock", ["background"] + comeBack),
    Sequence("locked with a pass code", after: "passcode:on; launch", "lock", leave + dataGoes),
    Sequence("unlocked with a pass code", after: "passcode:on; launch; lock", "unlock", dataComes + comeBack),
    Sequence(
      "unlocked with a pass code after suspension", after: "passcode:on; launch; lock; suspend", "unlock",
      ["background"] + dataComes + comeBack),
    Sequence(
      "locked and unlocked with a pass code in background", after: "passcode:on; launch; home", "lock; unlock",
      dataGoes + dataComes),
    Sequence(
      "locked with a pass code while suspended: told nothing", after: "passcode:on; launch; home; suspend",
      "lock; unlock", []),
    Sequence(
      "told that data is gone, suspended, told that it is back on the return",
      after: "passcode:on; launch; home; lock; suspend; unlock", "open", ["background"] + dataComes + comeBack),
    Sequence(
      "the pass code that held when it was locked counts", after: "passcode:on; launch; lock; passcode:off",
      "unlock", dataComes + comeBack),
    Sequence("locked during the switcher", after: "launch; switcher; lock", "unlock", comeBack),
    Sequence("locked during a call", after: "launch; interrupt:call; lock", "unlock", Array(comeBack.prefix(2))),
    Sequence("locked out of sight: nothing", after: "launch; home", "lock; unlock", []),
    Sequence("killed while locked: not brought back", after: "launch; lock; kill", "unlock", []),
    Sequence("killed and launched anew while locked", after: "launch; lock; kill; fetch", "unlock", []),
  ]

  static let ends = [
    Sequence("killed while active", after: "launch", "kill", leave + terminate),
    Sequence("killed while inactive", after: "launch; interrupt:call", "kill", enterBackground + terminate),
    Sequence("killed in background", after: "launch; home", "kill", terminate),
    Sequence("killed while suspended: nothing", after: "launch; home; suspend", "kill", ["notRunning"]),
    Sequence("swiped away in the switcher", after: "launch; switcher", "switcher:kill", enterBackground + terminate),
    Sequence("swiped away while active", after: "launch", "switcher:kill", leave + terminate),
    Sequence("reclaimed", after: "launch; home; suspend", "reclaim", ["notRunning"]),
    Sequence("crashed while active", after: "launch", "crash", ["notRunning"]),
    Sequence("crashed while suspended", after: "launch; home; suspend", "crash", ["notRunning"]),
    Sequence("rebooted", after: "launch", "reboot", ["notRunning"]),
    Sequence("rebooting ends lock and interruptions", after: "interrupt:call; lock; reboot", "launch", coldLaunch),
    Sequence(
      "rebooting does not end the pass code", after: "passcode:on; reboot; launch", "lock", leave + dataGoes),
  ]

  static let signals =
    [("launch", "active"), ("launch; interrupt:call", "inactive"), ("launch; home", "background")].flatMap {
      before, state in
      [
        Sequence("memory warning while \(state)", after: before, "memory", ["didReceiveMemoryWarning (\(state))"]),
        Sequence("time change while \(state)", after: before, "time", ["significantTimeChange (\(state))"]),
      ]
    } + [
      Sequence(
        "time changes while suspended are told once, on the return", after: "launch; home; suspend; time; time", "open",
        [
          "background", "willEnterForeground (background)", "inactive", "significantTimeChange (inactive)", "active",
          "didBecomeActive (active)",
        ]),
      Sequence(
        "a kept time change is told when code runs again", after: "launch; home; suspend; time; time", "wake; open",
        ["background", "significantTimeChange (background)"] + comeBack),
      Sequence(
        "and so is one at a fetch", after: "launch; home; suspend; time", "fetch",
        ["background", "significantTimeChange (background)"]),
      Sequence(
        "a kept time change goes with the process", after: "launch; home; suspend; time; kill", "launch",
        coldLaunch),
    ]

  /// Apple's table of the notifications that are queued during suspension: each kind once, with the net change.
  static let missed = [
    Sequence(
      "launched while locked, unlocked while suspended", after: "passcode:on; lock; fetch; suspend; unlock", "open",
      ["background"] + dataComes + comeBack),
    Sequence(
      "the same, woken", after: "passcode:on; lock; fetch; suspend; unlock", "wake; open",
      ["background"] + dataComes + comeBack),
    Sequence(
      "locked while it was in the background, unlocked while suspended",
      after: "passcode:on; launch; home; lock; suspend; unlock", "fetch", ["background"] + dataComes),
    Sequence(
      "locked while suspended", after: "passcode:on; launch; home; suspend; lock", "fetch; unlock",
      ["background"] + dataGoes + dataComes),
    Sequence(
      "locked and unlocked while suspended: no change", after: "passcode:on; launch; home; suspend; lock; unlock",
      "wake", ["background"]),
    Sequence(
      "unlocked and locked while suspended: no change", after: "passcode:on; lock; fetch; suspend; unlock; lock",
      "wake", ["background"]),
    Sequence(
      "data and time", after: "passcode:on; lock; fetch; suspend; unlock; time", "wake",
      ["background"] + dataComes + ["significantTimeChange (background)"]),
    Sequence(
      "data and time, on the return", after: "passcode:on; lock; fetch; suspend; unlock; time", "open",
      ["background"] + dataComes + [
        "willEnterForeground (background)", "inactive", "significantTimeChange (inactive)", "active",
        "didBecomeActive (active)",
      ]),
    Sequence(
      "what a process missed goes with it", after: "passcode:on; launch; home; suspend; lock; time; crash", "fetch",
      backgroundLaunch),
  ]

  @Test(arguments: launches + excursions + interruptions + locks + ends + signals + missed)
  func `the application sees exactly`(sequence: Sequence) throws {
    var machine = LifecycleStateMachine()
    for input in try inputs(of: sequence.before) {
      let isIgnored = machine.handle(input).contains { $0.isIgnore }
      #expect(!isIgnored, "\(input.scriptToken) in the preparation")
    }
    var seen: [String] = []
    var state = machine.state
    for input in try inputs(of: sequence.script) {
      for effect in machine.handle(input) {
        switch effect {
        case .commit(let next):
          state = next
          seen.append(next.rawValue)
        case .call(let callback): seen.append("\(callback.shortName) (\(state.rawValue))")
        case .ignore(let reason): seen.append("ignored: \(reason.rawValue)")
        case .post, .commitScene, .callScene, .endSession: seen.append("a scene's \(effect)")
        case .setDeactivationReasons, .setSceneFocus, .awaitTearDown, .loseProcess: break
        }
      }
    }
    #expect(seen == sequence.expected)
  }

  static let impossible: [(before: String, token: String, reason: IgnoredReason)] = [
    ("launch", "launch", .alreadyRunning), ("launch; home", "launch:background", .alreadyRunning),
    ("launch", "open", .alreadyInForeground), ("launch; interrupt:call", "open", .alreadyInForeground),
    ("", "home", .notInForeground), ("launch; home", "home", .notInForeground),
    ("launch; home; suspend", "home", .notInForeground), ("lock", "launch", .screenLocked),
    ("lock", "open", .screenLocked), ("launch; lock", "home", .screenLocked), ("lock", "switcher", .screenLocked),
    ("lock", "switcher:return", .screenLocked), ("lock", "switcher:leave", .screenLocked),
    ("lock", "lock", .alreadyLocked), ("", "unlock", .notLocked), ("launch; home", "switcher", .notInForeground),
    ("launch; switcher", "switcher", .switcherOpen), ("launch", "switcher:return", .switcherClosed),
    ("launch", "switcher:leave", .switcherClosed), ("", "switcher:kill", .notRunning),
    ("launch", "fetch", .alreadyAwake), ("launch; home", "fetch", .alreadyAwake), ("launch", "wake", .alreadyAwake),
    ("", "wake", .notRunning), ("", "suspend", .notInBackground), ("launch", "suspend", .notInBackground),
    ("launch; home; suspend", "suspend", .notInBackground), ("launch; home", "reclaim", .notSuspended),
    ("", "reclaim", .notSuspended), ("", "crash", .notRunning), ("", "kill", .notRunning),
    ("interrupt:call", "interrupt:call", .alreadyInterrupted), ("", "end:call", .notInterrupted),
    ("launch; switcher", "end:appSwitcher", .notInterrupted), ("launch; home; suspend", "memory", .suspended),
    ("", "memory", .notRunning), ("", "time", .notRunning),
  ]

  @Test(arguments: impossible)
  func `what cannot be done is ignored with its reason and changes nothing`(
    before: String, token: String, reason: IgnoredReason
  ) throws {
    var machine = LifecycleStateMachine()
    for input in try inputs(of: before) { _ = machine.handle(input) }
    let unchanged = machine
    for input in try inputs(of: token) { #expect(machine.handle(input) == [.ignore(reason)]) }
    #expect(machine == unchanged)
  }

  @Test(arguments: ["launch", "launch; interrupt:call", "launch; home", "launch:background", "launch; home; suspend"])
  func `a purged application is told nothing, and what belonged to its process goes with it`(before: String) throws {
    var machine = LifecycleStateMachine()
    for input in try inputs(of: before) { _ = machine.handle(input) }
    #expect(machine.handle(.device(.purge)) == [.loseProcess, .commit(.notRunning)])
    #expect(machine.handle(.device(.purge)) == [.ignore(.notRunning)])
  }

  private func inputs(of script: String) throws -> [LifecycleInput] {
    try Script(script).actions.map { action in
      guard case .input(let input) = action.kind else { throw NotAnInput(token: action.token) }
      return input
    }
  }

  private struct NotAnInput: Error { let token: String }
}

extension LifecycleStateMachine.Effect {
  fileprivate var isIgnore: Bool { if case .ignore = self { true } else { false } }
}
