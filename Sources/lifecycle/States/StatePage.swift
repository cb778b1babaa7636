import AppLifecycle

/// The states as a page: inputs to click, and the effects of each.
///
/// The page holds every state and every step as data, and walks through them; it decides nothing.
struct StatePage {
  let graph: StateGraph

  /// The page.
  var text: String {
    let title = graph.profile == .scenes ? "The life cycle with scenes" : "The life cycle of an application"
    let drawing = StateDrawing(diagram: .application(graph))
    let scenes = graph.profile == .scenes ? StateDrawing(diagram: .scene(graph, .main)).element : ""
    return """
      \(HTMLPage.head(title: title, style: StateDrawing.style + "\n" + Self.style))
      <header>
      <h1>\(title)</h1>
      <p>Click what the system does. Inputs that the present state ignores are gray; point at one for the reason.</p>
      </header>
      <main>
      <div class="now"><div id="facts" role="status"></div>
      <div class="tools"><button type="button" id="undo">Undo</button> <button type="button" id="reset">Start again</button></div></div>
      <div id="inputs" role="group" aria-label="Inputs"></div>
      <noscript><p>This page needs its script. <code>lifecycle states</code> prints the changes as text.</p></noscript>
      <div class="columns">
      <section aria-label="Diagram">\(drawing.element)
      \(scenes)</section>
      <section aria-label="What happened"><p class="command"><code id="command"></code></p>
      <ol id="log"></ol></section>
      </div>
      </main>
      <script type="application/json" id="data">\(data.asScriptData)</script>
      \(HTMLPage.foot(script: Self.script))
      """
  }

  // MARK: Data

  private var data: String {
    let inputs = graph.inputs.map { "[\($0.scriptToken.asJSON),\($0.group.asJSON)]" }
    let states = graph.states.map(json)
    // An ignored input leaves the state as it is, so its step needs only one number.
    let steps = graph.steps.enumerated().map { state, row in
      "["
        + row.map { $0.target == state ? "\(-$0.effects - 1)" : "[\($0.target),\($0.effects)]" }.joined(separator: ",")
        + "]"
    }
    let effects = graph.effects.map { "[" + $0.flatMap(Self.lines).joined(separator: ",") + "]" }
    return """
      {"inputs":[\(inputs.joined(separator: ","))],
      "states":[\(states.joined(separator: ","))],
      "steps":[\(steps.joined(separator: ",\n"))],
      "effects":[\(effects.joined(separator: ",\n"))]}
      """
  }

  /// The page's description of a state: the state itself, its reasons, its scenes, and whether the screen is locked.
  private func json(of machine: LifecycleStateMachine) -> String {
    var probe = machine
    let isLocked = probe.handle(.system(.lock)) == [.ignore(.alreadyLocked)]
    let reasons = machine.deactivationReasons.map(\.rawValue).sorted().map(\.asJSON)
    let scenes = machine.scenes.map { id in
      "[\(id.rawValue.asJSON),\(machine.state(of: id).rawValue.asJSON),\(machine.hasFocus(id))]"
    }
    return
      "[\(machine.state.rawValue.asJSON),[\(reasons.joined(separator: ","))],[\(scenes.joined(separator: ","))],\(isLocked)]"
  }

  /// An effect as lines: a kind, a text, and the scene if the effect concerns one.
  private static func lines(of effect: StateGraph.Effect) -> [String] {
    func line(_ kind: String, _ text: String, _ scene: SceneIdentifier? = nil) -> String {
      "[\([kind, text, scene?.rawValue].compactMap { $0?.asJSON }.joined(separator: ","))]"
    }
    switch effect {
    case .commit(let state): return [line("state", state.rawValue)]
    case .setDeactivationReasons(let reasons):
      return [line("reasons", reasons.map(\.rawValue).sorted().joined(separator: ", "))]
    case .call(let callback):
      return [line("call", callback.rawValue)] + (callback.notificationName.map { [line("post", $0)] } ?? [])
    case .post(let callback): return callback.notificationName.map { [line("post", $0)] } ?? []
    case .commitScene(let id, let state): return [line("state", state.rawValue, id)]
    case .setSceneFocus(let id, let hasFocus): return [line("focus", hasFocus ? "gained" : "lost", id)]
    case .callScene(let id, let callback):
      return [line("call", callback.rawValue, id), line("post", callback.notificationName, id)]
    case .endSession(let id): return [line("note", "the session ends", id)]
    case .awaitTearDown(let callback):
      return [line("note", "tear-down is awaited, within the budget of \(callback.shortName)")]
    case .loseProcess: return [line("note", "the process vanishes: nothing is called, nothing is released")]
    case .ignore(let reason): return [line("ignored", reason.rawValue)]
    }
  }
}

extension LifecycleInput {
  /// The group of buttons in which the page shows it.
  fileprivate var group: String {
    switch self {
    case .system(.launch), .system(.launchInBackground), .system(.open), .system(.home), .device(.openSwitcher),
      .device(.returnFromSwitcher), .device(.leaveThroughSwitcher), .device(.killFromSwitcher):
      "user"
    case .system(.beginInterruption), .system(.endInterruption), .system(.lock), .system(.unlock),
      .system(.setPasscode), .device(.reboot):
      "device"
    case .system(.suspend), .system(.wake), .system(.fetch), .system(.memoryWarning), .system(.significantTimeChange),
      .device(.reclaim):
      "system"
    case .system(.terminate), .system(.shutDown), .device(.crash), .device(.purge): "end"
    case .system(.connectScene(let id)), .system(.openScene(let id)), .system(.sendSceneToBackground(let id)),
      .system(.unfocusScene(let id)), .system(.focusScene(let id)), .system(.reclaimScene(let id)),
      .system(.closeScene(let id)):
      "window \(id.rawValue)"
    }
  }
}
