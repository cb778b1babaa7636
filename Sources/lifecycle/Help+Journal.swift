extension Help {
  private static let when = """
      --since WHEN       only events since WHEN: 30s, 10m, 2h, 1d ago, or a time:
                         2026-11-21, 2026-11-21T17:15
      --until WHEN       only events before WHEN
    """

  private static let status = """
    STATUS
      0  all lines were read
      1  lines of the journal are damaged or missing, also outside of the selection,
         or there is no such run
      64 wrong usage                    74 reading or writing failed
    """

  static let log = """
    Prints the events of a program, from the journal that it kept.

    USAGE
      lifecycle log [--follow] [--since WHEN] [--until WHEN] [--session WHICH]
                    [--json] [--color auto|always|never] FILE

      FILE               the journal; its older files (FILE.1, FILE.2, ...) are read
                         first
      --follow, -f       after the last line, wait for more, also in the next file
    \(when)
      --session WHICH    only one run: its number in 'lifecycle sessions'; -1 or
                         'last'; or its name
      --json             only the records, as they stand in the journal, one JSON
                         object a line: with --session, the input of 'lifecycle
                         simulate --replay'
      --color auto       in color on a terminal, unless NO_COLOR is set

    Below each input of the system stand its effects: state (a commit), call (of a
    delegate), post (of a notification), spent (the time of a handler, a resource or
    a background task), task (a background task expired or was refused), report (of
    code that overran its time or broke a rule), and ignored: with the reason.

    The tool skips damaged lines, and older files that it cannot read, and reports
    them with their place on standard error.

    \(status)

    EXAMPLES
      lifecycle log --since 10m trips.jsonl
      lifecycle log --follow --session last trips.jsonl
      lifecycle log --session -2 --json trips.jsonl | lifecycle simulate --replay -

    """

  static let sessions = """
    Prints one line for each run of a program, from the journal that it kept.

    USAGE
      lifecycle sessions [--json] [--color auto|always|never] FILE

      FILE               the journal; its older files are read, too
      --json             one JSON object a line: session, run, program, pid, boot,
                         start and length (seconds), lengthIsLowerBound, times
                         (seconds in each state), records, lost, damaged, ended,
                         state, signal, evidence

    LENGTH includes the time in which the machine slept, and does not depend on the
    wall clock (except in journals of earlier versions). The time in each state is
    measured by the clock of the records, which stands still while the machine
    sleeps. For a program that still runs, both last until now. A program that
    vanished ran at least (≥) until its last line; a journal has a line for each
    minute, except while the program is suspended. With --json, 'ended' is the
    name in PreviousExit.Kind, such as crashed, and 'state' the state in which the
    process ended. ENDED is one of these, with the state:

      terminated               it got willTerminate, and ended in order
      crashed                  a fatal signal ended it, which is named
      killed                   it vanished, as by SIGKILL (or called exit)
      ended by the watchdog    it ended soon after code had overrun its time
      the device restarted     no end is recorded, and the device restarted later;
                               the last run of a journal that was copied from
                               another machine looks the same
      still running            a program writes the journal now (on Linux, if the
                               tool sees its process; elsewhere a running program
                               looks killed)
      a recorded run           no program wrote it: a script was played
      unknown                  it was never launched, or the journal could not be
                               written to its end, or its version is newer

    STATUS
      0  all lines were read            1  lines are damaged or missing
      64 wrong usage                    74 reading or writing failed

    """

  static let states = """
    Prints the states of the life cycle and every change between them, with the
    calls and the inputs of each change. The tool takes them from the same state
    machine that runs in programs.

    USAGE
      lifecycle states [--profile app|scene] [--format FORMAT] [-o OUTPUT]

      -o page.html       a page on which you click inputs, and see the calls, the
                         states and the reasons for which an input is ignored
      -o states.svg      the diagram as a picture, in light and in dark
      -o states.dot      the diagram for Graphviz
      -o states.mmd      the diagram for Mermaid
      --format FORMAT    text (the default), html, svg, dot or mermaid, to standard
                         output unless -o names a file
      --profile app      the app-based life cycle
      --profile scene    the scene-based life cycle; a picture shows one scene

    STATUS
      0  the output was written         64 wrong usage
      74 writing failed

    EXAMPLES
      lifecycle states
      lifecycle states -o page.html
      lifecycle states --profile scene -o scenes.svg
      lifecycle states --format dot | dot -Tpng -o states.png

    """

  static let names = """
    Prints every event of the life cycle: its type, the method of the delegate that
    is called before it, and the platform's raw name for it.

    USAGE
      lifecycle names [--json]

      --json             one JSON object a line: event, method, rawName

    """

  static let timeline = """
    Makes a picture of a journal: a lane for the application's state, one for each
    scene and one for each resource; bars for the calls of delegates, for handlers
    and background tasks; marks for inputs of the system, for reports and for
    missing lines.

    USAGE
      lifecycle timeline [--since WHEN] [--until WHEN] [--session WHICH]
                         [--format html|json] FILE -o OUTPUT

      -o page.html       one self-contained page, which needs no network
      -o trace.json      the Trace Event format, for Perfetto and chrome://tracing
      -o - --format ...  a page (html) or a trace (json), to standard output
    \(when)
      --session WHICH    only one run: its number; -1 or 'last'; or its name

    A page shows at most 20000 lines of the journal, the latest of the selected
    ones. The page and standard error say how many lines are left out. A trace has
    all of them, and takes no more memory for a long journal than for a short one.

    On the page, point at a bar, or go there with the arrow keys, for its details.
    Long times are drawn short, unless you tick 'true to scale'; + and - zoom. FILE
    may also be the output of 'lifecycle simulate --format jsonl'. The last run of a
    journal from another machine looks as if the device had restarted.

    \(status)

    EXAMPLES
      lifecycle timeline trips.jsonl -o page.html
      lifecycle timeline --session last trips.jsonl -o trace.json
      lifecycle timeline --since 2h --until 1h trips.jsonl -o page.html

    """

  static let completion = """
    Prints a script that lets a shell complete the words of this tool.

    USAGE
      lifecycle completion bash|zsh|fish

    EXAMPLES
      source <(lifecycle completion bash)      # in ~/.bashrc; the same with zsh
      lifecycle completion fish > ~/.config/fish/completions/lifecycle.fish

    """
}
