import AppLifecycle
import AppLifecycleTesting
import Testing

/// The sequences of the scene-based life cycle.
///
/// A line is a commit (`inactive`), a call of the application's delegate with the state seen inside it, a notification of the
/// application without such a call (`post didBecomeActive (active)`), or a call of a scene's delegate with the scene's state
/// and the application's (`main didBecomeActive (foregroundActive, inactive)`).
@Suite struct SceneSequenceTests {
  typealias Sequence = SequenceTests.Sequence

  // MARK: What scenes do

  static func connect(_ scenes: String..., app: String = "background") -> [String] {
    scenes.map { "\($0) willConnect (unattached, \(app))" }
  }
  static func enter(_ scenes: String..., from state: String = "background", app: String = "background") -> [String] {
    scenes.map { "\($0) willEnterForeground (\(state), \(app))" }
  }
  static func activate(_ scenes: String..., app: String = "inactive") -> [String] {
    scenes.map { "\($0) didBecomeActive (foregroundActive, \(app))" }
  }
  static func resign(_ scenes: String..., app: String = "active") -> [String] {
    scenes.map { "\($0) willResignActive (foregroundActive, \(app))" }
  }
  static func leave(_ scenes: String..., app: String = "inactive") -> [String] {
    scenes.map { "\($0) didEnterBackground (background, \(app))" }
  }
  static func disconnect(_ scenes: String..., app: String = "background") -> [String] {
    scenes.map { "\($0) didDisconnect (unattached, \(app))" }
  }

  // MARK: What the application does, whose delegate is told nothing of it

  static let appLaunches = SequenceTests.backgroundLaunch
  static let appEnters = ["post willEnterForeground (background)", "inactive"]
  static let appActivates = ["active", "post didBecomeActive (active)"]
  static let appResigns = ["post willResignActive (active)", "inactive"]
  static let appLeaves = ["background", "post didEnterBackground (background)"]
  static let terminate = SequenceTests.terminate
  static let dataGoes = SequenceTests.dataGoes
  static let dataComes = SequenceTests.dataComes

  static func coldLaunch(_ scene: String) -> [String] {
    appLaunches + connect(scene) + enter(scene, from: "unattached") + appEnters + activate(scene) + appActivates
  }
  static let goHome = resign("main") + appResigns + leave("main") + appLeaves
  static let comeBack = enter("main") + appEnters + activate("main") + appActivates

  static let launches = [
    Sequence("cold launch", "launch", coldLaunch("main")),
    Sequence("opened while not running", "open", coldLaunch("main")),
    Sequence("another scene opened while not running", "scene:open:b", coldLaunch("b")),
    Sequence("background launch: no scene", "launch:background", appLaunches),
    Sequence("fetch while not running: no scene", "fetch", appLaunches),
    Sequence(
      "background launch, opened later", after: "launch:background", "open",
      connect("main") + enter("main", from: "unattached") + appEnters + activate("main") + appActivates),
    Sequence(
      "background launch, suspended, opened", after: "fetch; suspend", "scene:open:b",
      ["background"] + connect("b") + enter("b", from: "unattached") + appEnters + activate("b") + appActivates),
    Sequence(
      "launched during a call", after: "interrupt:call", "launch",
      appLaunches + connect("main") + enter("main", from: "unattached") + appEnters),
    Sequence("the call ends", after: "interrupt:call; launch", "end:call", activate("main") + appActivates),
    Sequence("launched again after a crash: connects again", after: "launch; crash", "launch", coldLaunch("main")),
    Sequence("launched into the background of a locked screen", after: "lock", "launch:background", appLaunches),
  ]

  static let excursions = [
    Sequence("home", after: "launch", "home", goHome),
    Sequence("back from background", after: "launch; home", "open", comeBack),
    Sequence("suspended: nothing is called", after: "launch; home", "suspend", ["suspended"]),
    Sequence("back from suspended", after: "launch; home; suspend", "open", ["background"] + comeBack),
    Sequence("woken: nothing is called", after: "launch; home; suspend", "wake", ["background"]),
    Sequence("woken by a fetch: nothing is called", after: "launch; home; suspend", "fetch", ["background"]),
    Sequence(
      "home during a call: resigned already", after: "launch; interrupt:call", "home", leave("main") + appLeaves),
    Sequence(
      "back while the call lasts", after: "launch; interrupt:call; home", "open", enter("main") + appEnters),
    Sequence("a call begins and ends while in background", after: "launch; home", "interrupt:call; end:call", []),
    Sequence(
      "home with two scenes: step by step, in the order in which they connected", after: "launch; scene:open:b", "home",
      resign("main", "b") + appResigns + leave("main", "b") + appLeaves),
    Sequence(
      "home with one of two in the foreground", after: "launch; scene:open:b; scene:background:main", "home",
      resign("b") + appResigns + leave("b") + appLeaves),
    Sequence("open brings the main scene alone", after: "launch; scene:open:b; home", "open", comeBack),
    Sequence(
      "open brings the main scene beside another", after: "launch; scene:open:b; scene:background:main", "open",
      enter("main", app: "active") + activate("main", app: "active")),
    Sequence(
      "open connects the main scene again", after: "launch; home; scene:reclaim:main", "open",
      connect("main") + enter("main", from: "unattached") + appEnters + activate("main") + appActivates),
  ]

  static let interruptions =
    ["call", "alert", "controlCenter", "notificationCenter", "faceID", "something.else"].map {
      Sequence(
        "\($0) begins and ends, with two scenes", after: "scene:open:b; scene:open:a", "interrupt:\($0); end:\($0)",
        resign("b", "a") + appResigns + activate("b", "a") + appActivates)
    } + [
      Sequence(
        "a scene in background has no part in a call", after: "launch; scene:connect:b", "interrupt:call",
        resign("main") + appResigns),
      Sequence("a second interruption during the first", after: "launch; interrupt:call", "interrupt:alert", []),
      Sequence("the first ends, the second stands", after: "launch; interrupt:call; interrupt:alert", "end:call", []),
      Sequence(
        "the last one ends", after: "launch; interrupt:call; interrupt:alert; end:call", "end:alert",
        activate("main") + appActivates),
      Sequence("switcher opens", after: "launch", "switcher", resign("main") + appResigns),
      Sequence("back from the switcher", after: "launch; switcher", "switcher:return", activate("main") + appActivates),
      Sequence(
        "left through the switcher", after: "launch; scene:open:b; switcher", "switcher:leave",
        leave("main", "b") + appLeaves),
      Sequence("home from the switcher", after: "launch; switcher", "home", leave("main") + appLeaves),
      Sequence("the switcher's reason goes with home", after: "launch; switcher; home", "open", comeBack),
      Sequence(
        "the last window goes under the switcher: its reason goes, too", after: "launch; switcher; scene:close:main",
        "open", connect("main") + enter("main", from: "unattached") + appEnters + activate("main") + appActivates),
      Sequence(
        "one of two windows is closed under the switcher: its reason stands",
        after: "launch; scene:open:b; switcher; scene:close:main", "switcher:return", activate("b") + appActivates),
    ]

  static let windows = [
    Sequence(
      "a second window opens: scene calls only", after: "launch", "scene:open:b",
      connect("b", app: "active") + enter("b", from: "unattached", app: "active") + activate("b", app: "active")),
    Sequence(
      "a second window opens during a call", after: "launch; interrupt:call", "scene:open:b",
      connect("b", app: "inactive") + enter("b", from: "unattached", app: "inactive")),
    Sequence(
      "one of two goes to background: scene calls only", after: "launch; scene:open:b", "scene:background:main",
      resign("main", app: "active") + leave("main", app: "active")),
    Sequence("the last one goes to background", after: "launch", "scene:background:main", goHome),
    Sequence(
      "one of two goes to background during a call", after: "launch; scene:open:b; interrupt:call",
      "scene:background:b", leave("b", app: "inactive")),
    Sequence("connected only, in the foreground", after: "launch", "scene:connect:b", connect("b", app: "active")),
    Sequence("connected only, in background", after: "launch; home", "scene:connect:b", connect("b")),
    Sequence("connected only, no scene before", after: "fetch", "scene:connect:b", connect("b")),
    Sequence("connected only, behind the lock screen", after: "launch; lock", "scene:connect:b", connect("b")),
    Sequence(
      "connected, opened later", after: "launch; scene:connect:b", "scene:open:b",
      enter("b", app: "active") + activate("b", app: "active")),
    Sequence(
      "reclaimed", after: "launch; scene:open:b; scene:background:b", "scene:reclaim:b", disconnect("b", app: "active")),
    Sequence("reclaimed in background", after: "launch; home", "scene:reclaim:main", disconnect("main")),
    Sequence(
      "reclaimed and opened again: connects last", after: "launch; scene:open:b; home; scene:reclaim:main; open",
      "scene:open:b; home",
      enter("b", app: "active") + activate("b", app: "active") + resign("b", "main") + appResigns + leave("b", "main")
        + appLeaves),
    Sequence(
      "opened while suspended: wakes it", after: "launch; home; suspend", "scene:open:b",
      ["background"] + connect("b") + enter("b", from: "unattached") + appEnters + activate("b") + appActivates),
    Sequence(
      "opened during a call: stops before it is active", after: "launch; home; interrupt:call", "scene:open:b",
      connect("b") + enter("b", from: "unattached") + appEnters),
    Sequence(
      "closed in the foreground, one of two", after: "launch; scene:open:b", "scene:close:b",
      resign("b") + leave("b", app: "active") + disconnect("b", app: "active")),
    Sequence(
      "closed in the foreground, the last one", after: "launch", "scene:close:main", goHome + disconnect("main")),
    Sequence(
      "closed during a call", after: "launch; interrupt:call", "scene:close:main",
      leave("main") + appLeaves + disconnect("main")),
    Sequence("closed in background", after: "launch; home", "scene:close:main", disconnect("main")),
    Sequence(
      "closed, opened again", after: "launch; scene:close:main", "scene:open:main",
      connect("main") + enter("main", from: "unattached") + appEnters + activate("main") + appActivates),
  ]

  static let focus = [
    Sequence("the only window loses the focus", after: "launch", "scene:unfocus:main", resign("main") + appResigns),
    Sequence(
      "and has it again", after: "launch; scene:unfocus:main", "scene:focus:main", activate("main") + appActivates),
    Sequence(
      "one of two windows loses the focus: the other stays as it is", after: "launch; scene:open:b",
      "scene:unfocus:main", resign("main")),
    Sequence(
      "the focus moves from one window to another: the application stays active",
      after: "launch; scene:open:b; scene:unfocus:main", "scene:focus:main; scene:unfocus:b",
      activate("main", app: "active") + resign("b")),
    Sequence(
      "the focus leaves one window before the other has it", after: "launch; scene:open:b; scene:unfocus:main",
      "scene:unfocus:b; scene:focus:main", resign("b") + appResigns + activate("main") + appActivates),
    Sequence(
      "a call ends while one of two windows has the focus",
      after: "launch; scene:open:b; scene:unfocus:main; interrupt:call", "end:call", activate("b") + appActivates),
    Sequence(
      "a call ends while no window has the focus", after: "launch; interrupt:call; scene:unfocus:main", "end:call", []),
    Sequence(
      "the focus comes back during a call", after: "launch; scene:unfocus:main; interrupt:call", "scene:focus:main",
      []),
    Sequence("a window out of sight loses the focus", after: "launch; home", "scene:unfocus:main", []),
    Sequence(
      "and comes back without it", after: "launch; home; scene:unfocus:main", "open", enter("main") + appEnters),
    Sequence(
      "suspended meanwhile", after: "launch; home; suspend; scene:unfocus:main", "open",
      ["background"] + enter("main") + appEnters),
    Sequence(
      "the window with the focus goes, one without it stays", after: "launch; scene:open:b; scene:unfocus:main",
      "scene:background:b", resign("b") + appResigns + leave("b")),
    Sequence(
      "a scene that is connected again has the focus", after: "launch; home; scene:unfocus:main; scene:reclaim:main",
      "open", connect("main") + enter("main", from: "unattached") + appEnters + activate("main") + appActivates),
    Sequence(
      "killed without focus", after: "launch; scene:unfocus:main", "kill",
      leave("main") + appLeaves + disconnect("main") + terminate),
  ]

  static let locks = [
    Sequence("locked", after: "launch", "lock", goHome),
    Sequence("unlocked", after: "launch; lock", "unlock", comeBack),
    Sequence("unlocked after suspension", after: "launch; lock; suspend", "unlock", ["background"] + comeBack),
    Sequence(
      "unlock brings back every scene that was in the foreground, and no other",
      after: "launch; scene:open:b; scene:open:c; scene:background:b; lock", "unlock",
      enter("main", "c") + appEnters + activate("main", "c") + appActivates),
    Sequence(
      "a scene reclaimed meanwhile is connected again, as the last",
      after: "launch; scene:open:b; lock; scene:reclaim:main",
      "unlock",
      connect("main") + enter("b") + enter("main", from: "unattached") + appEnters + activate("b", "main")
        + appActivates),
    Sequence(
      "a window closed meanwhile is not brought back", after: "launch; scene:open:b; lock; scene:close:main", "unlock",
      enter("b") + appEnters + activate("b") + appActivates),
    Sequence(
      "every window closed meanwhile: stays in background", after: "launch; lock; scene:close:main", "unlock", []),
    Sequence("locked with a pass code", after: "passcode:on; launch", "lock", goHome + dataGoes),
    Sequence("unlocked with a pass code", after: "passcode:on; launch; lock", "unlock", dataComes + comeBack),
    Sequence(
      "unlocked with a pass code after suspension", after: "passcode:on; launch; lock; suspend", "unlock",
      ["background"] + dataComes + comeBack),
    Sequence(
      "told that data is gone, suspended, told that it is back before anything connects",
      after: "passcode:on; launch; home; lock; suspend; unlock", "scene:open:b",
      ["background"] + dataComes + connect("b") + enter("b", from: "unattached") + appEnters + activate("b")
        + appActivates),
    Sequence("locked during a call", after: "launch; interrupt:call; lock", "unlock", enter("main") + appEnters),
    Sequence("locked out of sight: nothing", after: "launch; home", "lock; unlock", []),
    Sequence("killed and launched anew while locked", after: "launch; lock; kill; fetch", "unlock", []),
  ]

  static let ends = [
    Sequence("killed while active", after: "launch", "kill", goHome + disconnect("main") + terminate),
    Sequence(
      "killed with two scenes, one of them in background", after: "launch; scene:open:b; scene:background:main", "kill",
      resign("b") + appResigns + leave("b") + appLeaves + disconnect("main", "b") + terminate),
    Sequence(
      "killed while inactive", after: "launch; interrupt:call", "kill",
      leave("main") + appLeaves + disconnect("main") + terminate),
    Sequence("killed in background", after: "launch; home", "kill", disconnect("main") + terminate),
    Sequence("killed without scenes", after: "fetch", "kill", terminate),
    Sequence("killed while suspended: nothing", after: "launch; home; suspend", "kill", ["notRunning"]),
    Sequence(
      "swiped away in the switcher", after: "launch; switcher", "switcher:kill",
      leave("main") + appLeaves + disconnect("main") + terminate),
    Sequence("reclaimed", after: "launch; home; suspend", "reclaim", ["notRunning"]),
    Sequence("crashed while active", after: "launch; scene:open:b", "crash", ["notRunning"]),
    Sequence("rebooted", after: "launch", "reboot", ["notRunning"]),
  ]

  static let signals =
    [
      ("launch; scene:open:b", "active"), ("launch; scene:open:b; interrupt:call", "inactive"),
      ("launch; home", "background"),
    ]
    .flatMap { before, state in
      [
        Sequence("memory warning while \(state)", after: before, "memory", ["didReceiveMemoryWarning (\(state))"]),
        Sequence("time change while \(state)", after: before, "time", ["significantTimeChange (\(state))"]),
      ]
    } + [
      Sequence(
        "time changes while suspended are told once, on the return", after: "launch; home; suspend; time; time", "open",
        ["background"] + enter("main") + appEnters + ["significantTimeChange (inactive)"] + activate("main")
          + appActivates),
      Sequence(
        "or when code runs again in the background", after: "passcode:on; lock; fetch; suspend; unlock; time", "wake",
        ["background", "protectedDataDidBecomeAvailable (background)", "significantTimeChange (background)"]),
      Sequence(
        "and between the scenes' steps where there are several",
        after: "launch; scene:open:b; lock; suspend; time", "unlock",
        ["background"] + enter("main", "b") + appEnters + ["significantTimeChange (inactive)"] + activate("main", "b")
          + appActivates),
    ]

  @Test(arguments: launches + excursions + interruptions + windows + focus + locks + ends + signals)
  func `the application and its scenes see exactly`(sequence: Sequence) throws {
    #expect(try seen(in: sequence, by: LifecycleStateMachine(profile: .scenes)) == sequence.expected)
  }

  static let documented = [
    Sequence("background launch", "launch:background", appLaunches + ["post didEnterBackground (background)"]),
    Sequence("fetch", "fetch", appLaunches + ["post didEnterBackground (background)"]),
    Sequence("opened later", after: "fetch", "scene:open:main", Array(coldLaunch("main").dropFirst(3))),
    Sequence("cold launch", "launch", coldLaunch("main")),
    Sequence("home", after: "launch", "home", goHome),
  ]

  @Test(arguments: documented)
  func `with the documented didEnterBackground at background launches`(sequence: Sequence) throws {
    let machine = LifecycleStateMachine(profile: .scenes, callsDidEnterBackgroundOnBackgroundLaunch: true)
    #expect(try seen(in: sequence, by: machine) == sequence.expected)
  }

  private func seen(in sequence: Sequence, by beginning: LifecycleStateMachine) throws -> [String] {
    var machine = beginning
    for input in try inputs(of: sequence.before) {
      let effects = machine.handle(input)
      #expect(!effects.contains { if case .ignore = $0 { true } else { false } }, "\(input.scriptToken) before")
    }
    var seen: [String] = []
    var state = machine.state
    var states = Dictionary(uniqueKeysWithValues: machine.scenes.map { ($0, machine.state(of: $0)) })
    for effect in try inputs(of: sequence.script).flatMap({ machine.handle($0) }) {
      switch effect {
      case .commit(let next):
        state = next
        seen.append(next.rawValue)
      case .call(let callback): seen.append("\(callback.shortName) (\(state.rawValue))")
      case .post(let callback): seen.append("post \(callback.shortName) (\(state.rawValue))")
      case .commitScene(let id, let next): states[id] = next
      case .callScene(let id, let callback):
        let sceneState = states[id] ?? .unattached
        seen.append("\(id.rawValue) \(callback) (\(sceneState.rawValue), \(state.rawValue))")
      case .ignore(let reason): seen.append("ignored: \(reason.rawValue)")
      case .setDeactivationReasons, .setSceneFocus, .awaitTearDown, .endSession, .loseProcess: break
      }
    }
    return seen
  }

  // MARK: What cannot be done

  static let impossible: [(before: String, token: String, reason: IgnoredReason)] = [
    ("launch", "launch", .alreadyRunning), ("fetch", "launch", .alreadyRunning),
    ("launch", "open", .alreadyInForeground),
    ("launch; interrupt:call", "open", .alreadyInForeground), ("launch; scene:open:b", "open", .alreadyInForeground),
    ("fetch", "home", .notInForeground), ("launch; scene:background:main", "home", .notInForeground),
    ("lock", "launch", .screenLocked), ("lock", "open", .screenLocked), ("lock", "scene:open:b", .screenLocked),
    ("launch; lock", "scene:open:b", .screenLocked), ("launch; lock", "scene:open:main", .screenLocked),
    ("launch; lock", "home", .screenLocked), ("launch; scene:background:main", "switcher", .notInForeground),
    ("launch; switcher; scene:close:main", "switcher:return", .switcherClosed),
    ("", "scene:connect:b", .notRunning), ("launch; home; suspend", "scene:connect:b", .suspended),
    ("launch", "scene:connect:main", .sceneConnected), ("launch; home", "scene:connect:main", .sceneConnected),
    ("launch", "scene:open:main", .sceneInForeground),
    ("launch; interrupt:call", "scene:open:main", .sceneInForeground),
    ("", "scene:background:main", .notRunning), ("launch", "scene:background:b", .unknownScene),
    ("launch; home", "scene:background:main", .sceneNotInForeground),
    ("launch; home; suspend", "scene:background:main", .suspended),
    ("launch; scene:connect:b", "scene:background:b", .sceneNotInForeground),
    ("", "scene:unfocus:main", .notRunning), ("launch", "scene:unfocus:b", .unknownScene),
    ("launch; scene:unfocus:main", "scene:unfocus:main", .sceneUnfocused),
    ("launch; home; suspend", "scene:focus:main", .sceneFocused), ("launch", "scene:focus:main", .sceneFocused),
    ("launch; crash", "scene:focus:main", .notRunning),
    ("", "scene:reclaim:main", .notRunning), ("launch", "scene:reclaim:b", .unknownScene),
    ("launch", "scene:reclaim:main", .sceneInForeground), ("launch; home; suspend", "scene:reclaim:main", .suspended),
    ("launch; home; scene:reclaim:main", "scene:reclaim:main", .unknownScene),
    ("", "scene:close:main", .notRunning), ("launch", "scene:close:b", .unknownScene),
    ("launch; home; suspend", "scene:close:main", .suspended),
    ("launch; scene:close:main", "scene:close:main", .unknownScene),
    ("launch; crash", "scene:close:main", .notRunning), ("launch", "scene:close:Main", .unknownScene),
  ]

  @Test(arguments: impossible)
  func `what cannot be done is ignored with its reason and changes nothing`(
    before: String, token: String, reason: IgnoredReason
  ) throws {
    var machine = LifecycleStateMachine(profile: .scenes)
    for input in try inputs(of: before) { _ = machine.handle(input) }
    let unchanged = machine
    for input in try inputs(of: token) { #expect(machine.handle(input) == [.ignore(reason)]) }
    #expect(machine == unchanged)
  }

  @Test(arguments: ["", "launch", "launch; lock", "launch; home; suspend"])
  func `an application without scenes ignores what happens to windows`(before: String) throws {
    var machine = LifecycleStateMachine()
    for input in try inputs(of: before) { _ = machine.handle(input) }
    let unchanged = machine
    for step in ["connect", "open", "background", "unfocus", "focus", "reclaim", "close"] {
      for input in try inputs(of: "scene:\(step):main scene:\(step):b") {
        #expect(machine.handle(input) == [.ignore(.noScenes)])
      }
    }
    #expect(machine == unchanged)
  }

  private func inputs(of script: String) throws -> [LifecycleInput] {
    try Script(script).actions.compactMap { if case .input(let input) = $0.kind { input } else { nil } }
  }
}
