import AppLifecycle
public import AppLifecycleTesting

/// One run of one script, for the closure that makes the program under test.
@MainActor public final class ScriptRun {
  /// The balance for doubles that count what they open and close.
  public nonisolated let balance = ResourceBalance()
  /// The order in which work that is ready at the same time must run; each random script has its own order.
  ///
  ///     SimulatedSystem(order: run.order) { AppDelegate() }
  public nonisolated let order: SimulationExecutor.Order

  private var checks: [@MainActor () throws -> Void] = []
  private var complaints: [RunComplaint] = []

  init(order: SimulationExecutor.Order) { self.order = order }

  /// Adds a check that runs after each action of the script and all work that results from it.
  ///
  /// - Parameter check: the check; it throws an error, or calls ``expect(_:_:)``, to report a fault.
  public func afterEachAction(_ check: @escaping @MainActor () throws -> Void) { checks.append(check) }

  /// Adds a complaint if a condition does not hold.
  ///
  /// Use it in place of `#expect`, in checks and in doubles. A failing script is played many times while it is
  /// shortened, and `#expect` would record an issue each time.
  ///
  /// - Parameters:
  ///   - condition: the condition that must hold.
  ///   - message: describes the fault.
  public func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { complaints.append(RunComplaint(.check, message())) }
  }

  /// Checks that each process finds the state that the processes before it were told is saved.
  ///
  ///     try await checkAllScripts(upTo: 4, alphabet: "launch home do:type crash kill fail:save") { run in
  ///       let system = SimulatedSystem(order: run.order) { AppDelegate() }
  ///       run.expectSavedState(of: system)
  ///       return system
  ///     }
  ///
  /// The program is told by `save()` that returns, and by a step to the background or to the end that kept its budget. Each value of the module
  /// `SavedState` must then come back as it was when the program asked, or as a later save took it. State that the delegate refuses
  /// to restore, and state that is set aside after a crash, need not come back.
  ///
  /// The rule compares the encoded values. So the same value must be encoded in the same way each time; a `Set` is not.
  ///
  /// - Parameter system: the system of this run, before it plays.
  public func expectSavedState(of system: SimulatedSystem) {
    let promises = StatePromises { [unowned system] in system.stateStorage.wasSetAsideAfterCrash }
    system.application.stateWitness = promises
    afterEachAction { [weak self] in
      for complaint in promises.takeComplaints() { self?.expect(false, complaint) }
    }
  }

  /// Releases the checks.
  func dropChecks() { checks = [] }

  /// Runs the checks; returns the complaints since the last call.
  func check() -> [RunComplaint] {
    for check in checks {
      do { try check() } catch { complaints.append(RunComplaint(.check, String(describing: error))) }
    }
    defer { complaints = [] }
    return complaints
  }
}
