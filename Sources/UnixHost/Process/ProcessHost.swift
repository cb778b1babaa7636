public import AppLifecycle

/// The part of a host that every program needs, for a program whose window, device or event loop is its own.
///
/// A program that draws in a window, or is embedded in another one, learns of focus and visibility from its own event loop and sends
/// that to its application:
///
///     let launched = application.bus.subscribe(to: Application.DidFinishLaunching.self) { _ in window.takeEvents() }
///     let status = await ProcessHost(application: application).run()  // launches the application
///     …
///     application.send(.beginInterruption(.focusLost))  // in a handler of the window's events
///
/// Take events once the application has launched: it ignores an input that comes before, as it does not run.
///
/// The process host does the rest, on a thread of its own:
///
/// | fact | what follows |
/// | --- | --- |
/// | ``run()`` is called | ``Configuration/launch``, from then on signals are caught |
/// | Ctrl-C, at the terminal from which the program was started | `terminate`: the delegate is asked, and may refuse |
/// | SIGTERM, SIGINT, SIGHUP | `shutDown`, in full order, within the budget of `willTerminate`; a suspended application is woken for it |
/// | one of these, half a second or more after the one that ended the program; SIGQUIT | the process ends by the signal at once |
/// | a budget passes, and the main actor is blocked | the code that blocks it is reported; if the application was ending, the process ends with status 70 |
/// | a budget was overrun | the code that overran it is reported |
/// | a managed resource breaks, cannot be acquired, or is released with an error | it is reported |
/// | memory is short | `memoryWarning`, once in two seconds at most |
/// | the clock is set, midnight passes, the time zone changes | `significantTimeChange` |
/// | the machine goes to sleep; wakes (with the trait `Logind`) | open background tasks end, `suspend`; `wake` |
/// | the session is locked; unlocked (the same) | `lock`; `unlock` |
/// | the process did not run: SIGSTOP, sleep of the machine | none; `Application.WasSuspended` is posted afterwards |
///
/// Reports are ``HostMessage``s. Signals belong to the process, so only one host runs at a time.
public final class ProcessHost: Sendable {
  /// How the host deals with its process.
  public struct Configuration: Sendable {
    /// The input that launches the application: `launch`, or `launchInBackground` for a program that shows nothing at first.
    ///
    /// With scenes, `launch` connects the scene `main`; `openScene` with another identifier launches the application with that scene.
    public var launch = SystemInput.launch
    /// The causes for which a first order to end asks the delegate whether the program may end.
    ///
    /// Orders have the causes `Ctrl-C` (the key), `SIGINT` (sent by a process), `SIGTERM` and `SIGHUP`.
    public var causesThatAsk: Set<LifecycleCause> = ["Ctrl-C"]
    /// Called right before the process ends while the main actor is blocked: to restore what outlives a process, such as a
    /// screen's resolution.
    ///
    /// Runs on the host's thread. It must not wait for the main actor, nor for a lock that the main actor may hold.
    public var beforeForcedExit: (@Sendable () -> Void)?

    /// Creates a configuration that suits most programs.
    public init() {}
  }

  private let application: Application
  private let configuration: Configuration

  /// Creates a host for an application that has not been launched.
  ///
  /// - Parameters:
  ///   - application: the application to host.
  ///   - configuration: how the host deals with its process.
  @MainActor public init(application: Application, configuration: Configuration = Configuration()) {
    (self.application, self.configuration) = (application, configuration)
  }

  /// Launches the application, and runs its life cycle until it is not running.
  ///
  /// The host catches signals from the call of this method to its return. It does not call `exit`, with one exception:
  /// if the tear-down has overrun its budget and the main actor does not answer, the process ends with status 70, and
  /// the method does not return. The main actor must run meanwhile: in ``MainLoop/run(_:)``, or by
  /// ``MainLoop/performWork()`` in a loop of the program's own.
  ///
  /// - Returns: the exit status: 0, or the one given to `Application.shutDown(status:cause:)`, if the application ended in order;
  ///   70 (`EX_SOFTWARE`) if the tear-down, or the delegate's answer whether the program may end, overran its budget;
  ///   71 (`EX_OSERR`) if the system had no file descriptor or no thread for the host.
  /// - Precondition: no other host runs in this process.
  @MainActor public func run() async -> Int32 {
    let budgets = HostBudgets(
      didEnterBackground: application.configuration.didEnterBackgroundBudget,
      willTerminate: application.configuration.willTerminateBudget)
    let link = HostLink<ProcessStateMachine.Event>()
    return await HostSession.run(application, link: link, catching: CaughtSignal.ofService) { [configuration] parts in
      ProcessHostThread(parts, budgets: budgets, configuration: configuration).run()
    }
  }
}
