import AppLifecycle
import AppLifecycleTesting

/// Plays one script, action by action, on a program of its own, and looks at the run after each.
@MainActor final class ScriptPlayer {
  /// What became of an action.
  enum Effect {
    case done
    /// The application could not take it: nothing but the record knows of it.
    case ignored
  }

  private let run: ScriptRun
  private let watch: RunWatch
  private let allowed: Set<RunComplaint.Kind>
  /// Does what the application's own does; nil when the two have parted.
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

  /// The state of the application.
  var state: ApplicationState { watch.system.application.state }
  /// Whether the end of the run is the action `kill`, and nothing else.
  var endsByKill: Bool { watch.endsByKill }

  /// What is wrong so far, but for what is allowed.
  var complaints: [RunComplaint] { watch.complaints.filter { !allowed.contains($0.kind) } }

  /// Plays one action.
  func play(_ action: Script) async -> Effect {
    let before = watch.system.record.count
    do throws(EscapedWork) { try await watch.system.play(action) } catch { watch.note(error) }
    for complaint in run.check() { watch.add(complaint) }
    if let kind = action.actions.first?.kind { follow(kind) }
    return Self.isIgnored(watch.system.record[before...]) ? .ignored : .done
  }

  /// Whether the application would ignore an action; false where that cannot be foreseen.
  func ignores(_ action: ScriptAction.Kind) -> Bool {
    guard case .input(let input) = action, var future = machine, let first = future.handle(input).first else {
      return false
    }
    return if case .ignore = first { true } else { false }
  }

  /// The machine takes what the application has taken.
  private func follow(_ action: ScriptAction.Kind) {
    // An end that was refused leaves the application as it was.
    if case .input(let input) = action, input != .terminate || !state.isInMemory { _ = machine?.handle(input) }
    guard let known = machine?.state, known != state else { return }
    // The system's clocks suspend and purge.
    switch state {
    case .suspended: _ = machine?.handle(.suspend)
    case .notRunning: _ = machine?.handle(.purge)
    case .inactive, .active, .background: break
    }
    if machine?.state != state { machine = nil }
  }

  /// Ends the application.
  func end() async {
    _ = await watch.end()
    for complaint in run.check() { watch.add(complaint) }
  }

  /// Whether the records of an action say that it had no effect, and nothing else.
  ///
  /// An end that the delegate refused is noted as ignored too, but there the delegate was asked.
  private static func isIgnored(_ records: ArraySlice<LifecycleRecord>) -> Bool {
    guard records.count == 2, let last = records.last, last.kind == .ignored else { return false }
    return last.reason != IgnoredReason.refused.rawValue
  }
}
