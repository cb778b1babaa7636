import AppLifecycle
import CUnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The host's thread: one `poll` over signals, terminal and what the main actor says.
///
/// Performs what ``TerminalStateMachine`` decides, and decides nothing itself.
final class HostThread {
  /// What the thread works with; handed over to it.
  struct Parts: Sendable {
    var signals: SignalPipe
    var budgets: TerminalStateMachine.Budgets
    var configuration: TerminalHost.Configuration
    var terminal: Terminal
    var mailbox: MainActorMailbox
    var link: HostLink
    /// Told the exit status when the work is done.
    var didFinish: @Sendable (Int32) -> Void
  }

  private typealias Instant = SuspendingClock.Instant

  /// The time in which a lone Escape key is told from the beginning of a sequence.
  private static let escapeDelay = Duration.milliseconds(50)
  /// How often a program in the background looks whether it has been given the terminal.
  private static let lookPeriod = Duration.seconds(1)

  private let parts: Parts
  private var signals: SignalPipe
  private var machine: TerminalStateMachine
  private var device: TerminalDevice
  private var parser = TerminalInputParser()
  private var deadline: Instant?
  private var escapeDeadline: Instant?
  private var nextLook: Instant?
  private var isFinished = false

  private init(_ parts: Parts) {
    self.parts = parts
    signals = parts.signals
    machine = TerminalStateMachine(budgets: parts.budgets, ignoresHangUp: parts.signals.hangUpIsIgnored)
    device = TerminalDevice(parts.configuration)
  }

  /// Begins the work, on a thread of its own.
  static func start(_ parts: Parts) {
    final class Box {
      let parts: Parts
      init(_ parts: Parts) { self.parts = parts }
    }
    let argument = Unmanaged.passRetained(Box(parts)).toOpaque()
    let isStarted = unixhost_thread_start(
      { argument in
        guard let argument else { return }
        HostThread(Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().parts).run()
      }, argument)
    precondition(isStarted, "no thread could be made for the host")
  }

  private func run() {
    unixhost_emergency_install()
    process(.started(device.look))
    while !isFinished { wait() }
    device.close()
  }
}

// MARK: - Waiting

extension HostThread {
  private func wait() {
    if machine.holdsTerminal, !device.hasOutput { writeOutput() }
    let watchesTerminal = machine.hasTerminal && device.descriptor >= 0
    var terminalEvents: Int32 = 0
    if machine.readsTerminal { terminalEvents |= Int32(POLLIN) }
    if device.hasOutput { terminalEvents |= Int32(POLLOUT) }
    var descriptors = [
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: parts.link.waker.descriptor, events: Int16(POLLIN), revents: 0),
      // Without any event, too: a hang-up is told all the same, and some shells send their background jobs nothing.
      pollfd(fd: watchesTerminal ? device.descriptor : -1, events: Int16(terminalEvents), revents: 0),
    ]
    let count = poll(&descriptors, nfds_t(descriptors.count), timeout())
    // All signals before anything else: what is decided must know of every one that has come.
    takeSignals()
    for event in parts.link.take() { process(event) }
    if count > 0 { takeTerminal(Int32(descriptors[2].revents)) }
    passTime()
  }

  private func timeout() -> Int32 {
    if machine.pollsTerminal {
      if nextLook == nil { nextLook = .now + Self.lookPeriod }
    } else {
      nextLook = nil
    }
    guard let next = [deadline, escapeDeadline, nextLook].compactMap({ $0 }).min() else { return -1 }
    let components = (next - Instant.now).components
    guard components.seconds >= 0, components.attoseconds >= 0 else { return 0 }
    // Rounded up, lest the last millisecond be spent turning in a circle.
    return Int32(clamping: components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 + 1)
  }

  private func takeSignals() {
    let records = signals.drain()
    if !records.isEmpty { process(.signals(records)) }
  }

  private func takeTerminal(_ ready: Int32) {
    guard machine.hasTerminal, !isFinished else { return }
    if ready & Int32(POLLOUT) != 0 { device.writeUnwritten() }
    // What was typed before the line went down is read first.
    if ready & Int32(POLLIN) != 0, machine.readsTerminal { return read() }
    if ready & Int32(POLLHUP | POLLERR | POLLNVAL) != 0 { process(.hangUp) }
  }

  private func read() {
    switch device.read() {
    case .bytes(let bytes):
      take(parser.feed(bytes))
      escapeDeadline = parser.holdsBytes ? .now + Self.escapeDelay : nil
    case .nothing: break
    case .end: process(device.look == .gone ? .hangUp : .endOfInput)
    case .refused:
      // EIO: the terminal is gone, or the process is in an orphaned group in the background.
      if device.look == .background {
        process(.signals([SignalRecord(signal: .backgroundRead)]))
      } else {
        process(.hangUp)
      }
    }
  }

  private func take(_ elements: [TerminalInputParser.Element]) {
    for element in elements {
      switch element {
      case .bytes(let bytes): parts.mailbox.send(.keys(bytes))
      case .focus(let isFocused): process(.focus(isFocused))
      case .suspendKey: process(.suspendKey)
      }
    }
  }

  private func passTime() {
    let now = Instant.now
    if let time = escapeDeadline, now >= time {
      escapeDeadline = nil
      take(parser.flush())
    }
    if let time = deadline, now >= time {
      deadline = nil
      process(.deadlinePassed)
    }
    if let time = nextLook, now >= time {
      nextLook = nil
      if machine.pollsTerminal { process(.terminalLook(device.look)) }
    }
  }

  private func writeOutput() {
    let output = parts.terminal.takeOutput()
    if !output.isEmpty { device.write(output) }
    if !device.hasOutput, parts.terminal.takeLoss() { requestDisplay() }
  }
}

// MARK: - Performing

extension HostThread {
  /// Gives the machine an event, performs what it says, and gives it the answers.
  private func process(_ event: TerminalStateMachine.Event) {
    var events = [event][...]
    while let next = events.popFirst(), !isFinished {
      for effect in machine.handle(next) { events += perform(effect) }
    }
  }

  private func perform(_ effect: TerminalStateMachine.Effect) -> [TerminalStateMachine.Event] {
    switch effect {
    case .lookAtTerminal: return [.terminalLook(device.look)]
    case .takeTerminal: return [.terminalTaken(takeTerminal())]
    case .giveTerminalBack: giveTerminalBack()
    case .dropTerminal:
      parts.terminal.setHeld(false)
      device.drop()
    case .quietFocus: device.quietFocus()
    case .requestDisplay: requestDisplay()
    case .send(let delivery): parts.mailbox.send(.input(delivery))
    case .armDeadline(let duration): deadline = .now + duration
    case .disarmDeadline: deadline = nil
    case .predictStop: return [.stopPredicted(isPossible: ProcessTree.live.canStop(getpid()))]
    case .stopSelf: return stop()
    case .reportRefusedStop: StandardError.report("cannot be stopped here: no shell with job control could continue it")
    case .reportUncaughtStop: parts.mailbox.send(.continued)
    case .report(let overrun): StandardError.report(overrun)
    case .die(let signal): unixhost_die_by_signal(signal.number)
    case .finish(let status, let mainActorAnswers): finish(status, mainActorAnswers: mainActorAnswers)
    }
    return []
  }

  private func takeTerminal() -> Bool {
    guard device.take() else { return false }
    take(parser.reset())
    parser.findsSuspendKey = device.delegatesSuspendKey
    escapeDeadline = nil
    if let size = device.size { parts.terminal.setSize(size) }
    parts.terminal.setHeld(true)
    return true
  }

  private func giveTerminalBack() {
    let output = parts.terminal.takeOutput()
    parts.terminal.setHeld(false)
    device.write(output)
    device.giveBack()
    escapeDeadline = nil
  }

  private func requestDisplay() {
    if let size = device.size { parts.terminal.setSize(size) }
    parts.mailbox.send(.display)
  }

  private func stop() -> [TerminalStateMachine.Event] {
    let wasContinued = signals.stop(wholeGroup: device.look == .foreground)
    // Signals that waited for the stop to end are being taken by all threads at once: those on other threads may be a moment
    // late, and a SIGTERM among them must not find the program on its way to the foreground.
    var records = signals.drain()
    var waiting = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
    for _ in 0..<Self.settlingRounds where poll(&waiting, 1, Self.settlingTime) != 0 { records += signals.drain() }
    return [.signals(records), .stopEnded(wasContinued: wasContinued)]
  }

  private static let settlingRounds = 10
  private static let settlingTime: Int32 = 10

  private func finish(_ status: Int32, mainActorAnswers: Bool) {
    isFinished = true
    // Nobody is there to return to: what the main actor does not let go of ends with the process.
    if !mainActorAnswers { _exit(status) }
    signals.close()
    parts.didFinish(status)
  }
}
