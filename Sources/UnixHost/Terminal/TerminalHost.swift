public import AppLifecycle
public import PubSub

/// Hosts an application in a terminal: translates what the terminal and the kernel do into `SystemInput`s.
///
/// | fact | input |
/// | --- | --- |
/// | started in the foreground; with `&`; without a terminal | `launch`; `launchInBackground`, with the background mode *job* |
/// | the terminal loses, gets the keyboard focus | *focus lost* begins, ends |
/// | Ctrl-Z, SIGTSTP | `home`; open background tasks end; `suspend`; then the process stops with its whole job |
/// | `fg` | `open` |
/// | `bg` | `wake`, with the background mode *job* |
/// | Ctrl-C | `terminate`: the delegate is asked, and may refuse |
/// | a second Ctrl-C, SIGTERM, SIGINT, SIGHUP, hang-up | `shutDown`; when it came during a stop, after a `wake` |
/// | memory is short | `memoryWarning`, once in two seconds at most |
/// | the clock is set, midnight passes, the time zone changes | `significantTimeChange` |
/// | the machine goes to sleep; wakes (with the trait `Logind`) | `home`, open background tasks end, `suspend`; `open`, or `wake` |
/// | the session is locked; unlocked (the same) | `lock`; `unlock`, also at a key or at the keyboard focus |
/// | the machine shuts down (the same) | `shutDown` |
/// | the process did not run: SIGSTOP, sleep of the machine, a freezer | none; `Application.WasSuspended` is posted afterwards |
/// | a SIGTERM or SIGINT half a second or more after the one that ended it; Ctrl-\, SIGQUIT | none: the terminal is restored, and the process ends by the signal |
///
/// A Ctrl-C that comes while the delegate has not answered, or after it has refused, ends the program in order. Any other key
/// after the refusal makes the next Ctrl-C a first one again. While the question is open the program keeps its screen.
/// ``Configuration/causesThatAsk`` says which orders ask.
///
/// The mode *job* ends when the program gets the terminal or stops. Before a stop, open background tasks have what is left of
/// the budget of `didEnterBackground`; after half of it their expiration handlers run. A task that is still open at its end is
/// reported as an overrun.
///
/// The terminal is restored before a tear-down begins: another process of the job, such as a shell that runs a script, may stop
/// or end at once, and the shell then takes the terminal. A terminal that takes no output gets the leaving sequences as soon as
/// it does; the stop or the end waits for that within the budgets. Orders within half a second count as one, as wrappers such
/// as `timeout` forward a signal that the whole job has already received.
///
/// A stop that the kernel would refuse is predicted, and nothing is torn down for it. A SIGCONT during the tear-down takes the
/// stop back. SIGSTOP cannot be caught: afterwards the host sets the terminal's modes again and posts ``WasContinued``. The
/// application gets no input for it.
///
/// A thread of the host waits for all of this. It also enforces the budgets of `didEnterBackground` and `willTerminate` when
/// the main actor is busy, and reports an overrun on standard error once the terminal is restored. After a crash, a call of
/// `exit`, or a signal such as SIGUSR1 that the program does not handle, the terminal is restored, too; only SIGKILL leaves it
/// in the program's modes. No write of the host waits without a limit.
///
/// Started without a controlling terminal, as by `setsid`, the program runs in the background. If a standard stream is a
/// terminal, the host says so there, and the program ends when that terminal is closed.
///
/// Signals belong to the process, so only one host runs at a time.
public final class TerminalHost: Sendable {
  /// How the terminal is used.
  public struct Configuration: Sendable, Hashable {
    /// Whether the program has a screen of its own, without a cursor; else its output is lines among the shell's.
    ///
    /// True by default. While the program has its screen, what is written to standard error is kept, and its last 128 KiB are shown when the screen
    /// is left. A terminal whose type is `dumb` has no screen to give: there ``TerminalHost/run()`` refuses such a program.
    public var usesAlternateScreen = true
    /// Whether every key arrives at once and without an echo.
    ///
    /// True by default. Ctrl-C, Ctrl-Z and Ctrl-\, or the keys that the terminal's modes name in their place, are then the host's: it restores the
    /// terminal first and then does what the signal would have done. Other processes of the same job get no signal from
    /// Ctrl-C and Ctrl-\; at Ctrl-Z they stop when this one does.
    public var usesRawMode = true
    /// Whether the terminal is asked to report the keyboard focus.
    ///
    /// True by default.
    public var reportsFocus = true
    /// Whether the terminal is asked to mark pasted text.
    ///
    /// True by default.
    public var bracketsPaste = true
    /// The causes for which a first order to end asks the delegate whether the program may end.
    ///
    /// An order with another cause ends the program without asking. Orders have the causes `Ctrl-C` (the key), `SIGINT`
    /// (sent by a process) and `SIGTERM`. A hang-up, the end of the input and a shutdown of the machine never ask.
    public var causesThatAsk: Set<LifecycleCause> = ["Ctrl-C"]

    /// Creates a configuration for a full-screen program.
    public init() {}

    /// The same without anything that needs an escape sequence.
    var withoutSequences: Configuration {
      var configuration = self
      configuration.usesAlternateScreen = false
      configuration.reportsFocus = false
      configuration.bracketsPaste = false
      return configuration
    }
  }

  /// The process was continued (SIGCONT) although it had not stopped itself.
  ///
  /// SIGSTOP, which cannot be caught, may have stopped it for any length of time; or another process sent SIGCONT to the
  /// running program. From inside the two look alike.
  public struct WasContinued: MainActorEvent {
    /// The application that the host runs.
    public let application: Application
    /// The terminal, whose modes have been set again if it is the program's.
    public let terminal: Terminal

    /// Creates the event.
    ///
    /// - Parameters:
    ///   - application: the application that the host runs.
    ///   - terminal: its terminal.
    public init(application: Application, terminal: Terminal) {
      (self.application, self.terminal) = (application, terminal)
    }
  }

  /// The application's side of the terminal.
  public let terminal: Terminal

  private let application: Application
  private let configuration: Configuration
  private let link = HostLink<TerminalStateMachine.Event>()

  /// Creates a host for an application that has not been launched.
  ///
  /// - Parameters:
  ///   - application: the application to host. Its bus carries the terminal's events.
  ///   - configuration: how the terminal is used.
  @MainActor public init(application: Application, configuration: Configuration = Configuration()) {
    self.application = application
    self.configuration = configuration
    terminal = Terminal { [waker = link.waker] in waker.wake() }
  }

  /// Why a program that uses the terminal in this way cannot run in this process's terminal; nil if it can.
  ///
  /// A full-screen program cannot run where the terminal's type, `$TERM`, is `dumb`. ``run()`` checks this itself. A program
  /// that opens a journal or a file before ``run()`` checks it first. May be called from any thread.
  ///
  /// - Parameter configuration: how the program uses the terminal.
  /// - Returns: a sentence for the person at the terminal.
  public static func obstacle(to configuration: Configuration) -> String? {
    guard configuration.usesAlternateScreen, TerminalDevice.isDumb, TerminalDevice.hasControllingTerminal else {
      return nil
    }
    return "this terminal cannot show a screen: its type, $TERM, is “dumb”"
  }

  /// Runs the life cycle until the application is no longer running.
  ///
  /// Use it in programs with their own `main`.
  ///
  /// The host catches signals from the call of this method to its return. It does not call `exit`, with one exception:
  /// if a tear-down has overrun its budget and the main actor does not answer, the process ends with status 70, and the
  /// method does not return.
  ///
  /// - Returns: the exit status: 0 if the application ended in order, 70 (`EX_SOFTWARE`) if a tear-down, or the
  ///   delegate's answer whether the program may end, overran its budget, 74 (`EX_IOERR`) if the terminal did not take
  ///   within the budgets what restores it, 69 (`EX_UNAVAILABLE`) for a full-screen program on a dumb terminal, 71
  ///   (`EX_OSERR`) if the system had no file descriptor or no thread for the host; a message on standard error has the
  ///   reason.
  /// - Precondition: no other host runs in this process.
  @MainActor public func run() async -> Int32 {
    if let obstacle = Self.obstacle(to: configuration) {
      HostMessage(.error, obstacle).send()
      return ExitStatus.unavailable
    }
    let budgets = HostBudgets(
      didEnterBackground: application.configuration.didEnterBackgroundBudget,
      willTerminate: application.configuration.willTerminateBudget)
    return await HostSession.run(application, link: link, catching: CaughtSignal.allCases) {
      [configuration, terminal] parts in
      TerminalHostThread(parts, budgets: budgets, configuration: configuration, terminal: terminal).run()
    }
  }
}
