public import AppLifecycle
import CUnixHost

/// Hosts an application in a terminal: translates events of the terminal and the kernel into `SystemInput`s.
///
/// | fact | input |
/// | --- | --- |
/// | the program is started in the foreground; with `&` or without a terminal | `launch`; `launchInBackground`, with the background mode *job* |
/// | the terminal loses the keyboard focus; gains it | `beginInterruption(.focusLost)`; `endInterruption(.focusLost)` |
/// | Ctrl-Z, SIGTSTP | `home`; open background tasks end; `suspend`; then the process stops with its whole job |
/// | `fg` | `open`; up to a second later if the program ran in the background, because that `fg` usually sends no signal |
/// | `bg` | `wake`, with the background mode *job* |
/// | Ctrl-C | `terminate`: the delegate is asked, and may refuse |
/// | a second Ctrl-C, SIGTERM, SIGINT, SIGHUP, hang-up | `shutDown`; after a `wake` if the process was stopped |
/// | the program lends the terminal to a child process; takes it back (``Terminal/lend(isolation:_:)``) | `beginInterruption(.terminalLent)`; `endInterruption(.terminalLent)` |
/// | memory is low | `memoryWarning`, at most once in two seconds |
/// | the clock is set, midnight passes, the time zone changes | `significantTimeChange` |
/// | the machine goes to sleep; wakes (with the trait `Logind`) | `home`, open background tasks end, `suspend`; `open`, or `wake` |
/// | the session is locked; unlocked (with the trait `Logind`) | `lock`; `unlock`, also on a key press or a gain of the keyboard focus |
/// | the machine shuts down (with the trait `Logind`) | `shutDown` |
/// | the process did not run for two seconds or more: SIGSTOP, an unannounced sleep of the machine, a freezer | no input, except after SIGSTOP as described below; `Application.WasSuspended` is posted afterwards |
/// | other code in the program takes one of the host's signals: with a handler, a dispatch source, a signalfd | no input: the host takes it back within a second, and reports it |
/// | another SIGTERM, SIGINT or SIGHUP during the end | no input: a supervisor may repeat its order, and the end goes on |
/// | another Ctrl-C, half a second or more after the order that began the end; `Ctrl-\`, SIGQUIT | no input: the host restores the terminal, and the signal ends the process |
///
/// When the program leaves the terminal, the host ends the interruption `focusLost`: after `fg` the program has the
/// keyboard focus until the terminal reports otherwise.
///
/// A second Ctrl-C, before the delegate has answered or after it has refused, ends the program in order. A key that the
/// user presses after the question, such as the answer to it, makes the next Ctrl-C after the refusal a first one again.
/// So does leaving the foreground after the refusal. The program keeps its screen until the delegate has answered.
/// ``Configuration/causesThatAsk`` determines which orders ask.
///
/// If SIGHUP was ignored at the start, a hang-up sends `home`, and the program continues in the background.
///
/// The mode *job* ends when the program gains the terminal or stops. Before a stop, open background tasks have the rest
/// of the budget of `didEnterBackground`. After half of that time their expiration handlers run. A task that is still
/// open at its end is reported as an overrun.
///
/// The host restores the terminal before a tear-down begins. The reason: another process of the job, such as a shell
/// that runs a script, may stop or end at once, and the shell then takes the terminal. If the terminal accepts no
/// output, the host writes the leaving sequences as soon as it does; the stop or the end waits for that within the
/// budgets. Orders within half a second count as one, because wrappers such as `timeout` forward a signal that the
/// whole job has already received. ``Configuration/causesThatInsist`` determines which later orders end the process at
/// once.
///
/// The host predicts whether the kernel would refuse a stop, and then tears nothing down. A SIGCONT during the
/// tear-down cancels the stop.
///
/// No program can catch SIGSTOP. After it, if the program has the terminal again, the host sets the terminal's modes
/// again, ends the interruption `focusLost`, and posts ``Terminal/NeedsDisplay``. If another job has the terminal, the
/// host sends `home`. `Application.WasSuspended` has the time that the program stood still.
///
/// A thread of the host waits for these facts. It also enforces the budgets of `didEnterBackground` and `willTerminate`
/// while the main actor is busy, and reports an overrun on standard error once the terminal is restored. The host also
/// restores the terminal after a crash, a call of `exit`, or a signal such as SIGUSR1 that the program does not handle.
/// Only SIGKILL, `_exit`, and `exec` without a loan leave the terminal in the program's modes; so does SIGSTOP as long as the
/// process is stopped, and an overflow of the stack on a thread of the pool.
/// Each write of the host has a time limit.
///
/// The host writes to the terminal only while the program's job owns it, or, to restore it, while the shell does: then
/// the shell's prompt is on the program's screen. If another job owns the terminal, the host waits for a second, because
/// a program that sends signals, such as `kill`, is such a job for a moment. After that it writes nothing, because
/// the other job may have a screen of its own. Standard error that was captured before is then printed when the program
/// next leaves its screen.
///
/// The host opens `/dev/tty`. Where that is not possible, as in a chroot or a small container, it uses the standard
/// stream that leads to the session's terminal. A program that was started without a terminal of its session, for example
/// by `setsid`, runs in the background. If a standard stream is a terminal of another session, the host prints the reason
/// there, and the program ends when that terminal is closed.
///
/// Signals belong to the process, so only one host runs at a time.
public final class TerminalHost: Sendable {
  /// The options of a terminal host.
  public struct Configuration: Sendable, Hashable {
    /// Whether the program has a screen of its own, without a cursor; otherwise it prints lines among those of the
    /// shell.
    ///
    /// True by default. While the program has its screen, the host captures standard error, and prints its last 128 KiB
    /// when the program leaves the screen. It does not do so under a limit for the size of files (`ulimit -f`), which
    /// holds for the captured text, too. A terminal of the type `dumb` has no screen; ``TerminalHost/run()`` refuses such
    /// a program there.
    public var usesAlternateScreen = true
    /// Whether each key arrives at once and without an echo.
    ///
    /// True by default. The host then handles Ctrl-C, Ctrl-Z and `Ctrl-\`, or the keys that the terminal's modes name
    /// instead: it restores the terminal, unless the delegate is asked first, and then acts as on the signal. It does so
    /// also if the parent process ignored the signal. Other processes of the same job receive no signal on Ctrl-C and
    /// `Ctrl-\`. On Ctrl-Z they stop when this process stops.
    public var usesRawMode = true
    /// Whether the host asks the terminal to report the keyboard focus.
    ///
    /// True by default.
    public var reportsFocus = true
    /// Whether the host asks the terminal to mark pasted text.
    ///
    /// True by default.
    public var bracketsPaste = true
    /// The time after which an `ESC` is the Escape key, and not the beginning of a sequence.
    ///
    /// 50 milliseconds by default. Over a connection that delivers the bytes of an arrow key further apart, a longer
    /// time keeps them together, and the Escape key arrives that much later. The host uses at most 10 seconds.
    public var escapeDelay = Duration.milliseconds(50)
    /// The causes for which a first order to end asks the delegate whether the program may end.
    ///
    /// An order with another cause ends the program without asking. Orders have the causes `Ctrl-C` (the key), `SIGINT`
    /// (sent by a process) and `SIGTERM`. A hang-up, the end of the input and a shutdown of the machine end the program
    /// without asking.
    public var causesThatAsk: Set<LifecycleCause> = EndOrders.keys
    /// The causes for which a repeated order ends the process at once, if it arrives half a second or more after the
    /// order that began the end.
    ///
    /// A repeated order with another cause changes nothing: the end goes on, and has the time of its budgets. Insert
    /// `SIGTERM` and `SIGINT` for a program that a second signal of a process should end at once. SIGQUIT always does.
    public var causesThatInsist: Set<LifecycleCause> = EndOrders.keys

    /// The reports of the mouse that the host asks the terminal for.
    ///
    /// None by default. As the other modes, they end in every way out of the terminal, and begin again with `fg`.
    public var mouseReports = MouseReports.none
    /// The enhancements of kitty's keyboard protocol that the host asks the terminal for.
    ///
    /// Empty by default: keys have their legacy form. A terminal that does not know the protocol ignores the request, so a
    /// program must also accept the legacy form. With any of them the host also asks for ``KeyEnhancement/alternateKeys``: on a
    /// keyboard that is not a Latin one, only these say that Ctrl-C was pressed.
    public var keyEnhancements: Set<KeyEnhancement> = []
    /// The shape of the cursor while the program has the terminal; nil, the default, does not change it.
    ///
    /// Afterwards the cursor has the terminal's own shape. A program with a screen also shows the cursor, with
    /// `\u{1B}[?25h` on each ``Terminal/NeedsDisplay``.
    public var cursorShape: CursorShape?
    /// The title of the window while the program has the terminal; nil, the default, does not change it.
    ///
    /// Control characters in it are left out. The program may write other titles later (`ESC ] 2 ; title ESC \`). The
    /// terminal keeps the title from before, and shows it again afterwards.
    public var title: String?
    /// Sequences of the program's own that begin modes of the terminal; the host writes them, after its own, each time
    /// the program takes the terminal.
    ///
    /// Empty by default. A terminal of the type `dumb` gets neither these nor ``leavingSequences``.
    public var enteringSequences = ""
    /// Sequences of the program's own that end what ``enteringSequences`` and the program itself have begun.
    ///
    /// The host writes them, before its own, in every way out of the terminal: at the end, after Ctrl-Z, a signal, a
    /// crash or a call of `exit`. A sequence that is written in a handler of a closing notification comes too late: the
    /// host has given the terminal back by then, and drops it. After SIGSTOP and `fg` these sequences are written although
    /// the modes may have ended, so they must do no harm then.
    ///
    /// Empty by default. All sequences that leave the terminal, with the host's own, have at most 1,024 bytes.
    public var leavingSequences = ""

    /// Creates a configuration for a full-screen program.
    public init() {}
  }

  /// The terminal, to which the application writes.
  public let terminal: Terminal

  private let application: Application
  private let configuration: Configuration
  private let link = HostLink<TerminalStateMachine.Event>()

  /// Creates a host for an application that has not been launched.
  ///
  /// - Parameters:
  ///   - application: the application to host; its bus carries the terminal's events.
  ///   - configuration: the options of the host.
  /// - Precondition: the sequences that leave the terminal have at most 1,024 bytes.
  @MainActor public init(application: Application, configuration: Configuration = Configuration()) {
    precondition(
      TerminalSequences(configuration).leave.utf8.count <= UNIXHOST_LEAVE_LIMIT,
      "the sequences that leave the terminal have more than \(UNIXHOST_LEAVE_LIMIT) bytes")
    self.application = application
    self.configuration = configuration
    terminal = Terminal(
      wake: { [waker = link.waker] in waker.wake() },
      request: { [link] in link.send(.lending($0, at: SignalPipe.now)) })
  }

  /// Returns the reason why a program cannot run in the terminal of this process; nil if it can.
  ///
  /// A full-screen program cannot run in a terminal of the type (`$TERM`) `dumb`. ``run()`` checks this itself. A
  /// program that opens a journal or a file before ``run()`` should call this method first. Any thread may call it.
  ///
  /// - Parameter configuration: the options with which the program runs its host.
  /// - Returns: a sentence for the user at the terminal; nil if the program can run.
  public static func obstacle(to configuration: Configuration) -> String? {
    guard configuration.usesAlternateScreen, TerminalDevice.isDumb, TerminalDevice.missing == nil else {
      return nil
    }
    return "this terminal cannot show a screen: its type, $TERM, is “dumb”"
  }

  /// Runs the life cycle until the application is no longer running.
  ///
  /// Use it in programs with their own `main`.
  ///
  /// The host catches signals from the call of this method to its return. In three cases it ends the process, and the
  /// method does not return:
  ///
  /// - A tear-down at the end has overrun its budget, and the main actor does not answer: status 70.
  /// - The application has ended, and the main actor does not continue within a second: status 70, or 74 as below.
  /// - SIGQUIT, or a repeated order with one of ``Configuration/causesThatInsist``: the signal ends the process.
  ///
  /// - Returns: the exit status: 0 if the application ended in order, or the status passed to
  ///   `Application.shutDown(status:cause:)`; 70 (`EX_SOFTWARE`) if a tear-down, or the delegate's answer whether the
  ///   program may end, overran its budget, 74 (`EX_IOERR`) if the terminal did not accept the output that restores it
  ///   within the budgets, 69 (`EX_UNAVAILABLE`) for a full-screen program on a dumb terminal, 71 (`EX_OSERR`) if the
  ///   system had no file descriptor or no thread for the host. Except for 74, a message on standard error has the reason.
  /// - Precondition: no other host runs in this process.
  @MainActor public func run() async -> Int32 {
    if let obstacle = Self.obstacle(to: configuration) {
      HostMessage(.error, obstacle).send()
      return ExitStatus.unavailable
    }
    let budgets = HostBudgets.of(application)
    return await HostSession.run(application, link: link, catching: CaughtSignal.allCases) {
      [configuration, terminal] parts in
      TerminalHostThread(parts, budgets: budgets, configuration: configuration, terminal: terminal).run()
    }
  }
}
