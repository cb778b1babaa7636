import AppLifecycle
import Glibc
import ProbeSupport
import ResourceScenarios
import UnixHost

/// What the command line asks for.
struct Options: Sendable {
  static let shared = Options(CommandLine.arguments.dropFirst())

  /// `--log PATH`: where everything that happens is appended, a line each.
  private(set) var log: String?
  /// `--signal-at SIGNAL:LINE`: the signal that it sends itself behind a line of the log.
  private(set) var signal: LineSignal?
  /// `--main`: started by the delegate's own `main` instead of a host made here.
  private(set) var usesDelegateMain = false
  /// `--acquire-gate PATH`: acquiring a resource waits until a byte can be read from this named pipe.
  private(set) var acquireGate: String?
  /// `--acquire-failures N`: acquiring it fails so often first.
  private(set) var acquireFailures = 0
  /// `--check-gate PATH`: the first health check of a connection waits until a byte can be read from this named pipe.
  private(set) var checkGate: String?
  /// Where the loop of a resource waits before it declares that it is ready.
  private(set) var readyGate: String?
  /// `--gate PATH`: releasing it does.
  private(set) var gate: String?
  /// `--reload-gate PATH`: an asynchronous handler of a reload does.
  private(set) var reloadGate: String?
  /// `--block-gate PATH`: `willTerminate` blocks the main actor until a byte can be read from it.
  private(set) var blockGate: String?
  /// `--clock PATH`: the wall clock is the test's, told through this named pipe.
  private(set) var clock: String?
  /// `--suspend-at-reload`: the program suspends itself when it is to reload, as a host of its own might.
  private(set) var suspendsAtReload = false
  /// `--release-error`: releasing the resource fails.
  private(set) var releaseFails = false
  /// `--quit-at-reload`: the program ends itself when it is to reload.
  private(set) var quitsAtReload = false
  /// `--hang-at-reload`: the main actor never answers again once it is to reload.
  private(set) var hangsAtReload = false
  /// `--refuse`: the delegate answers no when it is asked whether the program may end.
  private(set) var refuses = false
  /// `--ask-at CAUSE`: an order of this cause asks, too.
  private(set) var asksAt: LifecycleCause?
  /// `--insist-at CAUSE`: a second order of this cause ends it at once, too.
  private(set) var insistsAt: LifecycleCause?
  /// `--host KIND`: started by the delegate's own `main`, with this kind of host.
  private(set) var host: HostKind?
  /// `--sigwait`: a thread of the program's own waits for SIGUSR1, which all threads block.
  private(set) var waitsForSignal = false
  /// `--reload-error`: an asynchronous handler of a reload throws, the first time.
  private(set) var reloadFails = false
  /// `--retries N`: acquiring the resource is tried so often again.
  private(set) var retries: Int?
  /// `--retry-gate PATH`: the program tries the resource again when a byte can be read from this named pipe.
  private(set) var retryGate: String?
  /// `--drain MS`: releasing the resource takes so long.
  private(set) var drain: Duration?
  /// `--own-loop PATH`: the program has a loop of its own, which also takes lines from this named pipe.
  private(set) var ownLoop: String?
  /// `--chain ENDING`: a chain of four resources, as ``BreakingChain`` has them.
  private(set) var chain: BreakingChain.Ending?
  /// `--budget MS`: the budget of `didEnterBackground`, that of `willTerminate`, and that of a reload.
  private(set) var budget: Duration?
  /// `--extension MS`: by how much the manager's time-outs are extended.
  private(set) var timeoutExtension: Duration?
  /// `--listen`: it serves on the socket that the service manager has passed.
  private(set) var listens = false
  /// `--taker KIND`: a library takes the host's signals, as ``SignalTaker`` has them.
  private(set) var taker: SignalTaker?
  /// `--taker-gate PATH`: its handler waits until a byte can be read from this named pipe.
  private(set) var takerGate: String?
  /// `--taker-raises`: an order arrives as soon as it has taken the signals.
  private(set) var takerRaises = false

  private init(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)[...]
    while let option = rest.popFirst() {
      switch option {
      case "--main": usesDelegateMain = true
      case "--suspend-at-reload": suspendsAtReload = true
      case "--release-error": releaseFails = true
      case "--quit-at-reload": quitsAtReload = true
      case "--hang-at-reload": hangsAtReload = true
      case "--refuse": refuses = true
      case "--ask-at": asksAt = rest.popFirst().map { LifecycleCause(rawValue: $0) }
      case "--insist-at": insistsAt = rest.popFirst().map { LifecycleCause(rawValue: $0) }
      case "--host": host = rest.popFirst().flatMap { HostKind(rawValue: $0) }
      case "--sigwait": waitsForSignal = true
      case "--reload-error": reloadFails = true
      case "--retries": retries = rest.popFirst().flatMap { Int($0) }
      case "--retry-gate": retryGate = rest.popFirst()
      case "--drain": drain = rest.popFirst().flatMap { Int($0) }.map { .milliseconds($0) }
      case "--own-loop": ownLoop = rest.popFirst()
      case "--listen": listens = true
      case "--taker": taker = rest.popFirst().flatMap { SignalTaker(rawValue: $0) }
      case "--taker-gate": takerGate = rest.popFirst()
      case "--taker-raises": takerRaises = true
      case "--log": log = rest.popFirst()
      case "--signal-at": signal = rest.popFirst().flatMap { LineSignal($0) }
      case "--acquire-gate": acquireGate = rest.popFirst()
      case "--acquire-failures": acquireFailures = rest.popFirst().flatMap { Int($0) } ?? 0
      case "--gate": gate = rest.popFirst()
      case "--check-gate": checkGate = rest.popFirst()
      case "--ready-gate": readyGate = rest.popFirst()
      case "--reload-gate": reloadGate = rest.popFirst()
      case "--block-gate": blockGate = rest.popFirst()
      case "--clock": clock = rest.popFirst()
      case "--chain": chain = rest.popFirst().flatMap { BreakingChain.Ending(rawValue: $0) }
      case "--budget": budget = rest.popFirst().flatMap { Int($0) }.map { .milliseconds($0) }
      case "--extension": timeoutExtension = rest.popFirst().flatMap { Int($0) }.map { .milliseconds($0) }
      default:
        writeAll("ServiceProbe: unknown option \(option)\n", to: STDERR_FILENO)
        exit(64)
      }
    }
  }
}

extension Log {
  /// The file that the test reads.
  static let shared = Log(Options.shared.log, signal: Options.shared.signal)
}
