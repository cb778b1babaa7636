public import AppLifecycleTesting

/// One run of one script, for the closure that makes the program under test.
@MainActor public final class ScriptRun {
  /// For doubles that count what they open and close.
  public nonisolated let balance = ResourceBalance()
  /// In which order work is to run that is ready at the same time: random scripts have an order of their own each.
  ///
  ///     SimulatedSystem(delegate: delegate, order: run.order)
  public nonisolated let order: SimulationExecutor.Order

  private var checks: [@MainActor () throws -> Void] = []
  private var complaints: [RunComplaint] = []

  init(order: SimulationExecutor.Order) { self.order = order }

  /// Adds a check that is made after each action of the script, when all that the action set going has been done.
  ///
  /// - Parameter check: throws what is wrong; ``expect(_:_:)`` may be used in it.
  public func afterEachAction(_ check: @escaping @MainActor () throws -> Void) { checks.append(check) }

  /// Adds a complaint if a condition does not hold.
  ///
  /// Use it in place of `#expect`, in checks and in doubles. A script that fails is played many times while it is shrunk, and
  /// `#expect` would record an issue each time.
  ///
  /// - Parameters:
  ///   - condition: what has to hold.
  ///   - message: says what does not hold.
  public func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { complaints.append(RunComplaint(.check, message())) }
  }

  /// Makes the checks; returns the complaints since this was last called.
  func check() -> [RunComplaint] {
    for check in checks {
      do { try check() } catch { complaints.append(RunComplaint(.check, String(describing: error))) }
    }
    defer { complaints = [] }
    return complaints
  }
}
