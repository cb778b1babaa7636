import AppLifecycle
import AppLifecycleTesting

/// Plays one script on a new instance of the program, action by action, and examines the run after each action.
@MainActor final class ScriptPlayer {
  /// The effect of an action.
  enum Effect {
    case done
    /// The application ignored the action; only the record shows it.
    case ignored
  }

  private let run: ScriptRun
  private let watch: RunWatch
  private let allowed: Set<RunComplaint.Kind>
  /// A copy of the application's state machine, which takes the same inputs; nil if its state has come to differ.
  private var machine: LifecycleStateMachine?

  init(
    order: SimulationExecutor.Order, allowing allowed: Set<RunComplaint.Kind>,
    _ make: @MainActor (ScriptRun) throws -> SimulatedSystem
  ) throws {
    run = ScriptRun(order: order)
    watch = RunWatch(try make(run), balance: run.balance)
    self.allowed = allowed
    let configuration = watch.system.application.configuration
    machine = LifecycleStateMachine(
      profile: configuration.profile,
      callsDidEnterBackgroundOnBackgroundLaunch: configuration.callsDidEnterBackgroundOnBackgroundLaunch)
  }

  /// Releases the checks: they capture the run, which keeps them.
  isolated deinit { run.dropChecks() }

  /// The state of the application.
  var state: ApplicationState { watch.system.application.state }
  /// Whether `end()` would only play `kill`.
  var endsByKill: Bool { watch.endsByKill }

  /// The faults so far, without allowed ones.
  var complaints: [RunComplaint] { watch.complaints.filter { !allowed.contains($0.kind) } }

  /// Throws for the first action of the test's own that the program's system does not have.
  func requireActions(of script: Script) throws(ScriptError) { try watch.system.requireActions(of: script) }

  /// Plays one action.
  func play(_ action: Script) async -> Effect {
    let before = watch.system.record.count
    do throws(EscapedWork) { try await watch.system.play(action) } catch { watch.note(error) }
    for complaint in run.check() { watch.add(complaint) }
    if let kind = action.actions.first?.kind { follow(kind) }
    return Self.isIgnored(watch.system.record[before...]) ? .ignored : .done
  }

  /// Returns whether the application would ignore an action; false if that cannot be predicted.
  func ignores(_ action: ScriptAction.Kind) -> Bool {
    // The session of a window may outlive its scene, and the state machine knows scenes only.
    if case .input(.system(.closeScene)) = action { return false }
    guard case .input(let input) = action, var future = machine, let first = future.handle(input).first else {
      return false
    }
    return if case .ignore = first { true } else { false }
  }

  /// Gives the copied machine the input that the application has taken.
  private func follow(_ action: ScriptAction.Kind) {
    // A refused end does not change the application.
    if case .input(let input) = action, input != .system(.terminate) || !state.isInMemory { _ = machine?.handle(input) }
    guard let known = machine?.state, known != state else { return }
    // The system's time limits may have suspended or purged the application.
    switch state {
    case .suspended: _ = machine?.handle(.system(.suspend))
    case .notRunning: _ = machine?.handle(.device(.purge))
    case .inactive, .active, .background: break
    }
    if machine?.state != state { machine = nil }
  }

  /// Ends the application.
  func end() async {
    _ = await watch.end()
    for complaint in run.check() { watch.add(complaint) }
  }

  /// Returns whether the records of an action consist of the input and a note that it was ignored.
  ///
  /// A refused end is also recorded as ignored, but it had an effect: the delegate was asked.
  private static func isIgnored(_ records: ArraySlice<LifecycleRecord>) -> Bool {
    guard records.count == 2, let last = records.last, last.kind == .ignored else { return false }
    return last.reason != IgnoredReason.refused.rawValue
  }
}
