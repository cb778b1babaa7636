import ProgramOptions

/// What the command line asks for.
struct Options {
  var seconds: Int
  var seed: UInt64 = .random(in: .min ... .max)
  var round: Int?
  var rounds = Int.max
  var atOnce = 3
  /// Goes on after a violation.
  var keepsGoing = false
  /// Only what the first version of the attack drew.
  var isPlain = false
  private var givenStall: Int?
  var wantsHelp = false

  /// In milliseconds: what fits into a minute, or into more.
  var longestStall: Int { givenStall ?? (seconds < 600 ? 3_000 : 30_000) }

  init(_ arguments: [String], environment: (String) -> String?) throws(CommandLineWords.Misuse) {
    seconds = environment("ATTACK_SECONDS").flatMap { Int($0) } ?? 60
    var words = CommandLineWords(arguments)
    while let argument = words.next() {
      switch argument {
      case "--seconds": seconds = try words.number(of: argument)
      case "--seed": seed = try words.number(of: argument)
      case "--round": round = try words.number(of: argument)
      case "--rounds": rounds = try words.number(of: argument)
      case "--at-once": atOnce = max(1, try words.number(of: argument))
      case "--longest-stall": givenStall = max(50, try words.number(of: argument))
      case "--keep-going": keepsGoing = true
      case "--plain": isPlain = true
      case "--help", "-h": wantsHelp = true
      default: throw CommandLineWords.unknown(argument)
      }
    }
  }

  static let help = """
    Runs programs of this package in pseudo-terminals, under shells and wrappers, and does to them at random what terminals,
    shells, systems and people do: signals, stalls, sizes, pastes, keys, stops, foreign variables, full disks, no threads. After
    each round it checks from outside that each mode of the terminal is as before, that the screen was left, that status and
    journal are right, that no date that was shown as set and then saved is lost, and that the program ended within its limit.

    usage: swift run Attack [--seconds N] [--seed N] [--round N] [--rounds N] [--at-once N] [--longest-stall MS]
                            [--keep-going] [--plain]

      --seconds N         how long, 60 unless ATTACK_SECONDS or this says otherwise; an hour is 3600
      --seed N            the same rounds again
      --round N           this round alone
      --rounds N          so many rounds at most
      --at-once N         how many rounds are played at a time, 3
      --longest-stall MS  the longest stall of a terminal; 3000, or 30000 for ten minutes and more
      --keep-going        also after a violation; else the rounds that have begun are the last ones
      --plain             PregTracker and Quickstart alone, with signals and what happens in a terminal: what seeds of the first
                          version of this program mean

    Ends with status 0; with 1 if anything was wrong, which is printed with the command that repeats it; with 2 if the command
    line cannot be understood.
    """
}
