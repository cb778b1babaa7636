/// The texts that teach the tool.
enum Help {
  /// The commands, in the order in which they are taught.
  static let commands = ["simulate", "log", "sessions", "timeline", "states", "names", "completion"]

  /// The text of a command, or of all of them.
  static func text(of command: String?) throws(UsageError) -> String {
    switch command {
    case nil: overview
    case "simulate": simulate
    case "log": log
    case "sessions": sessions
    case "timeline": timeline
    case "states": states
    case "names": names
    case "completion": completion
    case "help": overview
    case let other?: throw UsageError(unknownCommand: other)
    }
  }

  static let overview = """
    Shows the application life cycle: of an application that is only imagined, or of
    a program that has kept a journal.

    USAGE
      lifecycle simulate [--profile app|scene] [--format table|jsonl] [SCRIPT | -]
      lifecycle log [--follow] [--since WHEN] [--until WHEN] [--session WHICH]
                    [--json] FILE
      lifecycle sessions [--json] FILE
      lifecycle timeline [--since WHEN] [--until WHEN] [--session WHICH] FILE
                    -o page.html|trace.json
      lifecycle states [--profile app|scene] [-o page.html|states.svg|.dot|.mmd]
      lifecycle names [--json]
      lifecycle completion bash|zsh|fish

    COMMANDS
      simulate    play a script on a simulated system, and print what a bare
                  application is told; 'lifecycle simulate --help' has the script
                  language
      log         what happened to a program, from its journal
      sessions    one line for each run of a program: how long it was in which
                  state, and how it ended
      timeline    a journal as a page for a browser, or for a viewer of traces
      states      the states and the changes between them: as text, as a picture, or
                  as a page on which you click inputs
      names       every event with the name that the platform has for it
      completion  what a shell needs to complete the words of this tool

    'lifecycle COMMAND --help' explains a command.

    EXAMPLES
      lifecycle simulate 'launch; home; wait:1d; open'
      lifecycle log --session last trips.jsonl
      lifecycle timeline trips.jsonl -o page.html

    """

  static let simulate = """
    Plays a script on a simulated system, and prints what a bare application is
    told.

    USAGE
      lifecycle simulate [--profile app|scene] [--format table|jsonl] [SCRIPT | -]
      lifecycle simulate [--profile app|scene] [--format table|jsonl] --replay FILE

      SCRIPT             the script; without one, or with -, it is read from
                         standard input
      --format table     for people: below each input of the system, what it led to:
                         state (a commit), call (of the delegate), post (of a
                         notification), each with the state seen at that moment
      --format jsonl     one JSON object a line: t (seconds of virtual time), kind,
                         name, state, scene, cause, and reason where an input was
                         ignored
      --replay FILE      does again what a recorded run (jsonl; - is standard input)
                         says that the system did, at the same times
      --profile app      the app-based life cycle: the delegate of the application
                         is called
      --profile scene    the scene-based life cycle: each window's scene is called,
                         and named in parentheses; a replay knows it by itself

    SCRIPT
      One action a token; tokens are separated by white space, ';' or new lines;
      '#' starts a comment. Time passes only with wait:, at once.

      launch  launch:background  open  home        lock  unlock  passcode:on|off
      switcher  switcher:return|leave|kill         memory  time  fetch  reboot
      suspend  wake  reclaim  quit  kill  crash    interrupt:NAME  end:NAME
      wait:DURATION  (500ms, 5s, 2m, 1h, 1d)

      quit is the user's, and the delegate may refuse it; kill is the system's.

      What the application does: it begins and ends background tasks and modes, and
      its next CALL (didEnterBackground, willTerminate, ...) takes so long:
      task:begin:NAME  task:end:NAME               mode:begin:NAME  mode:end:NAME
      slow:CALL:DURATION

      With scenes, one window each; launch and open mean the window main, home means
      all that are in front:
      scene:connect|open|background|reclaim|close:ID

      What cannot be done, such as home while suspended, is ignored with a reason,
      and the script goes on.

    STATUS
      0  the script was played     2  the script has a mistake: LINE:COLUMN: what
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
