public import AppLifecycle
public import PubSub

/// Hosts an application as a service: without a terminal, in the background, under a service manager if there is one.
///
/// A service is launched into the background with the background mode *service*.
///
/// | fact | what follows |
/// | --- | --- |
/// | the launch is complete and every resource managed `while: .running` is held | READY |
/// | SIGTERM, SIGINT | STOPPING; `shutDown`, in full order, within the budget of `willTerminate` |
/// | Ctrl-C, at a terminal | `terminate`: the delegate is asked, and may refuse; a second Ctrl-C is as SIGTERM |
/// | a SIGTERM or SIGINT half a second or more after the one that ended it, SIGQUIT | the process ends by the signal at once |
/// | SIGHUP | RELOADING; ``Reload`` is posted and awaited; READY |
/// | the manager has a watchdog | WATCHDOG twice in its time, as long as the main actor answers |
/// | starting, reloading or ending takes its time | the manager's time-out is extended again and again |
/// | a managed resource cannot be acquired | STATUS names it, its error and the wait until the next attempt |
/// | memory is short | `memoryWarning`, once in two seconds at most |
/// | the clock is set, midnight passes, the time zone changes | `significantTimeChange` |
/// | the machine goes to sleep; wakes (with the trait `Logind`) | open background tasks end, `suspend`; `wake` |
/// | the session is locked; unlocked (the same) | `lock`; `unlock` |
/// | the machine shuts down (the same) | as at SIGTERM |
/// | the process did not run: SIGSTOP, sleep of the machine, a freezer | none; `Application.WasSuspended` is posted afterwards |
///
/// Words in capitals are messages to the manager, which speaks systemd's protocol and listens at `$NOTIFY_SOCKET`, a path or an
/// abstract name. Without a manager all the rest is the same. The host removes the protocol's variables from the environment,
/// as the program's own children are not the service.
///
/// A thread of the host waits for all of this, and enforces the budget when the main actor is busy. The host reports an overrun
/// on standard error.
///
/// Signals belong to the process: one host runs at a time.
public final class ServiceHost: Sendable {
  /// How the service deals with its manager.
  public struct Configuration: Sendable, Hashable {
    /// The length of each extension of the manager's time-outs, which is repeated when half of it has passed.
    public var timeoutExtension: Duration = .seconds(10)
    /// The time for which the handlers of a ``Reload`` are awaited.
    public var reloadBudget: Duration = .seconds(30)
    /// The causes of a first order to end for which the delegate is asked whether the service may end.
    ///
    /// An order of another cause only announces the end. Orders have the causes `Ctrl-C` (the key, where the service is tried out
    /// at a terminal), `SIGINT` (sent by a process) and `SIGTERM`. A service manager whose SIGTERM was refused kills the service
    /// when its own time-out has passed.
    public var causesThatAsk: Set<LifecycleCause> = ["Ctrl-C"]

    /// A configuration that suits most services.
    public init() {}
  }

  /// The service has to read its configuration again, because of SIGHUP or `systemctl reload`.
  ///
  /// Posted on the main actor, from the application. The reload is over, and the manager gets READY, when all handlers have
  /// returned, asynchronous ones included, or ``Configuration/reloadBudget`` has passed. All signals that arrive meanwhile lead
  /// to one more reload.
  public struct Reload: MainActorEvent {
    /// The application of the service.
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

  /// Sends the manager a line for people about what the service does.
  ///
  /// `systemctl status` shows it, after the managed resources that cannot be acquired. May be called from any thread. Has no
  /// effect without a manager, or while the host does not run.
  public func setStatus(_ text: String) { link.send(.status(text)) }

  /// Runs the life cycle until the application is not running.
  ///
  /// For programs with a `main` of their own.
  ///
  /// Catches signals from the call to its return. Does not call `exit`, with one exception: if the tear-down has overrun its
  /// budget and the main actor does not answer, the process ends with status 70, and the method does not return.
  ///
  /// - Returns: the exit status: 0 if the application ended in order, or what `Application.shutDown(status:cause:)` said; 70 (`EX_SOFTWARE`) if the tear-down, or the
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
