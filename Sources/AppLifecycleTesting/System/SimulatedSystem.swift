public import AppLifecycle
public import PubSub
import Scheduling

/// A simulated device with one application, which plays scripts and records the effects.
///
/// Only the device is simulated. The application is a real `Application` with the delegate of the program under test.
/// Components subscribe on ``bus``, and the application manages their resources, as in the program.
///
///     let system = SimulatedSystem { AppDelegate() }
///     try await system.play("launch; home; wait:1d; open")
///     #expect(
///       system.record.callbacks.suffix(2) == [
///         "willEnterForeground (background)", "didBecomeActive (active)",
///       ])
///
/// The same script gives the same record, byte for byte: the clock is a ``ManualClock``, and every task of the bus and
/// of the application runs on its executor. So do the tasks that these start, in libraries, too. Components wait on the
/// application's `clock`, and declare work of the real world with the application's `external`. What a simulation cannot
/// hold is reported as ``EscapedWork``: ``play(_:)-(Script)`` throws it, with the file and line of a sleep if it is on
/// an `ApplicationClock`.
///
/// The system also enforces background time, counted from the change to the background state. An application without
/// background tasks is suspended after `Application.Configuration.backgroundStay`. Background tasks keep it awake for
/// `backgroundTaskAllowance` at most. They expire shortly before the end of that time, and the system purges the
/// application if they are still open at the end.
@MainActor public final class SimulatedSystem {
  /// The system's clock; `wait:` and slow transitions advance it.
  public nonisolated let clock: ManualClock
  /// The application's bus.
  public nonisolated let bus: EventBus
  /// The application; not running at first.
  public let application: Application
  /// The record of what has happened so far, in order; its only inputs are the actions of scripts.
  public private(set) var record: [LifecycleRecord] = []

  /// Whether the latest process ended in order: `willTerminate` was called, and its tear-down kept the budget.
  ///
  /// It is false before the first launch, and while a process runs. It is also false after a crash, after the system has
  /// removed or killed a suspended application, and after an end because of an overrun: a process that ended so may
  /// have lost what it had not saved.
  ///
  ///     run.afterEachAction {
  ///       let isSaved = store.text == editor.text
  ///       run.expect(!system.hasEndedInOrder || isSaved, "the text was not saved")
  ///     }
  public private(set) var hasEndedInOrder = false

  /// The disk on which the application's saved state outlives its processes.
  package let stateStorage = SimulatedStateStorage()
  /// The application as the shared one of the system's tasks.
  private nonisolated let reference: SimulatedReference
  private var observation: ObserverToken?
  /// Whether the present process has reached `willTerminate`, and has not overrun its budget since.
  private var isEndingInOrder = false
  /// The causes of `quit` actions that still wait for the delegate's answer.
  private var openQuits: [LifecycleCause] = []
  /// The background tasks and modes that scripts have begun.
  var work = ScriptedWork()
  /// The actions of the test's own, by name.
  var ownActions: [String: OwnAction] = [:]

  /// Makes a device on which the application has not been launched.
  ///
  ///     let server = ServerDouble()
  ///     let system = SimulatedSystem { AppDelegate(server) }
  ///     try await system.play("launch; crash; launch")
  ///     let delegate = system.application.delegate as? AppDelegate
  ///
  /// Each process has a delegate of its own, which sets up everything at its launch. A later launch first drops what the
  /// process before has set up:
  ///
  /// - The application forgets the resources and bodies that were registered while the process ran, and those that
  ///   depend on them. What the test has registered while no process ran stays.
  /// - The bus cancels the subscriptions of the old delegate. The system releases it, and with it what it holds; the
  ///   subscriptions of those objects end.
  ///
  /// Then the system calls the closure. Make what outlives a process, such as a file or a server, outside of it.
  ///
  /// `application.delegate` is the present delegate; after the end of a process it is the last one, until the next
  /// launch.
  ///
  /// Without a closure the test is the program: a launch drops nothing.
  ///
  /// - Parameters:
  ///   - profile: the life cycle that the application follows; nil for the configuration's.
  ///   - configuration: the application's budgets and the system's time limits; nil for those that the delegate's type
  ///     declares (`ApplicationDelegate.configuration`).
  ///   - order: the order in which work that is ready at the same time runs.
  ///   - delegate: makes the delegate of each process, for the first one at once; nil for a delegate that does nothing.
  public init(
    profile: LifecycleProfile? = nil, configuration: Application.Configuration? = nil,
    order: SimulationExecutor.Order = .fifo, delegate: (@MainActor () -> any ApplicationDelegate)? = nil
  ) {
    clock = ManualClock(executor: SimulationExecutor(order: order))
    // What the delegate starts when it is made belongs to the simulation, as it does at each later launch.
    let simulation = clock.executor.mainActor
    reference = SimulatedReference { Membership.current === simulation }
    let first: any ApplicationDelegate = reference.making {
      Membership.$bound.withValue(simulation) { delegate?() ?? BareDelegate() }
    }
    var configuration = configuration ?? type(of: first).configuration
    configuration.profile = profile ?? configuration.profile
    bus = EventBus(clock: clock)
    application = Application(delegate: first, bus: bus, configuration: configuration, clock: clock)
    application.makeDelegate = delegate
    application.simulatedReference = reference
    application.stateStorage = stateStorage
    observation = application.observe(label: "simulated system") { [weak self] in
      if let record = $0.record { self?.take(record) }
    }
    application.enforceBackgroundTime()
    application.enforcesBudgets = true
  }

  deinit { reference.leave() }
}

// MARK: - Playing

extension SimulatedSystem {
  /// Reads a script and plays it to its end.
  ///
  /// - Parameter script: the script.
  /// - Returns: the records that this script has added to ``record``.
  /// - Throws: a ``ScriptError`` for the first mistake in the script, before any action is played; or ``EscapedWork``.
  @discardableResult
  public func play(_ script: String) async throws -> [LifecycleRecord] {
    let script = try Script(script)
    try requireActions(of: script)
    return try await play(script)
  }

  /// Plays a script to its end, one action after another.
  ///
  /// Each input is played until its transition has finished, including the tear-down, and no work is left that can run
  /// without time passing. A `quit` whose delegate suspends before it answers is the exception: the script continues.
  /// An action without effect adds an `ignored` record, and the script continues. So does a `do:NAME` that was not
  /// added.
  ///
  /// Threads of a component, such as those of its dispatch queue, may begin and end background tasks; the system takes
  /// notice before and after each action. Let such threads finish their work between two scripts, so that the record
  /// does not depend on the machine.
  ///
  /// Play one script at a time. Code that runs in the meantime has the system's application as `Application.shared`.
  ///
  /// - Parameter script: the script.
  /// - Returns: the records that this script has added to ``record``.
  /// - Throws: ``EscapedWork`` if work has escaped from the simulation, right after the action at which it was found;
  ///   the rest of the script is not played.
  @discardableResult
  public func play(_ script: Script) async throws(EscapedWork) -> [LifecycleRecord] {
    let result = await reference.playing { () async -> Result<[LifecycleRecord], EscapedWork> in
      do throws(EscapedWork) { return .success(try await playShared(script)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func playShared(_ script: Script) async throws(EscapedWork) -> [LifecycleRecord] {
    let (before, start) = (record.count, clock.now)
    defer { application.ambientCause = nil }
    for planned in script.actions {
      guard let action = planned.begun(at: start.duration(to: clock.now)) else { continue }
      let cause = LifecycleCause(rawValue: action.token)
      // Effects of the system's time limits and of the application's own work during this action have the token as
      // their cause.
      application.ambientCause = cause
      note(.input, cause)
      try await hearOfOtherThreads()
      if let reason = try await perform(action, cause: cause) { note(.ignored, cause, reason: reason) }
      try await hearOfOtherThreads()
      try clock.executor.checkForEscapes()
    }
    return Array(record[before...])
  }

  /// Takes notice of the background tasks that threads of components have begun and ended.
  private func hearOfOtherThreads() async throws(EscapedWork) {
    guard application.hasNewsOfBackgroundTasks else { return }
    await clock.running { @MainActor [application] in application.tellNewsOfBackgroundTasks() }
    if clock.hasOverdueSleepers { try await clock.advance(by: .zero) }
  }

  /// Plays one action; returns the reason if it had no effect, else nil.
  private func perform(_ action: ScriptAction, cause: LifecycleCause) async throws(EscapedWork) -> String? {
    switch action.kind {
    case .input(.system(.terminate)): return try await quit(cause)?.rawValue
    case .input(let input):
      let mayBlameState = input == .device(.crash) && application.state.runsCode && stateStorage.isOpen
      let report = await clock.running { [application] in await application.handle(input, cause: cause) }
      // A slow call may have advanced the clock past the deadlines of sleeping tasks; wake them before the next action.
      if clock.hasOverdueSleepers { try await clock.advance(by: .zero) }
      // The process may have ended in order before the turn of the crash.
      if case .ignored(let reason) = report.outcome { return reason.rawValue }
      if mayBlameState { stateStorage.processDidCrash() }
    case .hostStop, .hostEnd:
      guard application.state.isInMemory else { return IgnoredReason.notRunning.rawValue }
      if action.kind == .hostStop, !application.state.runsCode { return IgnoredReason.suspended.rawValue }
      await clock.running { [application] in
        if action.kind == .hostStop {
          _ = await application.handleSuspension(cause: cause)
        } else {
          _ = await application.handleAwake(.shutDown, cause: cause)
        }
      }
      if clock.hasOverdueSleepers { try await clock.advance(by: .zero) }
    case .wait(let duration): try await clock.advance(by: duration)
    case .beginTask, .endTask, .beginMode, .endMode, .slow, .failSave, .own:
      let reason = await clock.running { [weak self] in await self?.performWork(action.kind) }
      // An action of the test may send an input with a slow call.
      if clock.hasOverdueSleepers { try await clock.advance(by: .zero) }
      return reason
    }
    return nil
  }

  /// Asks the application to end, and returns when it has ended, has refused, or has postponed its answer.
  ///
  /// A refusal is recorded when the delegate gives it, and not here: until then the application may end for another
  /// reason.
  ///
  /// - Returns: the reason if the application was not asked; else nil.
  private func quit(_ cause: LifecycleCause) async throws(EscapedWork) -> IgnoredReason? {
    openQuits.append(cause)
    // Settled with nil when the delegate has postponed its answer.
    let wait = OneShot<TransitionReport?>()
    let token = application.observe(label: "simulated system") { if $0 == .terminationAsked { wait.settle(nil) } }
    defer { token.cancel() }
    let report = await clock.running { [application, clock] in
      TaskStarter(clock: clock).startOnMainActor { wait.settle(await application.handle(.terminate, cause: cause)) }
      return await wait.value
    }
    if clock.hasOverdueSleepers { try await clock.advance(by: .zero) }
    guard case .ignored(let reason) = report?.outcome, reason != .refused else { return nil }
    if let index = openQuits.firstIndex(of: cause) { openQuits.remove(at: index) }
    return reason
  }

  private func note(_ kind: LifecycleRecord.Kind, _ cause: LifecycleCause, reason: String? = nil) {
    record.append(
      LifecycleRecord(
        instant: clock.now.offset, kind: kind, name: cause.rawValue, state: application.present.state, cause: cause,
        reason: reason))
  }

  private func take(_ new: LifecycleRecord) {
    // `play` records inputs and ignored actions itself, except a delegate's late refusal.
    guard new.kind != .input, new.kind != .ignored || endsOpenQuit(new) else { return }
    record.append(new)
    switch new.kind {
    case .delegate where new.name == ApplicationCallback.willTerminate.rawValue: isEndingInOrder = true
    case .report: if new.report?.kind == .watchdog { isEndingInOrder = false }
    case .state:
      hasEndedInOrder = new.state == .notRunning && isEndingInOrder
      isEndingInOrder = false
      guard new.state == .notRunning else { break }
      openQuits = []
      work.loseProcess()
    case .input, .ignored, .delegate, .notification, .task: break
    }
  }

  /// Returns whether the record is the delegate's refusal of a `quit` of the script that was waiting for the answer.
  private func endsOpenQuit(_ record: LifecycleRecord) -> Bool {
    guard record.reason == IgnoredReason.refused.rawValue,
      let index = openQuits.firstIndex(of: record.cause)
    else { return false }
    openQuits.remove(at: index)
    return true
  }
}

/// A delegate that does nothing, for an application that a test only observes.
@MainActor private final class BareDelegate: ApplicationDelegate {}
