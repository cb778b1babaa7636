import AppLifecycle
import CPseudoTerminal
import CUnixHost
import Glibc
import ProbeSupport
import PubSub
import UnixHost

/// A real program for the tests to drive under a real terminal.
///
/// It writes everything that happens to it into a file, line by line, and does what its options and keys say. It uses no
/// Foundation. Two programs call it: `TerminalProbe` links none, and `FoundationTerminalProbe` links the bridge.
package enum TerminalProbe {
  @MainActor package static func main() {
    if Options.shared.blocksSignals { blockSignals() }
    if Options.shared.isPatient { unixhost_stderr_set_patience(60_000) }
    guard !Options.shared.usesDelegateMain else { return Probe.main() }
    MainLoop.run {
      let application = Application(delegate: Probe())
      Application.adopt(application)
      // Set before the launch, so that the very first record is told, too.
      Log.shared.follow(application)
      return await TerminalHost(application: application, configuration: Probe.terminalConfiguration).run()
    }
  }
}

private func blockSignals() {
  var signals = sigset_t()
  sigfillset(&signals)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
}

/// The probe's delegate.
@MainActor final class Probe {
  /// Where to write; nil until it is drawn for the first time.
  private var screen: Terminal.NeedsDisplay?
  private var visits = 0
  private var crashesInBackground = false
  /// What takes the answer while the question is open.
  private var question: AsyncStream<TerminateReply>.Continuation?
  private let options = Options.shared

  init() {}
}

extension Probe: TerminalApplicationDelegate {
  static var terminalConfiguration: TerminalHost.Configuration {
    var configuration = TerminalHost.Configuration()
    configuration.usesAlternateScreen = !Options.shared.isPlain
    configuration.usesRawMode = !Options.shared.isCooked
    if Options.shared.usesModes {
      configuration.mouseReports = .motion
      configuration.keyEnhancements = [.disambiguated, .alternateKeys]
      configuration.cursorShape = .bar
      configuration.title = "the probe"
      configuration.enteringSequences = "\u{1B}[?2031h"
      // The mode 1016 is begun where it is drawn.
      configuration.leavingSequences = "\u{1B}[?2031l\u{1B}[?1016l"
    }
    if let delay = Options.shared.escapeDelay { configuration.escapeDelay = delay }
    if let cause = Options.shared.asksAt { configuration.causesThatAsk.insert(cause) }
    if let cause = Options.shared.insistsAt { configuration.causesThatInsist.insert(cause) }
    return configuration
  }

  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    if let budget = Options.shared.budget {
      configuration.didEnterBackgroundBudget = budget
      configuration.willTerminateBudget = budget
    }
    // The answer is the test's to give, however slow the machine is.
    configuration.shouldTerminateBudget = .seconds(3_600)
    return configuration
  }

  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    if options.refuses { return .cancel }
    guard options.asks else { return .now }
    let (answers, question) = AsyncStream.makeStream(of: TerminateReply.self)
    self.question = question
    draw()
    // An end that comes meanwhile does not wait for this function to return.
    return await withTaskCancellationHandler {
      for await answer in answers {
        self.question = nil
        if answer == .cancel { draw() }
        return answer
      }
      return .cancel
    } onCancel: {
      Log.shared.write("question cancelled")
    }
  }

  func applicationWillFinishLaunching(_ application: Application) {
    FullPool.prepare(application, log: Log.shared)
    // With the delegate's own `main` the application is not to be had any earlier.
    Log.shared.follow(application)
    Log.shared.write("pid \(getpid())")
    application.bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { $0.take($1) }
    application.bus.subscribe(to: Terminal.NeedsDisplay.self, for: self) { probe, event in
      Log.shared.write("display \(event.size.rows)x\(event.size.columns)")
      probe.screen = event
      probe.draw()
    }
    Log.shared.followSuspensions(of: application)
    followTime(of: application)
    manageSlowResource(of: application)
    CheckedConnection.manage(in: application, gate: options.checkGate, log: .shared)
    SignalTaker.manage(options.taker, in: application, gate: options.takerGate, log: .shared)
    if let gate = options.messageGate {
      startThread {
        Gate(gate).block()
        HostMessage(.warning, "a message of the host").send()
        Log.shared.write("message sent")
      }
    }
  }

  func applicationDidBecomeActive(_ application: Application) { visits += 1 }

  func applicationDidEnterBackground(_ application: Application) {
    if crashesInBackground { crash() }
    if let duration = options.block { block(for: duration) }
    if let gate = options.blockGate { Gate(gate).block() }
    if let name = options.task {
      _ = application.beginBackgroundTask(named: name) { task in
        Log.shared.write("expire \(name)")
        task.end()
      }
    }
    if let name = options.openTask {
      _ = application.beginBackgroundTask(named: name) { _ in Log.shared.write("expire \(name)") }
    }
  }

  func applicationWillTerminate(_ application: Application) {
    // The last line of a program without a screen.
    if options.isPlain { screen?.terminal.write("farewell\r\n") }
    if let duration = options.blockTerminate { block(for: duration) }
  }
}

// MARK: - What it shows and does

extension Probe {
  private func draw() {
    guard let screen else { return }
    let line = "state \(screen.application.state.rawValue) visit \(visits)" + (question == nil ? "" : " really?")
    if options.usesModes { screen.terminal.write("\u{1B}[?1016h") }
    screen.terminal.write(options.isPlain ? "\(line)\r\n" : "\u{1B}[2J\u{1B}[H\(line)")
  }

  private func take(_ input: Terminal.DidReceiveInput) {
    Log.shared.write("input \(input.bytes.map(hexadecimal).joined())")
    if input.omittedBytes > 0 { Log.shared.write("omitted \(input.omittedBytes)") }
    if options.namesKeys { Log.shared.write("keys \(input.keys.map(\.description).joined(separator: " "))") }
    for key in input.keys { press(key, input.application) }
  }

  private func press(_ key: Terminal.Key, _ application: Application) {
    switch key {
    case "q": application.send(.terminate, cause: "q")
    case "w":
      screen?.terminal.write("\u{1B}[?7777hlast words")
      application.send(.terminate, cause: "w")
    case "y": question?.yield(.now)
    case "n": question?.yield(.cancel)
    case "b":
      guard let gate = options.keyGate else { break }
      Log.shared.write("blocked")
      Gate(gate).block()
    case "c": crash()
    case "p": Task.detached { self.crash() }
    case "C": crashesInBackground = true
    case "&": abort()
    case "f": fatalError("told to trap")
    case "o": Log.shared.write("depth \(overflow(1))")
    case "e": writeAll("a message on standard error\n", to: STDERR_FILENO)
    case "E":
      for _ in 0..<1024 { writeAll(String(repeating: "x", count: 1023) + "\n", to: STDERR_FILENO) }
      Log.shared.write("wrote a megabyte")
    case "r": if let path = options.errors { dup2(open(path, O_WRONLY | O_APPEND | O_CLOEXEC), STDERR_FILENO) }
    case "x": exit(5)
    case "X":
      // More than a terminal takes at once.
      screen?.terminal.write(String(repeating: "much text\r\n", count: 20_000) + "\u{1B}[?7777hlast words")
      exit(5)
    case "R": leaveTwice()
    case "l", "L", "g": lend(application, ownGroup: key == "L", namesGroup: key != "l")
    case "k": forkChild()
    // As the kernel does at a write beyond the limit for the size of files.
    case "K": forkChild(sendingItself: SIGXFSZ)
    case "s": startChild()
    // A memory error that the kernel reports early, and a system call that seccomp refuses: neither faults again.
    case "B": _ = cpt_send_to_self(SIGBUS, 5)
    case "S": _ = cpt_send_to_self(SIGSYS, 1)
    // A breakpoint's trap, as Swift's own is on other processors.
    case "T": _ = cpt_send_to_self(SIGTRAP, 1)
    default: break
    }
  }

  /// Lends the terminal to the child of the options.
  private func lend(_ application: Application, ownGroup: Bool, namesGroup: Bool) {
    guard let terminal = screen?.terminal, let command = options.child else { return }
    application.task(self) { _ in
      do {
        let status = try await terminal.lend {
          let child = try Child(command, ownGroup: ownGroup)
          if namesGroup { terminal.bringToForeground(processGroup: getpgid(child.pid)) }
          do {
            try await terminal.lend {}
          } catch {
            Log.shared.write("second loan: \(error)")
          }
          return await child.end()
        }
        Log.shared.write("child ended with \(status)")
      } catch {
        Log.shared.write("no loan: \(error)")
      }
    }
  }

  /// Leaves the screen on two threads at the same time, while the terminal accepts no output; then ends.
  private func leaveTwice() {
    let leaving = startThread { _ = unixhost_emergency_leave_rest(60_000) }
    while unixhost_emergency_left() == UNIXHOST_NOT_LEFT { sched_yield() }
    let restoring = startThread { unixhost_emergency_restore() }
    while unixhost_emergency_is_armed() { sched_yield() }
    Log.shared.write("left twice")
    for thread in [leaving, restoring] { pthread_join(thread, nil) }
    _exit(0)
  }

  /// Forks a child that runs no other program, and says how it ended.
  private func forkChild(sendingItself signal: Int32 = 0) {
    let child = cpt_fork(signal)
    Log.shared.write("child \(child)")
    watch(child)
  }

  /// Starts a child that inherits standard error, and writes there when it has its signal.
  private func startChild() {
    let words = "words of a child >&2"
    let script = "trap 'echo late \(words); exit 7' USR1; echo \(words); while :; do sleep 1; done"
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(script), nil]
    let environment: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/bin:/bin"), nil]
    defer { for word in arguments + environment { free(word) } }
    var start = cpt_start(terminal: nil, descriptors: (-1, -1, STDERR_FILENO), leads_session: 0, directory: nil)
    var child: Int32 = 0
    guard cpt_spawn(&start, arguments, environment, &child) == 0 else { fatalError("no child") }
    Log.shared.write("child \(child)")
    watch(child)
  }

  private nonisolated func crash() {
    let none = [Int]()
    // The index is not known to the compiler, so that the check happens when the program runs.
    writeAll("\(none[Int(getpid())])", to: STDERR_FILENO)
  }

  /// Uses up the stack.
  private func overflow(_ depth: Int) -> Int { depth == 0 ? 0 : overflow(depth + 1) + 1 }

  /// Blocks the main actor, as a handler does that waits for a disk.
  private func block(for duration: Duration) {
    let end = ContinuousClock.now + duration
    while case let left = end - .now, left > .zero {
      var time = timespec(
        tv_sec: Int(left.components.seconds), tv_nsec: Int(left.components.attoseconds / 1_000_000_000))
      // Signals end it early; then the rest follows.
      nanosleep(&time, nil)
    }
  }

  /// Writes at each commit of background whether the time there is limited: only a background mode makes it unlimited.
  private func followTime(of application: Application) {
    writeTime(of: application)
    application.bus.subscribe(to: Application.StateDidChange.self, for: self) { probe, change in
      probe.writeTime(of: change.application)
    }
  }

  private func writeTime(of application: Application) {
    guard application.state == .background else { return }
    Log.shared.write("time \(application.remainingBackgroundTime == nil ? "unlimited" : "limited")")
  }

  /// Something whose release takes its time: a fixed one, or until the test opens the gate.
  private func manageSlowResource(of application: Application) {
    let gate = options.gate.map { Gate($0) }
    let slow = options.slow
    guard gate != nil || slow != nil else { return }
    do {
      let base = try application.manage("base", while: .running) {
      } release: {
        await Task.yield()
        Log.shared.write("base released")
      }
      try application.manage("slow", while: .foreground, after: base) { _ in
        Log.shared.write("acquire")
      } release: {
        Log.shared.write("release begin")
        if let slow { try? await Task.sleep(for: slow) }
        await gate?.pass()
        Log.shared.write(Task.isCancelled ? "release cancelled" : "release end")
      }
    } catch {
      fatalError("\(error)")
    }
  }
}

private func hexadecimal(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 16, uppercase: true)
  return byte < 16 ? "0" + digits : digits
}

/// Says how a child ended.
private func watch(_ child: Int32) {
  startThread {
    var kind = CPT_EXITED
    var value: Int32 = 0
    while cpt_wait(child, &kind, &value) == 0, kind != CPT_EXITED, kind != CPT_KILLED {}
    Log.shared.write("child \(kind == CPT_KILLED ? "killed by" : "exited with") \(value)")
  }
}
