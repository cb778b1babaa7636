public import AppLifecycle

/// The part of a host that every program needs, for a program with its own window, device or event loop.
///
/// A program that draws in a window, or is embedded in another program, learns of focus and visibility from its own
/// event loop. It sends these facts to its application:
///
///     let launched = application.bus.subscribe(to: Application.DidFinishLaunching.self) { _ in
///       window.takeEvents()
///     }
///     let status = await ProcessHost(application: application).run()  // launches it
///     …
///     application.send(.beginInterruption(.focusLost))  // in a handler of the window's events
///
/// Begin to read events when the application has launched. Before its launch it ignores most inputs, and `open` launches
/// it. If the launch is itself an event of the device, call ``run()`` when that event arrives.
///
/// The process host does the rest, on a thread of its own:
///
/// | fact | reaction of the host |
/// | --- | --- |
/// | ``run()`` is called | sends ``Configuration/launch``; catches signals from now on |
/// | Ctrl-C, at the terminal from which the program was started | `terminate`: the delegate is asked, and may refuse; the next Ctrl-C, also much later, acts as SIGTERM; a suspended application is woken first |
/// | SIGTERM, SIGINT, SIGHUP | `shutDown` with the whole tear-down, within the budgets of `didEnterBackground` (from the foreground) and `willTerminate`; a suspended application is woken first |
/// | another of these during the end | nothing: a supervisor may repeat its order, and the end goes on |
/// | another Ctrl-C, half a second or more after the order that began the end; SIGQUIT | the signal ends the process at once |
/// | other code in the program takes one of the host's signals: with a handler, a dispatch source, a signalfd | takes it back within a second, and reports it |
/// | a budget passes while the main actor is blocked | reports the code that blocks it; if the application was ending, the process ends with status 70 |
/// | a budget was overrun | reports the code that overran it |
/// | a managed resource breaks, cannot be acquired, or is released with an error | reports the resource and the error |
/// | memory is low | `memoryWarning`, at most once in two seconds |
/// | the clock is set, midnight passes, the time zone changes | `significantTimeChange` |
/// | the machine goes to sleep; wakes (with the trait `Logind`) | `home`, open background tasks end, `suspend`; `open`, or `wake` |
/// | the session is locked; unlocked (with the trait `Logind`) | `lock`; `unlock` |
/// | the machine shuts down (with the trait `Logind`) | as at SIGTERM |
/// | the process did not run for two seconds or more: SIGSTOP, an unannounced sleep of the machine, a freezer | no input; `Application.WasSuspended` is posted afterwards |
///
/// Some desktops report that the session is locked, and never that it is unlocked. `application.send(.unlock)` then
/// unlocks the application, but the host sends no further `lock` until logind has reported the end of that one.
///
/// With scenes, the `open` after a sleep brings only the scene `main` to the foreground, and connects it if it is not
/// connected.
///
/// Reports are ``HostMessage``s. Signals belong to the process, so only one host runs at a time.
public final class ProcessHost: Sendable {
  /// The options of a process host.
  public struct Configuration: Sendable {
    /// The input that launches the application: `launch`, or `launchInBackground` for a program without a visible
    /// window at first.
    ///
    /// With scenes, `launch` connects the scene `main`. To launch with another scene, use `openScene` with its
    /// identifier.
    public var launch = SystemInput.launch
    /// The causes for which a first order to end asks the delegate whether the program may end.
    ///
    /// Orders have the causes `Ctrl-C` (the key), `SIGINT` (sent by a process), `SIGTERM` and `SIGHUP`.
    public var causesThatAsk: Set<LifecycleCause> = EndOrders.keys
    /// The causes for which a repeated order ends the process at once, if it arrives half a second or more after the
    /// order that began the end.
    ///
    /// A repeated order with another cause changes nothing: the end goes on, and has the time of its budgets. Insert
    /// `SIGTERM` and `SIGINT` for a program that a second signal of a process should end at once. SIGQUIT always does.
    public var causesThatInsist: Set<LifecycleCause> = EndOrders.keys
    /// Code that runs right before the host ends the process without the main actor.
    ///
    /// The host does so when the main actor is blocked, at SIGQUIT, and at a repeated order with one of
    /// ``causesThatInsist``.
    ///
    /// Use it to restore settings that outlive the process, such as a screen's resolution.
    ///
    /// It runs on the host's thread. It must not wait for the main actor, nor for a lock that the main actor may hold.
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
  ///   - configuration: the options of the host.
  @MainActor public init(application: Application, configuration: Configuration = Configuration()) {
    (self.application, self.configuration) = (application, configuration)
  }

  /// Launches the application, and runs its life cycle until it is no longer running.
  ///
  /// The host catches signals from the call of this method to its return. The main actor must run meanwhile: in
  /// ``MainLoop/run(_:)``, or with ``MainLoop/performWork()`` in the program's own loop.
  ///
  /// In three cases the host ends the process, and the method does not return:
  ///
  /// - The tear-down has overrun its budget, and the main actor does not answer: status 70.
  /// - The application has ended, and the main actor does not continue within a second: status 70.
  /// - SIGQUIT, or a repeated order with one of ``Configuration/causesThatInsist``: the signal ends the process.
  ///
  /// - Returns: the exit status: 0, or the one given to `Application.shutDown(status:cause:)`, if the application ended in order;
  ///   70 (`EX_SOFTWARE`) if the tear-down, or the delegate's answer whether the program may end, overran its budget;
  ///   71 (`EX_OSERR`) if the system had no file descriptor or no thread for the host.
  /// - Precondition: no other host runs in this process.
  @MainActor public func run() async -> Int32 {
    let budgets = HostBudgets.of(application)
    let link = HostLink<ProcessStateMachine.Event>()
    return await HostSession.run(application, link: link, catching: CaughtSignal.ofService) { [configuration] parts in
      ProcessHostThread(parts, budgets: budgets, configuration: configuration).run()
    }
  }
}
