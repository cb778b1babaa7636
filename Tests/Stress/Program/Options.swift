import ProgramOptions

/// What the command line asks for.
struct Options {
  var seconds = 60
  var seed: UInt64 = .random(in: .min ... .max)
  var rounds = Int.max
  var operations = 2_000
  var threads = 3
  var subscribers = 1_000_000
  var wantsHelp = false

  init(_ arguments: [String]) throws(CommandLineWords.Misuse) {
    var words = CommandLineWords(arguments)
    while let argument = words.next() {
      switch argument {
      case "--seconds": seconds = try words.number(of: argument)
      case "--seed": seed = try words.number(of: argument)
      case "--rounds": rounds = try words.number(of: argument)
      case "--operations": operations = try words.number(of: argument)
      case "--threads": threads = try words.number(of: argument)
      case "--subscribers": subscribers = try words.number(of: argument)
      case "--help", "-h": wantsHelp = true
      default: throw CommandLineWords.unknown(argument)
      }
    }
  }

  static let help = """
    Has threads and tasks post, subscribe, cancel, drain and release on one bus at random, and accounts for every delivery:
    none lost, none doubled, none out of order, none after a drained cancel, and no growth of memory. Before that, a million
    subscribers come, are posted to, and go in three orders.

    usage: swift run -c release Stress [--seconds N] [--seed N] [--rounds N] [--operations N] [--threads N]
               [--subscribers N]

      --seconds N     how long, 60 unless told otherwise; an hour is 3600
      --seed N        the same random choices again; how threads interleave is the machine's
      --rounds N      so many rounds at most
      --operations N  how much each thread does in a round, 2000
      --threads N     how many threads there are at a time besides two tasks, 3
      --subscribers N how many come first, 1000000

    Ends with status 0; with 1 if anything was wrong, which is printed with the seed; with 2 if the command line cannot be
    understood.
    """
}
