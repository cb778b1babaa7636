import AppLifecycle
import CUnixHost
import LibC
import PubSub
import Scheduling

/// The thread of a terminal host, which also waits for the terminal.
///
/// Only this thread accesses the terminal.
final class TerminalHostThread: HostThread<TerminalStateMachine> {
  /// The interval at which a program in the background checks whether it owns the terminal.
  private static let lookPeriod = Duration.seconds(1)

  /// The interval at which the host looks whether Ctrl-Z has stopped a child in a process group of its own.
  private static let borrowerPeriod = Duration.milliseconds(200)

  /// The longest time for which Escape waits.
  private static let longestEscapeDelay = Duration.seconds(10)

  /// The time for which the terminal is not read after a key that makes the host leave: if the application ends at once,
  /// what follows the key is for the shell.
  static let leavingKeyPause = Duration.milliseconds(200)

  let terminal: Terminal
  private let jobMode: JobMode
  var device: TerminalDevice
  var parser = TerminalInputParser()
  var decoder = Terminal.KeyDecoder()
  private var hasHungUp = false
  /// Input that came while the computer went to sleep.
  var waiting = WaitingInput()
  /// Input that the main actor has not handled yet.
  let backlog: InputBacklog
  var omission = InputOmission()
  let escapeDelay: Duration
  var escapeDeadline: Instant?
  /// The time when the terminal is read again after a key that makes the host leave.
  var readsAgain: Instant?
  /// The time when unfinished input is broken off.
  var idleDeadline: Instant?
  /// The number of SIGCONTs for whose records the loss of the terminal has waited.
  private var continuesAwaited: UInt32?
  private var nextLook: Instant?
  /// The time when the host looks whether Ctrl-Z has stopped the process group to which the terminal is lent.
  private var borrowerLook: Instant?
  /// The time when the leaving sequences are given up.
  private var leaveDeadline: Instant?
  /// The time when output that comes before the leaving sequences is given up.
  private var outputDeadline: Instant?

  init(_ parts: Parts, budgets: HostBudgets, configuration: TerminalHost.Configuration, terminal: Terminal) {
    self.terminal = terminal
    jobMode = JobMode(parts.application)
    device = TerminalDevice(configuration)
    escapeDelay = min(max(configuration.escapeDelay, .zero), Self.longestEscapeDelay)
    backlog = InputBacklog { [waker = parts.link.waker] in waker.wake() }
    super.init(
      parts,
      machine: TerminalStateMachine(
        budgets: budgets, ignoresHangUp: parts.signals.hangUpIsIgnored,
        orders: EndOrders(asking: configuration.causesThatAsk, insisting: configuration.causesThatInsist)))
  }

  override func begin() {
    StandardError.keeping.withLock { $0 = .ofAnotherJobsTerminal }
    ExitFlush.begin(terminal)
    if device.strayStream >= 0, let missing = device.missing {
      HostMessage(
        .notice,
        "\(missing.reason), the program runs in the background until this terminal closes, and has no screen"
      ).send()
    }
    process(.started(device.look))
  }

  override func end() {
    terminal.closeLending()
    // Without this a script that has started the program would become a background job of a child that still runs.
    device.endBorrowing()
    ExitFlush.end()
    StandardError.keeping.withLock { $0 = .none }
    device.leaveAbandoned()
    if unixhost_stderr_tend() { device.showLateErrors() }
    device.close()
  }

  // MARK: Waiting

  override var descriptors: [pollfd] {
    if machine.holdsTerminal, !device.hasOutput { writeOutput() }
    if sharesTerminal { writeLines() }
    if !device.hasOutput { terminal.confirmFlush() }
    if machine.holdsTerminal, device.hasMetAnotherJob { yieldTerminal() }
    let watched = machine.hasTerminal ? device.descriptor : hasHungUp ? -1 : device.strayStream
    var events: Int32 = 0
    if readsInput { events |= Int32(POLLIN) }
    if device.hasOutput { events |= Int32(POLLOUT) }
    // Poll without events, too: `poll` still reports a hang-up, and some shells send no signal to their background
    // jobs.
    return [pollfd(fd: watched, events: Int16(events), revents: 0)]
  }

  override var deadlines: [Instant?] {
    if machine.pollsTerminal || isAbandoned {
      if nextLook == nil { nextLook = .now + Self.lookPeriod }
    } else {
      nextLook = nil
    }
    if device.borrower == nil { borrowerLook = nil } else { borrowerLook = borrowerLook ?? .now + Self.borrowerPeriod }
    return [
      escapeDeadline, idleDeadline, readsAgain, omission.deadline, nextLook, outputDeadline, leaveDeadline,
      borrowerLook,
    ]
  }

  override func take(_ ready: ArraySlice<pollfd>) {
    guard let events = ready.first.map({ Int32($0.revents) }) else { return }
    if events & Int32(POLLOUT) != 0 {
      device.writeUnwritten()
    }
    // Read the input that was typed before the hang-up first.
    if events & Int32(POLLIN) != 0, readsInput { return read() }
    if events & Int32(POLLHUP | POLLERR | POLLNVAL) != 0 {
      hasHungUp = true
      process(.hangUp)
    }
  }

  /// Handles the loss of the terminal to the shell or another job that has sent no signal.
  private func yieldTerminal() {
    // A SIGCONT whose record comes next is the reason. But if it does not come, other code has taken it.
    if let continues = signals.unreadContinues, continues != continuesAwaited {
      continuesAwaited = continues
      return
    }
    process(.signals([SignalRecord(signal: .backgroundWrite)]))
    // The program has the terminal again, and the output in between is lost.
    if machine.holdsTerminal, !isFinished {
      device.forgetMeeting()
      requestDisplay()
    }
  }

  override func passTime(_ now: Instant) {
    followBacklog(now)
    passTimeOfInput(now)
    if !isAsleep, !waiting.isEmpty {
      let input = waiting
      waiting = WaitingInput()
      if machine.readsTerminal {
        take(input.elements)
        tell(of: input.omitted)
      }
    }
    if isAbandoned { device.leaveAbandoned() }
    // While the terminal is lent, its screen is that of the child.
    if unixhost_stderr_tend(), !machine.isLent { device.showLateErrors() }
    // A program that neither draws nor reads is not notified of the loss, so check here.
    if machine.holdsTerminal, device.look == .background { yieldTerminal() }
    if nextLook.hasCome(by: now), machine.pollsTerminal { process(.terminalLook(device.look)) }
    if borrowerLook.hasCome(by: now), machine.phase == .foreground, device.borrowerIsStopped {
      process(.signals([SignalRecord(signal: .stop, isFromKernel: true)]))
    }
    if outputDeadline.hasCome(by: now) { device.dropOutput() }
    if leaveDeadline != nil, !device.isUnrestored { endLeaving(isComplete: true) }
    if leaveDeadline.hasCome(by: now) {
      device.drop(showsErrors: device.look == .foreground)
      endLeaving(isComplete: false)
    }
  }

  /// Whether the terminal was lost, and its screen could not be left.
  private var isAbandoned: Bool { !machine.holdsTerminal && !device.isLeaving && unixhost_emergency_is_armed() }

  private func endLeaving(isComplete: Bool) {
    setLeaveDeadline(nil)
    process(.terminalLeft(isComplete: isComplete))
  }

  /// Whether a program without a screen still writes its lines to a terminal that was given back, until it stops or
  /// ends.
  private var sharesTerminal: Bool {
    !device.hasScreen && !machine.holdsTerminal && !device.isLeaving && terminal.isHeld
  }

  private func writeLines() {
    let lines = terminal.takeOutput()
    if !lines.isEmpty { device.writeLines(lines) }
  }

  /// Writes the last lines of a program without a screen.
  private func endLines() {
    if sharesTerminal { writeLines() }
    terminal.setHeld(false)
  }

  private func writeOutput() {
    let output = terminal.takeOutput()
    if !output.isEmpty { device.write(output) }
    if !device.hasOutput, terminal.takeLoss() { requestDisplay() }
  }

  // MARK: Performing

  override func perform(_ effect: TerminalStateMachine.Effect) -> [Event] {
    switch effect {
    case .lookAtTerminal: return [.terminalLook(device.look)]
    case .takeTerminal: return [.terminalTaken(takeTerminal())]
    case .giveTerminalBack(let time): return giveTerminalBack(within: time)
    case .dropTerminal, .leaveLostTerminal:
      setLeaveDeadline(nil)
      (escapeDeadline, idleDeadline) = (nil, nil)
      terminal.setHeld(false)
      if effect == .dropTerminal { device.drop() } else { device.leaveLost() }
    case .answerLending(let error):
      if error == nil {
        // A program without a screen writes no lines, either, while a child process has the terminal.
        endLines()
        setLent(true)
      }
      parts.mailbox.send { [terminal] in terminal.lendingDidBegin(error) }
    case .bringToForeground(let group): device.bringToForeground(group)
    case .continueBorrower: device.continueBorrower()
    case .endForegroundOfBorrower:
      device.endBorrowing()
      // Only then: in the background, the shell may be about to take the terminal from a job that has ended.
      if machine.phase == .foreground { device.takeAbandonedForeground() }
    case .confirmEndOfLending:
      setLent(false)
      parts.mailbox.send { [terminal] in terminal.lendingDidEnd() }
    case .requestDisplay: requestDisplay()
    case .send(let delivery): send(delivery)
    case .setJobMode(let isJob): parts.mailbox.send { [jobMode] in jobMode.set(isJob) }
    case .armDeadline(let duration): arm(duration)
    case .disarmDeadline: arm(nil)
    case .lookAtScreen: return [.screenLook(wasLeft: unixhost_emergency_left() != UNIXHOST_NOT_LEFT)]
    case .predictStop:
      return [
        .stopPredicted(
          isPossible: ProcessTree.live.canStop(getpid()), screenWasLeft: unixhost_emergency_left() != UNIXHOST_NOT_LEFT)
      ]
    case .stopSelf: return stop()
    case .reportRefusedStop:
      HostMessage(.warning, "the program cannot be stopped here: no shell with job control could continue it").send()
    case .report(let overrun): report(overrun)
    case .die(let signal):
      device.takeForeground()
      unixhost_emergency_restore()
      unixhost_die_by_signal(signal.number)
    case .finish(let status, let mainActorAnswers):
      endLines()
      finish(status, mainActorAnswers: mainActorAnswers)
    }
    return []
  }

  override func afterwards(_ delivery: HostDelivery) -> @MainActor @Sendable () -> Void {
    // The session may be unlocked while another job owns the terminal.
    guard delivery.needsDisplay, delivery.input != .unlock || machine.holdsTerminal else { return {} }
    return display
  }

  /// Posts an event of the terminal on the application's bus.
  func tell(_ event: some MainActorEvent) {
    parts.mailbox.send { [bus = parts.application.bus, terminal] in bus.post(event, from: terminal) }
  }

  private var display: @MainActor @Sendable () -> Void {
    { [application = parts.application, terminal] in
      let event = Terminal.NeedsDisplay(application: application, terminal: terminal, size: terminal.size)
      application.bus.post(event, from: terminal)
    }
  }

  private func takeTerminal() -> Bool {
    guard device.take() else { return false }
    take(parser.reset())
    decoder.forgetUnfinished()
    parser.signalKeys = device.signalKeys
    (escapeDeadline, idleDeadline, readsAgain) = (nil, nil, nil)
    setLeaveDeadline(nil)
    if let size = device.size { terminal.setSize(size) }
    // Lines that were written since a signal handler has given the terminal back still wait.
    if device.hasScreen || !terminal.isHeld { terminal.setHeld(true) }
    return true
  }

  private func setLent(_ isLent: Bool) {
    device.isLent = isLent
    StandardError.keeping.withLock { $0 = isLent ? .ofLentTerminal : .ofAnotherJobsTerminal }
  }

  private func giveTerminalBack(within time: Duration) -> [Event] {
    // A program without a screen can still write lines, until it stops or ends.
    device.giveBack(after: terminal.takeOutput(isLast: device.hasScreen))
    (escapeDeadline, idleDeadline) = (nil, nil)
    guard device.isUnrestored else { return [.terminalLeft(isComplete: true)] }
    setLeaveDeadline(time)
    return []
  }

  /// Sets the time that the terminal has for the program's last output, and for the leaving sequences after it.
  private func setLeaveDeadline(_ time: Duration?) {
    leaveDeadline = time.map { .now + $0 }
    // Half of the time is for the leaving sequences, also if the program has written much.
    outputDeadline = time.map { .now + $0 / 2 }
  }

  /// Asks for one drawing, however often it is called before the main actor is free, as while a window is resized.
  private func requestDisplay() {
    if let size = device.size { terminal.setSize(size) }
    guard backlog.addDisplay() else { return }
    parts.mailbox.send { [backlog, display] in
      backlog.removeDisplay()
      display()
    }
  }

  private func stop() -> [Event] {
    tellLogind(.processWillStop)
    endLines()
    if machine.isLent { device.stopBorrower() }
    // The last lines and the child may have taken half a second, and an order that has come meanwhile would have no effect
    // before the next SIGCONT.
    let late = signals.drain()
    if machine.cancelsStop(late) {
      device.continueBorrower()
      tellLogind(.processDidContinue)
      return [.signals(late), .stopEnded(wasContinued: true)]
    }
    // The shell sees the program's group stop; `fg` gives that group the terminal.
    device.takeForeground()
    // Any pause from here on is the stop.
    parts.standstill.willWait(0)
    let wasContinued = signals.stop(wholeGroup: device.look == .foreground)
    parts.standstill.works()
    tellLogind(.processDidContinue)
    // The application knows of this stop.
    watch.showLife()
    // Signals that were pending during the stop are now delivered to all threads at once. Handlers on other threads may
    // run slightly later, and a SIGTERM among them must not find the program on its way to the foreground.
    var records = late + signals.drain()
    var waiting = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
    for _ in 0..<Self.settlingRounds where poll(&waiting, 1, Self.settlingTime) != 0 { records += signals.drain() }
    return [.signals(records), .stopEnded(wasContinued: wasContinued)]
  }

  private static let settlingRounds = 10
  private static let settlingTime: Int32 = 10
}
