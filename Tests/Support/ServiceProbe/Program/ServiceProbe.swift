import AppLifecycle
import Glibc
import ProbeSupport
import PubSub
import ResourceScenarios
import UnixHost

/// A real service for the tests to drive as a service manager does.
///
/// It writes everything that happens to it into a file, line by line, and does what its options and signals say. It uses no
/// Foundation. Two programs call it: `ServiceProbe` links none, and `FoundationServiceProbe` links the bridge.
package enum ServiceProbe {
  @MainActor package static func main() {
    if Options.shared.waitsForSignal { waitForSignals() }
    if let host = Options.shared.host { Probe.main(host: host) }
    guard !Options.shared.usesDelegateMain else { return Probe.main() }
    if let pipe = Options.shared.ownLoop { MainActor.assumeIsolated { OwnLoop.run(pipe) } }
    MainLoop.run { await host() }
  }

  @MainActor static func host() async -> Int32 {
    let application = Application(delegate: Probe())
    Application.adopt(application)
    Log.shared.follow(application)
    return await ServiceHost(
      application: application, configuration: Probe.serviceConfiguration,
      wallClock: Options.shared.clock.map { fakeClock($0) }
    ).run()
  }
}

/// Blocks SIGUSR1 in all threads, and waits for it in one.
private func waitForSignals() {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGUSR1)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
  startThread { [signals] in
    var number: Int32 = 0
    var signals = signals
    while sigwait(&signals, &number) == 0 { Log.shared.write("sigwait \(number)") }
  }
}

/// Why acquiring fails, with a command to a terminal in it.
struct Refused: Error, CustomStringConvertible {
  var description: String { "refused\u{1B}[2J" }
}

/// The probe's delegate.
@MainActor final class Probe {
  private let options = Options.shared

  init() {}
}

extension Probe: MainApplicationDelegate {
  static var serviceConfiguration: ServiceHost.Configuration {
    var configuration = ServiceHost.Configuration()
    if let duration = Options.shared.timeoutExtension { configuration.timeoutExtension = duration }
    if let budget = Options.shared.budget { configuration.reloadBudget = budget }
    if let cause = Options.shared.asksAt { configuration.causesThatAsk.insert(cause) }
    if let cause = Options.shared.insistsAt { configuration.causesThatInsist.insert(cause) }
    return configuration
  }

  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    if let retries = Options.shared.retries {
      configuration.retry = RetryPolicy(first: .milliseconds(1), maximumRetries: retries)
    }
    if let budget = Options.shared.budget {
      configuration.didEnterBackgroundBudget = budget
      configuration.willTerminateBudget = budget
    }
    return configuration
  }

  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    options.refuses ? .cancel : .now
  }

  func applicationWillFinishLaunching(_ application: Application) {
    FullPool.prepare(application, log: Log.shared)
    // With the delegate's own `main` the application is not to be had any earlier.
    Log.shared.follow(application)
    Log.shared.write("pid \(getpid())")
    // A terminal host launches a program in the foreground.
    Log.shared.write("host \(application.state == .background ? "service" : "terminal")")
    let names = [
      "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "APP_LIFECYCLE_HOST", "LISTEN_PID", "LISTEN_PIDFDID",
      "LISTEN_FDS", "LISTEN_FDNAMES",
    ]
    for name in names where getenv(name) != nil { Log.shared.write("children inherit \(name)") }
    for descriptor: Int32 in 3..<5 where options.listens {
      let flags = fcntl(descriptor, F_GETFD)
      Log.shared.write("descriptor \(descriptor) is \(flags < 0 ? "closed" : flags == 0 ? "inherited" : "kept")")
    }
    if options.listens { AnswerServer.manage(in: application, log: .shared) }
    let facts: [(String, HostCapability)] = [
      ("memory", .memoryPressure), ("clock", .wallClock), ("zone", .timeZone), ("session", .session),
    ]
    for (name, fact) in facts { fact.availability.map { Log.shared.write("\(name) \($0)") } }
    Log.shared.followSuspensions(of: application)
    watchReloads(of: application)
    manageResource(of: application)
    CheckedConnection.manage(in: application, gate: options.checkGate, log: .shared)
    SignalTaker.manage(
      options.taker, in: application, gate: options.takerGate, raises: options.takerRaises, log: .shared)
    if let ending = options.chain { manageChain(ending, of: application) }
    if let gate = options.readyGate { manageServer(of: application, gate: Gate(gate)) }
  }

  func applicationDidFinishLaunching(_ application: Application) {
    // Only a background mode makes it unlimited there.
    Log.shared.write("time in the background: \(application.remainingBackgroundTime.map { "\($0)" } ?? "unlimited")")
    ServiceHost.setStatus("launched,\nand in one line")
  }

  func applicationWillTerminate(_ application: Application) {
    if let gate = options.blockGate { Gate(gate).block() }
  }

  /// A server that declares itself that it is ready.
  private func manageServer(of application: Application, gate: Gate) {
    do {
      try application.manage("server", while: .running, readiness: .declared(within: .seconds(3600))) {
      } run: {
        Log.shared.write("server begin")
        await gate.pass()
        declareReady()
        await phaseCloses()
      }
    } catch {
      fatalError("\(error)")
    }
  }

  private func watchReloads(of application: Application) {
    let gate = options.reloadGate.map { Gate($0) }
    var failuresLeft = options.reloadFails ? 1 : 0
    application.bus.receive(ServiceHost.Reload.self, for: self, label: "reader") { probe, reload in
      Log.shared.write("reload begin")
      HostCapability.session.availability.map { Log.shared.write("session \($0)") }
      while probe.options.hangsAtReload { pause() }
      await gate?.pass()
      failuresLeft -= 1
      if failuresLeft >= 0 { throw Refused() }
      Log.shared.write("reload end")
      if probe.options.suspendsAtReload { reload.application.send(.suspend, cause: "reload") }
      if probe.options.quitsAtReload { reload.application.send(.terminate, cause: "reload") }
    }
  }

  private func manageChain(_ ending: BreakingChain.Ending, of application: Application) {
    do {
      try BreakingChain(ending) { Log.shared.write("chain \($0)") }.manage(in: application)
    } catch {
      fatalError("\(error)")
    }
  }

  private func manageResource(of application: Application) {
    let acquireGate = options.acquireGate.map { Gate($0) }
    let gate = options.gate.map { Gate($0) }
    var failuresLeft = options.acquireFailures
    let options = options
    do {
      let socket = try application.manage("socket", while: .running) {
        Log.shared.write("acquire begin")
        failuresLeft -= 1
        if failuresLeft >= 0 { throw Refused() }
        await acquireGate?.pass()
        Log.shared.write("acquire end")
      } release: {
        Log.shared.write("release begin")
        if let drain = options.drain { try? await Task.sleep(for: drain) }
        await gate?.pass()
        Log.shared.write(Task.isCancelled ? "release cancelled" : "release end")
        if options.releaseFails { throw Refused() }
      }
      guard let retryGate = options.retryGate.map({ Gate($0) }) else { return }
      application.task {
        await retryGate.pass()
        socket.retry()
      }
    } catch {
      fatalError("\(error)")
    }
  }
}
