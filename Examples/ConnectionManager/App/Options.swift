import AppLifecycle
import ExampleSupport
import Glibc
import UnixHost

/// The options of the command line.
struct Options: Hashable, Sendable {
  var server = Endpoint(host: "127.0.0.1", port: 6379)
  /// The commands that are sent to the server each time the connection is opened.
  var session = ["CONFIG SET notify-keyspace-events KEA"]
  var subscribe = "PSUBSCRIBE __keyevent@*__:*"
  var checkInterval = Duration.seconds(5)
  var retry = RetryPolicy()
  var wantsHelp = false

  /// A command line that cannot be read; the description names the option.
  struct Mistake: Error, Hashable, CustomStringConvertible {
    let description: String

    /// The text quotes arguments with control characters made visible, so that they cannot command the terminal.
    init(description: String) { self.description = description.escaped }
  }

  init() {}

  /// Reads the arguments, without the program's name.
  init(_ arguments: some Sequence<String>) throws(Mistake) {
    var rest = Array(arguments)[...]
    var session: [String] = []
    while let argument = rest.popFirst() {
      switch argument {
      case "--session": session.append(try Self.command(argument, rest.popFirst()))
      case "--subscribe": subscribe = try Self.command(argument, rest.popFirst())
      case "--check": checkInterval = try Self.milliseconds(argument, rest.popFirst(), atLeast: 1)
      case "--retry":
        retry.first = try Self.milliseconds(argument, rest.popFirst(), atLeast: 0)
        if retry.first == .zero { retry.longest = .zero }
      case "--help", "-h": wantsHelp = true
      case _ where argument.hasPrefix("-"): throw Mistake(description: "unknown option “\(argument)”")
      default:
        guard let endpoint = Endpoint(argument) else { throw Mistake(description: "“\(argument)” is not HOST:PORT") }
        server = endpoint
      }
    }
    if !session.isEmpty { self.session = session.filter { !$0.isEmpty } }
  }

  private static func command(_ name: String, _ text: String?) throws(Mistake) -> String {
    guard let text else { throw Mistake(description: "\(name) wants a value") }
    guard !text.contains(where: \.isNewline) else { throw Mistake(description: "\(name): “\(text)” is not one line") }
    return text
  }

  private static func milliseconds(
    _ name: String, _ text: String?, atLeast least: Int
  ) throws(Mistake) -> Duration {
    guard let text else { throw Mistake(description: "\(name) wants a value") }
    guard let number = UInt32(text), number >= least else {
      throw Mistake(description: "\(name): “\(text)” is no such number of milliseconds")
    }
    return .milliseconds(number)
  }

  /// Reads the process's own command line; ends the process after `--help` or a mistake.
  static func ofCommandLine() -> Options {
    // By default these signals end the process when a file exceeds its limit or a pipe has lost its reader. Ignored, they let the
    // write fail, which is an error to handle. The host ignores them, too, but only once it runs.
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    do throws(Mistake) {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.wantsHelp { exit(StandardOutput.write(help + "\n", for: "ConnectionManager")) }
      if isatty(STDOUT_FILENO) == 0 { throw Mistake(description: "standard output is no terminal") }
      return options
    } catch {
      StandardError.writeLine("ConnectionManager: \(error); see --help")
      exit(EX_USAGE)
    }
  }

  static let help = """
    usage: ConnectionManager [HOST:PORT] [options]

    Watches a Redis server (127.0.0.1:6379 if none is named), or any server that answers each line it is sent.

      --session COMMAND    what the server is told each time the connection is made; more than once for several,
                           '' for none (CONFIG SET notify-keyspace-events KEA)
      --subscribe COMMAND  asks for what is shown (PSUBSCRIBE __keyevent@*__:*)
      --check MS           PING so often, and wait so long for the answer (5000)
      --retry MS           the wait after the first failure, doubled after each further one (250); 0: no wait
      --help               this text
    """
}
