public import AppLifecycle
public import PubSub

/// A device with one application, in a world of its own: it plays scripts, and records what happens.
///
/// Nothing in it is faked but the device. The application is a real ``AppLifecycle/Application`` with the delegate of the
/// program under test; components subscribe on ``bus`` and hold what they hold through the application, as anywhere.
///
///     let system = SimulatedSystem(delegate: delegate)
///     try await system.play("launch; home; wait:1d; open")
///     #expect(system.record.callbacks.suffix(2) == ["willEnterForeground (background)", "didBecomeActive (active)"])
///
/// The same script gives the same record, byte for byte: time is a ``ManualClock``'s, and every task of the bus and of the
/// application runs on its executor. Tasks that the program starts by itself are repeatable only if they prefer
/// ``ManualClock/executor``; what it does in the real world has to be declared with ``ManualClock/external(_:)``.
///
/// The system's own clock runs too: an application that has been in the background for
/// `Application.Configuration.backgroundStay`, counted from the commit of that state, is suspended.
@MainActor public final class SimulatedSystem {
  /// The world's clock; it stands still but for `wait:` and for transitions that take time.
  public nonisolated let clock: ManualClock
  /// Where the application posts.
  public nonisolated let bus: EventBus
  /// The application, not running at first.
  public let application: Application
  /// What has happened so far, in order.
  public private(set) var record: [LifecycleRecord] = []

  /// The token that is being played: what the system's clock does meanwhile has it as its cause.
  private var runningToken: LifecycleCause?
  /// Waits for the end of the present stay in the background; nil outside the background.
  private var stay: Task<Void, Never>?
  private let tasks: TaskStarter

  /// A device on which the application has not been launched.
  ///
  /// - Parameters:
  ///   - delegate: the application's delegate; a bare application has one that does nothing.
  ///   - profile: which of the two life cycles the application follows; what the configuration says if nil.
  ///   - configuration: the application's budgets and the system's times.
  ///   - order: in which order work runs that is ready at the same time.
  public init(
    delegate: (any ApplicationDelegate)? = nil, profile: LifecycleProfile? = nil,
    configuration: Application.Configuration = Application.Configuration(), order: SimulationExecutor.Order = .fifo
  ) {
    var configuration = configuration
    configuration.profile = profile ?? configuration.profile
    clock = ManualClock(executor: SimulationExecutor(order: order))
    bus = EventBus(clock: clock)
    tasks = TaskStarter(clock: clock)
    application = Application(
      delegate: delegate ?? BareDelegate(), bus: bus, configuration: configuration, clock: clock)
    application.recorder = { [weak self] in self?.take($0) }
  }

  isolated deinit { stay?.cancel() }
}

// MARK: - Playing

extension SimulatedSystem {
  /// Reads a script and plays it to its end.
  ///
  /// - Parameter script: the script.
  /// - Returns: what this script has added to ``record``.
  /// - Throws: the first mistake in the script; nothing of it has been played then.
  @discardableResult
  public func play(_ script: String) async throws(ScriptError) -> [LifecycleRecord] {
    await play(try Script(script))
  }

  /// Plays a script to its end, one action after another.
  ///
  /// Each input of the system is played until its transition has finished, tear-down included, and nothing is left to run
  /// without time passing. What cannot be done is an `ignored` record, and the script goes on.
  ///
  /// Play one script at a time.
  ///
  /// - Parameter script: the script.
  /// - Returns: what this script has added to ``record``.
  @discardableResult
  public func play(_ script: Script) async -> [LifecycleRecord] {
    let before = record.count
    for action in script.actions {
      let cause = LifecycleCause(rawValue: action.token)
      runningToken = cause
      note(.input, cause)
      if let reason = await perform(action, cause: cause) { note(.ignored, cause, reason: reason) }
    }
    runningToken = nil
    return Array(record[before...])
  }

  /// Plays one action; says why it had no effect, if so.
  private func perform(_ action: ScriptAction, cause: LifecycleCause) async -> String? {
    switch action.kind {
    case .input(let input):
      let report = await clock.running { [application] in await application.handle(input, cause: cause) }
      if case .ignored(let reason) = report.outcome { return reason.rawValue }
    case .wait(let duration): await clock.advance(by: duration)
    case .beginTask, .endTask: return "the simulated system does not play background tasks yet"
    case .beginMode, .endMode: return "the simulated system does not play background modes yet"
    case .slow: return "the simulated system does not play slow calls yet"
    }
    return nil
  }

  private func note(_ kind: LifecycleRecord.Kind, _ cause: LifecycleCause, reason: String? = nil) {
    record.append(
      LifecycleRecord(
        instant: clock.now.offset, kind: kind, name: cause.rawValue, state: application.state, cause: cause,
        reason: reason))
  }
}

// MARK: - The system's clock

extension SimulatedSystem {
  private func take(_ new: LifecycleRecord) {
    record.append(new)
    guard new.kind == .state else { return }
    // A stay runs from a commit of background, whatever led to it, to the next commit.
    stay?.cancel()
    stay = nil
    guard new.state == .background else { return }
    let end = clock.now.advanced(by: application.configuration.backgroundStay)
    stay = tasks.start { [clock, weak self] in
      guard (try? await clock.sleep(until: end)) != nil else { return }
      await self?.suspend()
    }
  }

  private func suspend() {
    // The stay may have ended between the wake-up and this call.
    guard !Task.isCancelled else { return }
    application.send(.suspend, cause: runningToken ?? LifecycleCause(.suspend))
  }
}

/// A delegate that does nothing, for an application that is only looked at from outside.
@MainActor private final class BareDelegate: ApplicationDelegate {}
