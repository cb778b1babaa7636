internal import AppLifecycle

// Actions of the test's own: what the user does in the program, and what happens to the program from outside.

extension SimulatedSystem {
  /// An action of the test's own.
  struct OwnAction {
    /// Whether it is played in every state, also while no code of the program runs.
    let always: Bool
    let body: @MainActor () -> Void
  }

  /// Adds an action of the test's own, which scripts play as `do:NAME`.
  ///
  ///     system.addAction("type") { editor.text += "a" }
  ///     system.addAction("outage", always: true) { server.fail() }
  ///     try await system.play("launch; do:type; do:outage; home")
  ///
  /// An action stands for what the user does in the program, or for what happens to the program from outside. It is an
  /// action like any other: it has a record, and an alphabet of the script checks may contain it. When it has been
  /// called, all resulting work runs that can run without time passing.
  ///
  /// The system keeps the closure. A closure that uses the system captures it as `unowned`.
  ///
  /// - Parameters:
  ///   - name: the name in scripts; it replaces an earlier action of this name.
  ///   - always: whether scripts play the action in every state. By default it is ignored while the application is
  ///     suspended or not running, because no code of a real one runs then. It is played in the background, as a click
  ///     may come late.
  ///   - body: the action; it must not wait. Start work that takes time with the application's `task`.
  /// - Precondition: the name is not empty, and consists of letters, digits, `_`, `.` and `-`.
  public func addAction(_ name: String, always: Bool = false, _ body: @escaping @MainActor () -> Void) {
    precondition((try? ScriptAction.Kind(token: "do:\(name)")) != nil, "no script can play an action named “\(name)”")
    ownActions[name] = OwnAction(always: always, body: body)
  }

  /// Throws for the first action of the test's own that was not added.
  package func requireActions(of script: Script) throws(ScriptError) {
    for action in script.actions {
      guard case .own(let name) = action.kind, ownActions[name] == nil else { continue }
      throw ScriptError(
        line: action.line, column: action.column, token: action.token, problem: .actionNotAdded)
    }
  }

  /// Plays an action of the test's own; returns the reason if it had no effect, else nil.
  func performOwn(_ name: String) -> String? {
    guard let action = ownActions[name] else { return "no such action was added" }
    if !action.always, !application.state.runsCode {
      return (application.state.isInMemory ? IgnoredReason.suspended : .notRunning).rawValue
    }
    action.body()
    return nil
  }
}
