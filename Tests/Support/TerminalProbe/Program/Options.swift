import AppLifecycle
import Glibc
package import ProbeSupport

/// What the command line asks for.
struct Options: Sendable {
  static let shared = Options(CommandLine.arguments.dropFirst())

  /// `--log PATH`: where everything that happens is appended, a line each.
  private(set) var log: String?
  /// `--signal-at SIGNAL:LINE`: the signal that it sends itself behind a line of the log.
  private(set) var signal: LineSignal?
  /// `--plain`: lines among the shell's instead of a screen of its own.
  private(set) var isPlain = false
  /// `--main`: started by the delegate's own `main` instead of a host made here.
  private(set) var usesDelegateMain = false
  /// `--slow MS`: the release of a managed resource, which the host awaits, takes so long.
  private(set) var slow: Duration?
  /// `--gate PATH`: that release waits until a byte can be read from this named pipe.
  private(set) var gate: String?
  /// `--block MS`: `didEnterBackground` blocks the main actor for so long.
  private(set) var block: Duration?
  /// `--block-gate PATH`: it blocks the main actor until a byte can be read from this named pipe.
  private(set) var blockGate: String?
  /// `--block-terminate MS`: `willTerminate` does.
  private(set) var blockTerminate: Duration?
  /// `--task NAME`: a background task that is begun in `didEnterBackground` and ends only when it expires.
  private(set) var task: String?
  /// `--open-task NAME`: one that does not end then either.
  private(set) var openTask: String?
  /// `--ask`: whether it may end is for the keys y and n to say.
  private(set) var asks = false
  /// `--refuse`: it may not, and that is said at once.
  private(set) var refuses = false
  /// `--ask-at CAUSE`: an order of this cause asks, too.
  private(set) var asksAt: LifecycleCause?
  /// `--insist-at CAUSE`: a second order of this cause ends it at once, too.
  private(set) var insistsAt: LifecycleCause?
  /// `--keys`: the keys of each input are written, too.
  private(set) var namesKeys = false
  /// `--key-gate PATH`: the key b blocks the main actor until a byte can be read from this named pipe.
  private(set) var keyGate: String?
  /// `--escape-delay MS`: how long an ESC waits.
  private(set) var escapeDelay: Duration?
  /// `--cooked`: the terminal stays in its own modes, where the kernel makes signals of keys.
  private(set) var isCooked = false
  /// `--child COMMAND`: what a shell runs when the terminal is lent to it, at the key l, or L for a process group of its own.
  private(set) var child: String?
  /// `--modes`: it asks the terminal for every mode there is, also by sequences of its own.
  private(set) var usesModes = false
  /// `--patient`: what was kept of standard error may take a minute to be shown.
  private(set) var isPatient = false
  /// `--check-gate PATH`: the first health check of a connection waits until a byte can be read from this named pipe.
  private(set) var checkGate: String?
  /// `--message-gate PATH`: the host has a message when a byte can be read from this named pipe.
  private(set) var messageGate: String?
  /// `--errors PATH`: the file to which the key r redirects standard error.
  private(set) var errors: String?
  /// `--budget MS`: the budget of each of the two.
  private(set) var budget: Duration?
  /// `--block-signals`: the first thread blocks every signal, as one that it has inherited does.
  private(set) var blocksSignals = false
  /// `--taker KIND`: a library takes the host's signals, as ``SignalTaker`` has them.
  private(set) var taker: SignalTaker?
  /// `--taker-gate PATH`: its handler waits until a byte can be read from this named pipe.
  private(set) var takerGate: String?

  private init(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)[...]
    while let option = rest.popFirst() {
      switch option {
      case "--plain": isPlain = true
      case "--main": usesDelegateMain = true
      case "--ask": asks = true
      case "--keys": namesKeys = true
      case "--refuse": refuses = true
      case "--ask-at": asksAt = rest.popFirst().map { LifecycleCause(rawValue: $0) }
      case "--insist-at": insistsAt = rest.popFirst().map { LifecycleCause(rawValue: $0) }
      case "--cooked": isCooked = true
      case "--modes": usesModes = true
      case "--child": child = rest.popFirst()
      case "--patient": isPatient = true
      case "--block-signals": blocksSignals = true
      case "--taker": taker = rest.popFirst().flatMap { SignalTaker(rawValue: $0) }
      case "--taker-gate": takerGate = rest.popFirst()
      case "--log": log = rest.popFirst()
      case "--signal-at": signal = rest.popFirst().flatMap { LineSignal($0) }
      case "--gate": gate = rest.popFirst()
      case "--errors": errors = rest.popFirst()
      case "--check-gate": checkGate = rest.popFirst()
      case "--message-gate": messageGate = rest.popFirst()
      case "--slow": slow = Self.duration(rest.popFirst())
      case "--block": block = Self.duration(rest.popFirst())
      case "--key-gate": keyGate = rest.popFirst()
      case "--escape-delay": escapeDelay = Self.duration(rest.popFirst())
      case "--block-gate": blockGate = rest.popFirst()
      case "--block-terminate": blockTerminate = Self.duration(rest.popFirst())
      case "--task": task = rest.popFirst()
      case "--open-task": openTask = rest.popFirst()
      case "--budget": budget = Self.duration(rest.popFirst())
      default: Self.fail("unknown option \(option)")
      }
    }
  }

  private static func duration(_ text: String?) -> Duration {
    guard let text, let milliseconds = Int(text) else { fail("a number of milliseconds is missing") }
    return .milliseconds(milliseconds)
  }

  private static func fail(_ message: String) -> Never {
    writeAll("TerminalProbe: \(message)\n", to: STDERR_FILENO)
    exit(64)
  }
}

extension Log {
  /// The file that the test reads.
  package static let shared = Log(Options.shared.log, signal: Options.shared.signal)
}
