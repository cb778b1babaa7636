/// The help texts of the tool.
enum Help {
  /// Returns the help text of a command, or of all commands for nil and for `help` itself.
  static func text(of name: String?) throws(UsageError) -> String {
    guard let name, name != "help" else { return overview }
    guard let command = Command.named(name) else { throw UsageError(unknownCommand: name) }
    return command.help
  }

  static let overview = """
    Shows the life cycle of an application: one on a simulated system, or a program
    that has kept a journal.

    USAGE
      lifecycle simulate [--profile app|scene] [--format table|jsonl] [SCRIPT | -]
      lifecycle log [--follow] [--since WHEN] [--until WHEN] [--session WHICH]
                    [--json] FILE
      lifecycle sessions [--json] FILE
      lifecycle timeline [--since WHEN] [--until WHEN] [--session WHICH] FILE
                    -o page.html|trace.json
      lifecycle fleet --broker HOST[:PORT] [--json] [TOPIC]
      lifecycle states [--profile app|scene] [-o page.html|states.svg|.dot|.mmd]
      lifecycle names [--json]
      lifecycle completion bash|zsh|fish

    COMMANDS
      simulate    play a script on a simulated system, and print the calls and
                  notifications of an empty application; 'lifecycle simulate --help'
                  describes the script language
      log         the events of a program, from its journal
      sessions    one line for each run of a program: the time in each state, and
                  how the run ended
      timeline    a journal as a page for a browser, or as a trace for a viewer
      fleet       the processes that announce their life cycle at a broker of MQTT,
                  as they change
      states      the states and the changes between them: as text, as a picture, or
                  as a page on which you click inputs
      names       every event with the platform's name for it
      completion  a script that lets a shell complete this tool's words

    'lifecycle COMMAND --help' explains a command.

    EXAMPLES
      lifecycle simulate 'launch; home; wait:1d; open'
      lifecycle log --session last trips.jsonl
      lifecycle timeline trips.jsonl -o page.html

    """

  static let simulate = """
    Plays a script on a simulated system, and prints the calls and notifications of
    an empty application.

    USAGE
      lifecycle simulate [--profile app|scene] [--format table|jsonl] [SCRIPT | -]
      lifecycle simulate [--profile app|scene] [--format table|jsonl] --replay FILE

      SCRIPT             the script; without one, or with -, it is read from
                         standard input
      --format table     for people: each input of the system, and below it its
                         effects: state (a commit), call (of the delegate), post (of
                         a notification), task (a background task expired or was
                         refused), report (of an overrun or a broken rule), and
                         ignored: with the reason; each with the state at that
                         moment
      --format jsonl     one JSON object a line: t (seconds of virtual time), kind,
                         name, state, scene, cause, and reason for an input that was
                         ignored
      --replay FILE      plays the inputs of one recorded run (jsonl; - is standard
                         input) again, at the same times; the application of a host
                         is not suspended by time
      --profile app      the app-based life cycle: the delegate of the application
                         is called
      --profile scene    the scene-based life cycle: the delegate of each window's
                         scene is called, and the scene named in parentheses; a
                         replay finds the profile in the recorded run

    SCRIPT
      Each token is one action. White space, ';' or new lines separate tokens; '#'
      starts a comment. Time passes only with wait: and in a slow: call, and then at
      once.

      launch  launch:background  open  home        lock  unlock  passcode:on|off
      switcher  switcher:return|leave|kill         memory  time  fetch  reboot
      suspend  wake  reclaim  quit  kill  crash    interrupt:NAME  end:NAME
      wait:DURATION  (500ms, 5s, 2m, 1h, 1d)

      quit is the user's request to end, which the delegate may refuse; kill is the
      system's order to end.

      What the hosts of this package do at Ctrl-Z and at SIGTERM: background tasks
      and the grace end before the suspension, or before willTerminate:
      host:stop  host:end

      Actions of the application: it begins and ends background tasks and modes, and
      its next CALL (didEnterBackground, willTerminate, ...) takes DURATION:
      task:begin:NAME  task:end:NAME               mode:begin:NAME  mode:end:NAME
      slow:CALL:DURATION

      The next save of saved state takes DURATION, or fails as on a full disk:
      slow:save:DURATION  fail:save

      With scenes, each window has one. launch and open concern the window main,
      home concerns all windows in the foreground:
      scene:connect|open|background|reclaim|close:ID
      scene:focus|unfocus:ID

      An action that is impossible, such as home while suspended, is ignored with a
      reason, and the script goes on.

    STATUS
      0  the script was played     2  the script has a mistake: LINE:COLUMN: message
      64 wrong usage              74  reading or writing failed

    EXAMPLES
      lifecycle simulate 'launch; interrupt:call; end:call'   # inactive, and back
      lifecycle simulate 'launch; home; wait:5s; open'        # suspended, and back
      lifecycle simulate --profile scene 'launch; scene:open:second; home'
      lifecycle simulate 'launch; task:begin:save; home; wait:1m'  # never ended
      lifecycle simulate --format jsonl 'launch; home; wait:1d' > run.jsonl
      lifecycle simulate --replay run.jsonl
      echo 'launch kill' | lifecycle simulate --format jsonl | head -3

    """
}
