extension Help {
  static let log = """
    Prints what happened to a program, from the journal that it kept.

    USAGE
      lifecycle log [--follow] [--since WHEN] [--until WHEN] [--session WHICH]
                    [--json] [--color auto|always|never] FILE

      FILE               the journal; the files that were put aside when it had
                         grown too long (FILE.1, FILE.2, ...) are read before it
      --follow, -f       when all is printed, wait for more, in the next file, too
      --since WHEN       only what happened since: 30s, 10m, 2h, 1d ago, or at
                         2026-11-21, 2026-11-21T17:15
      --until WHEN       only what happened before then
      --session WHICH    only one run: its number, as 'lifecycle sessions' has it;
                         -1 or 'last'; or its name
      --json             the records as they stand in the journal, one JSON object a
                         line, and nothing else: 'lifecycle simulate --replay' takes
                         them
      --color auto       in colour on a terminal, unless NO_COLOR is set

    Below each input of the system stands what it led to: state (a commit), call (of
    a delegate), post (of a notification), spent (the time of a handler, a resource
    or a background task), report (of what overran its time or broke a rule).

    Lines that are damaged are named on standard error, with their place, and passed
    over.

    STATUS
      0  all was read                   1  something in it is damaged or missing
      64 wrong usage                    74 reading or writing failed

    EXAMPLES
      lifecycle log --since 10m trips.jsonl
      lifecycle log --follow --session last trips.jsonl
      lifecycle log --session -2 --json trips.jsonl | lifecycle simulate --replay -

    """

  static let sessions = """
    Prints one line for each run of a program, from the journal that it kept.

    USAGE
      lifecycle sessions [--json] [--color auto|always|never] FILE

      FILE               the journal, with the files that were put aside
      --json             one JSON object a line: session, run, program, pid, boot,
                         start and length (seconds), lengthIsLowerBound, times
                         (seconds in each state), records, lost, damaged, ended,
                         evidence

    LENGTH is that of the wall clock. The time in each state is that of the clock of
    the records, which stands still while the machine sleeps. Of a program that
    still runs both go until now. One that vanished ran at least (≥) until its last
    line; a journal has one for each minute, but while suspended. ENDED is one of

      terminated               told that it ends, and ended in order
      killed while suspended   vanished while it was suspended
      killed in the background vanished while it was in the background
      crashed in the foreground vanished while it was in front (or called exit)
      ended by the watchdog    ended after something had overrun its time
      the device restarted     had not ended when the device started anew
      still running            a program writes the journal now
      unknown                  was never launched

    STATUS
      0  all was read                   1  something in it is damaged or missing
      64 wrong usage                    74 reading or writing failed

    """

  static let states = """
    Prints the states of the life cycle and every change between them: the calls
    that belong to it, and the inputs that lead to it. The tool asks the state
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
      0  it was written                 64 wrong usage
      74 writing failed

    EXAMPLES
      lifecycle states
      lifecycle states -o page.html
      lifecycle states --profile scene -o scenes.svg
      lifecycle states --format dot | dot -Tpng -o states.png

    """

  static let names = """
    Prints every event of the life cycle: its type, the method of the delegate that
    is called before it, and the raw name that the platform has for it.

    USAGE
      lifecycle names [--json]

      --json             one JSON object a line: event, method, rawName

    """

  static let timeline = """
    Makes a picture of a journal: a lane for the application's state, one for each
    scene and one for each resource; bars for the calls of delegates, for handlers
    and background tasks; marks for what the system did, for reports and for what is
    missing.

    USAGE
      lifecycle timeline [--since WHEN] [--until WHEN] [--session WHICH]
                         [--format html|json] FILE -o OUTPUT

      -o page.html       one page that stands alone: it needs no network
      -o trace.json      the Trace Event format, for Perfetto and chrome://tracing
      -o - --format ...  either of them, to standard output
      --since WHEN       only what happened since: 30s, 10m, 2h, 1d ago, or at
                         2026-11-21, 2026-11-21T17:15
      --until WHEN       only what happened before then
      --session WHICH    only one run: its number; -1 or 'last'; or its name

    A page shows 20000 lines of the journal, the latest of those that are asked for,
    and says how many it leaves out, as does standard error. A trace has all of
    them, and takes no more memory for a long journal than for a short one.

    On the page, point at a bar, or go there with the arrow keys, for its details.
    Long times are drawn short, unless 'true to scale' is ticked; + and - zoom. What
    'lifecycle simulate --format jsonl' prints makes a picture, too.

    STATUS
      0  all was read                   1  something in it is damaged or missing
      64 wrong usage                    74 reading or writing failed

    EXAMPLES
      lifecycle timeline trips.jsonl -o page.html
      lifecycle timeline --session last trips.jsonl -o trace.json
      lifecycle timeline --since 2h --until 1h trips.jsonl -o page.html

    """

  static let completion = """
    Prints what a shell needs to complete the words of this tool.

    USAGE
      lifecycle completion bash|zsh|fish

    EXAMPLES
      source <(lifecycle completion bash)      # in ~/.bashrc; the same with zsh
      lifecycle completion fish > ~/.config/fish/completions/lifecycle.fish

    """
}
