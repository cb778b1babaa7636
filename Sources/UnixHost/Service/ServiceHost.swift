public import AppLifecycle
public import PubSub

/// Hosts an application as a service: without a terminal, in the background, under a service manager if there is one.
///
/// A service is launched into the background with the background mode *service*.
///
/// | fact | what follows |
/// | --- | --- |
/// | the launch is complete and what is managed `while: .running` is held | the manager is told READY |
/// | SIGTERM, SIGINT | STOPPING; `shutDown`, in full order, within the budget of `willTerminate` |
/// | Ctrl-C, at a terminal | `terminate`: the delegate is asked, and may refuse; a second Ctrl-C is as SIGTERM |
/// | a SIGTERM or SIGINT half a second or more after the one that ended it, SIGQUIT | the process ends by the signal at once |
/// | SIGHUP | RELOADING; ``Reload`` is posted and awaited; READY |
/// | the manager has a watchdog | it is told WATCHDOG twice in its time, as long as the main actor answers |
/// | starting, reloading or ending takes its time | the manager's time-out is extended again and again |
/// | a managed resource cannot be acquired | STATUS names it, its error and the wait until the next attempt |
/// | memory is short | `memoryWarning`, once in two seconds at most |
/// | the clock is set, midnight passes, the time zone changes | `significantTimeChange` |
/// | the machine goes to sleep; wakes (with the trait `Logind`) | open background tasks end, `suspend`; `wake` |
/// | the session is locked; unlocked (the same) | `lock`; `unlock` |
/// | the machine shuts down (the same) | as at SIGTERM |
/// | the process did not run: SIGSTOP, sleep of the machine, a freezer | none; `Application.WasSuspended` is posted afterwards |
///
/// The manager is one that speaks systemd's protocol and listens at `$NOTIFY_SOCKET`, a path or an abstract name. Where none
/// listens, all the rest is the same. The variables of the protocol are taken out of the environment: the program's own
/// children are not the service.
///
/// One thread of the host's own waits for all of it and enforces the budget when the main actor is busy; an overrun is named
/// on standard error.
///
/// Signals belong to the process: one host runs at a time.
public final class ServiceHost: Sendable {
  /// How the service deals with its manager.
  public struct Configuration: Sendable, Hashable {
    /// By how much the manager's time-outs are extended at a time; half of it later, again.
    public var timeoutExtension: Duration = .seconds(10)
    /// How long the handlers of a ``Reload`` are awaited.
    public var reloadBudget: Duration = .seconds(30)
    /// The causes for which the delegate is asked whether the service may end, where an order to end comes for the first time.
    ///
    /// An order of another cause only announces the end. Orders have the causes `Ctrl-C` (the key, where the service is tried out
    /// at a terminal), `SIGINT` (sent by a process) and `SIGTERM`. A service manager whose SIGTERM was refused kills the service
    /// when its own time-out has passed.
    public var causesThatAsk: Set<LifecycleCause> = ["Ctrl-C"]

    /// Times that suit most services.
    public init() {}
  }

  /// The service is to read its configuration again: SIGHUP, `systemctl reload`.
  ///
  /// Posted on the main actor, from the application. The manager is told that the reload is over when all handlers have
  /// returned, asynchronous ones included, or ``Configuration/reloadBudget`` has passed. Signals that come meanwhile lead to
  /// one more reload.
  public struct Reload: MainActorEvent {
    /// Whose configuration.
    public let application: Application
  }

  /// The host that runs; nil where none does.
  @MainActor public private(set) static var current: ServiceHost?

  private let application: Application
  private let configuration: Configuration
  private let wallClock: WallClock?
  private let link = HostLink<ProcessStateMachine.Event>()

  /// A host for an application that has not been launched.
  ///
  /// - Parameters:
  ///   - application: the application to host. Its bus carries ``Reload``.
  ///   - configuration: how the service deals with its manager.
  @MainActor public convenience init(application: Application, configuration: Configuration = Configuration()) {
    self.init(application: application, configuration: configuration, wallClock: nil)
  }

  /// A host with a wall clock of the test's.
  @MainActor package init(application: Application, configuration: Configuration, wallClock: WallClock?) {
    self.application = application
    self.configuration = configuration
    self.wallClock = wallClock
  }

  /// Tells the manager what the service does, in one line for people.
  ///
  /// `systemctl status` shows it, after the managed resources that cannot be acquired. Any thread; without effect where no manager listens or the host does not run.
  public func setStatus(_ text: String) { link.send(.status(text)) }

  /// Runs the life cycle until the application is not running.
  ///
  /// For programs with a `main` of their own.
  ///
  /// Catches signals from the call to its return. Does not call `exit`; but where the tear-down has overrun its budget and
  /// the main actor does not answer, the process is ended here with status 70, without returning.
  ///
  /// - Returns: the exit status: 0 if the application ended in order, 70 (`EX_SOFTWARE`) if the tear-down, or the
  ///   delegate's answer whether the service may end, overran its budget,
  ///   71 (`EX_OSERR`) if the system had no file descriptor or no thread for the host; standard error says which.
  /// - Precondition: no other host runs in this process.
  @MainActor public func run() async -> Int32 {
    let environment = ServiceEnvironment.take()
    let budgets = HostBudgets(
      didEnterBackground: application.configuration.didEnterBackgroundBudget,
      willTerminate: application.configuration.willTerminateBudget)
    Self.current = self
    defer { Self.current = nil }
    // It ends with the process.
    application.beginBackgroundMode(.service)
    return await HostSession.run(
      application, link: link, catching: CaughtSignal.ofService, clock: wallClock,
      setTrouble: { [link] in link.send(.trouble($0)) }
    ) { [configuration] parts in
      ProcessHostThread(parts, budgets: budgets, configuration: configuration, environment: environment).run()
    }
  }
}
