public import AppLifecycle
public import PubSub
import Scheduling

/// Hosts an application as a service: without a terminal, in the background, under a service manager if there is one.
///
/// A service is launched into the background with the background mode *service*.
///
/// | fact | reaction of the host |
/// | --- | --- |
/// | the launch is complete and every resource managed `while: .running` is held and ready | READY |
/// | SIGTERM, SIGINT; the terminal is closed from which the service was started, or the shell that leads its session has ended | STOPPING; `shutDown` with the whole tear-down, within the budget of `willTerminate` |
/// | Ctrl-C, at a terminal | `terminate`: the delegate is asked, and may refuse; a second Ctrl-C, also much later, acts as SIGTERM |
/// | another SIGTERM or SIGINT during the end | nothing: a supervisor may repeat its order, and the end goes on |
/// | another Ctrl-C, half a second or more after the order that began the end; SIGQUIT | the signal ends the process at once |
/// | other code in the program takes one of the host's signals: with a handler, a dispatch source, a signalfd that is close-on-exec | takes it back within a second, and reports it |
/// | SIGHUP, except from a terminal that is closed | RELOADING; ``Reload`` is posted, after the wake-up if the machine sleeps, and awaited; READY |
/// | the manager has a watchdog | WATCHDOG twice in the watchdog's interval, as long as the main actor answers |
/// | starting, reloading or ending takes long | the host extends the manager's time-out repeatedly |
/// | a managed resource cannot be acquired | STATUS names it, its error and the delay until the next attempt |
/// | a resource was given up while the service starts | STATUS says so; the manager's time-out is no longer extended, and acts unless `retry()` succeeds first |
/// | a handler of ``Reload`` throws, or exceeds its budget | STATUS and a message name it; READY follows all the same |
/// | memory is low | `memoryWarning`, at most once in two seconds |
/// | the clock is set, midnight passes, the time zone changes | `significantTimeChange` |
/// | the machine goes to sleep; wakes (with the trait `Logind`) | open background tasks end, `suspend`; `wake` |
/// | the session is locked; unlocked (with the trait `Logind`) | `lock`; `unlock` |
/// | the machine shuts down (with the trait `Logind`) | as at SIGTERM |
/// | the process did not run for two seconds or more: SIGSTOP, an unannounced sleep of the machine, a freezer | no input; `Application.WasSuspended` is posted afterwards |
///
/// Words in capitals are messages to the service manager in systemd's protocol. The manager listens at
/// `$NOTIFY_SOCKET`, a path or an abstract name. Without a manager the host only omits these messages. It removes the
/// protocol's variables from the environment, because the program's child processes are not the service.
///
/// A program inherits the variable if it is started from a shell that runs under another service. At a terminal the
/// host therefore uses the socket only if the environment names this process as the unit's main process. Otherwise it
/// prints a message, and sends nothing. A program with privileges of its own (set-user-ID, file capabilities) ignores
/// the variables, as libsystemd does.
///
/// READY names the process (`MAINPID`) if it is not the one that the manager has started, as behind a wrapper script. The
/// host omits that where the number may mean another process: in a PID namespace that does not contain the process of
/// `$SYSTEMD_EXEC_PID`, and for process 1.
///
/// ``ActivationSocket`` has the sockets that the manager passes to the process.
///
/// A service that is started from a terminal ends when that terminal is closed, or its shell ends. To keep it, start it with `nohup`, or
/// with `setsid`, which gives it no terminal.
///
/// A thread of the host waits for these facts, and enforces the budget even while the main actor is busy. The host
/// reports an overrun on standard error.
///
/// Signals belong to the process, so only one host runs at a time. A library that traps SIGTERM itself would end its own
/// work at an order, and the host would start it again. Configure such a library without signals of its own: the host
/// asks it to end when the phase closes.
public final class ServiceHost: Sendable {
  /// The options of a service host.
  public struct Configuration: Sendable, Hashable {
    /// The length of each extension of the manager's time-outs; the host extends again when half of it has passed.
    package var timeoutExtension: Duration = .seconds(10)
    /// The time for which the host awaits the handlers of a ``Reload``.
    public var reloadBudget: Duration = .seconds(30)
    /// The causes for which a first order to end asks the delegate whether the service may end.
    ///
    /// An order with another cause ends the program without asking. Orders have the causes `Ctrl-C` (the key, if the
    /// service runs at a terminal for a test), `SIGINT` (sent by a process) and `SIGTERM`. If the delegate refuses the
    /// SIGTERM of a service manager, the manager kills the service when its own time-out has passed.
    public var causesThatAsk: Set<LifecycleCause> = EndOrders.keys
    /// The causes for which a repeated order ends the process at once, if it arrives half a second or more after the
    /// order that began the end.
    ///
    /// A repeated order with another cause changes nothing: the end goes on, and has the time of its budgets. Insert
    /// `SIGTERM` and `SIGINT` for a program that a second signal of a process should end at once. SIGQUIT always does.
    public var causesThatInsist: Set<LifecycleCause> = EndOrders.keys

    /// Creates a configuration that suits most services.
    public init() {}
  }

  /// A notification that the service must read its configuration again, because of SIGHUP or `systemctl reload`.
  ///
  /// The host posts it on the main actor, from the application. The reload ends, and the manager receives READY, when
  /// all handlers have returned, including asynchronous ones, or ``Configuration/reloadBudget`` has passed. All SIGHUPs
  /// that arrive meanwhile lead to one further reload. If a handler throws, the manager's STATUS and a message name it,
  /// until a later reload succeeds.
  public struct Reload: MainActorEvent {
    /// The application of the service.
    public let application: Application

    /// Creates the event, for tests of a handler.
    ///
    /// A test posts it as the host does, and so waits for asynchronous handlers, too:
    ///
    ///     await application.bus.postAndWait(ServiceHost.Reload(application: application), from: application)
    ///
    /// - Parameter application: the application of the service.
    public init(application: Application) { self.application = application }
  }

  /// The link of the running host; nil if none runs.
  private static let running = Guarded<HostLink<ProcessStateMachine.Event>?>(nil)

  private let application: Application
  private let configuration: Configuration
  private let wallClock: WallClock?

  /// Creates a host for an application that has not been launched.
  ///
  /// - Parameters:
  ///   - application: the application to host. Its bus carries ``Reload``.
  ///   - configuration: the options of the host.
  @MainActor public convenience init(application: Application, configuration: Configuration = Configuration()) {
    self.init(application: application, configuration: configuration, wallClock: nil)
  }

  /// Creates a host with the wall clock of a test.
  @MainActor package init(application: Application, configuration: Configuration, wallClock: WallClock?) {
    self.application = application
    self.configuration = configuration
    self.wallClock = wallClock
  }

  /// Sends the manager one line of text about the current work of the service.
  ///
  /// `systemctl status` shows it, after the managed resources that cannot be acquired. The host replaces line ends by
  /// spaces, escapes other control characters, and cuts the text at 2048 bytes. Any thread may call it. Without a
  /// running host or a manager the call has no effect, so a program need not know how it was started.
  ///
  /// - Parameter text: the text, in one line.
  public static func setStatus(_ text: String) { running.withLock { $0 }?.send(.status(text)) }

  /// Runs the life cycle until the application is no longer running.
  ///
  /// Use it in programs with their own `main`.
  ///
  /// The host catches signals from the call of this method to its return. In three cases it ends the process, and the
  /// method does not return:
  ///
  /// - The tear-down has overrun its budget, and the main actor does not answer: status 70.
  /// - The application has ended, and the main actor does not continue within a second: status 70.
  /// - SIGQUIT, or a repeated order with one of ``Configuration/causesThatInsist``: the signal ends the process.
  ///
  /// - Returns: the exit status: 0 if the application ended in order, or the status passed to
  ///   `Application.shutDown(status:cause:)`; 70 (`EX_SOFTWARE`) if the tear-down, or the delegate's answer whether the
  ///   service may end, overran its budget, 71 (`EX_OSERR`) if the system had no file descriptor or no thread for the
  ///   host; a message on standard error has the reason.
  /// - Precondition: no other host runs in this process.
  @MainActor public func run() async -> Int32 {
    let environment = ServiceEnvironment.take()
    // Child processes that the program starts from now on inherit no sockets.
    _ = ActivationSocket.all
    let budgets = HostBudgets.of(application)
    let link = HostLink<ProcessStateMachine.Event>()
    Self.running.withLock { $0 = link }
    defer { Self.running.withLock { $0 = nil } }
    // The mode ends with the process.
    application.beginBackgroundMode()
    return await HostSession.run(
      application, link: link, catching: CaughtSignal.ofService, clock: wallClock,
      setTrouble: { link.send(.trouble($0)) }
    ) { [configuration] parts in
      ProcessHostThread(parts, budgets: budgets, configuration: configuration, environment: environment).run()
    }
  }
}
