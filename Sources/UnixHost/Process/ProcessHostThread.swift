import AppLifecycle
import CUnixHost
import LibC
import PubSub
import Scheduling

/// The thread of a service host or a process host, which also talks to the service manager, if there is one.
final class ProcessHostThread: HostThread<ProcessStateMachine> {
  /// The time, in milliseconds, for the manager to read the last message.
  private static let barrierTime: Int32 = 250

  private let reloadBudget: Duration
  private let beforeForcedExit: (@Sendable () -> Void)?
  private var manager: NotifySocket?
  private var nextHeartbeat: Instant?
  private var nextExtension: Instant?
  private var hasReportedSilence = false
  /// Whether a reload waits until the computer no longer sleeps: an application that is suspended handles no event.
  private var reloadsAfterSleep = false
  /// The state messages for which the manager had no room; without them, a start or a reload would end in a time-out.
  private var unsent = UnsentStates()
  /// The terminal from which a service was started; -1 if there is none, or the service shall outlive it.
  private var terminal: Int32 = -1
  /// The session whose terminal that is.
  private let session = getsid(0)

  /// Creates the thread of a service host, with the manager that the environment names.
  init(
    _ parts: Parts, budgets: HostBudgets, configuration: ServiceHost.Configuration, environment: ServiceEnvironment
  ) {
    reloadBudget = configuration.reloadBudget
    beforeForcedExit = nil
    manager = environment.address.flatMap { NotifySocket($0) }
    let terms = ProcessStateMachine.Terms(
      announcedNumber: environment.announcedNumber, watchdog: manager == nil ? nil : environment.watchdog,
      timeoutExtension: configuration.timeoutExtension,
      orders: EndOrders(asking: configuration.causesThatAsk, insisting: configuration.causesThatInsist))
    super.init(parts, machine: ProcessStateMachine(budgets: budgets, terms: terms))
    if environment.address != nil, manager == nil { reportSilence() }
    if let obstacle = environment.obstacle { report(obstacle) }
    // SIGHUP is ignored under `nohup`.
    if !signals.hangUpIsIgnored { terminal = (try? TerminalDevice.openTerminal()) ?? -1 }
  }

  /// Creates the thread of a process host, without a manager.
  init(_ parts: Parts, budgets: HostBudgets, configuration: ProcessHost.Configuration) {
    reloadBudget = .zero
    beforeForcedExit = configuration.beforeForcedExit
    let terms = ProcessStateMachine.Terms(
      watchdog: nil, timeoutExtension: .seconds(10),
      orders: EndOrders(asking: configuration.causesThatAsk, insisting: configuration.causesThatInsist),
      launch: configuration.launch, hangUpReloads: false, mayBeInForeground: true)
    super.init(parts, machine: ProcessStateMachine(budgets: budgets, terms: terms))
  }

  override func begin() { process(.started) }

  override func willEndByForce() { beforeForcedExit?() }

  override func end() {
    retry()
    manager?.barrier(milliseconds: Self.barrierTime)
    manager?.end()
    manager = nil
    forgetTerminal()
  }

  // MARK: The terminal from which a service was started

  /// `poll` reports a hang-up also without events.
  override var descriptors: [pollfd] { [pollfd(fd: terminal, events: 0, revents: 0)] }

  override func take(_ ready: ArraySlice<pollfd>) {
    if let events = ready.first?.revents, events != 0 { loseTerminal() }
  }

  /// Whether the terminal is closed, or was taken from the session because its leader has ended, which `poll` does not report.
  private var terminalIsGone: Bool {
    guard terminal >= 0 else { return false }
    var watched = pollfd(fd: terminal, events: 0, revents: 0)
    // A program that has begun a session of its own has left the terminal itself.
    return poll(&watched, 1, 0) > 0 || tcgetsid(terminal) < 0 && getsid(0) == session
  }

  private func loseTerminal() {
    forgetTerminal()
    process(.hangUp(at: SignalPipe.now))
  }

  private func forgetTerminal() {
    if terminal >= 0 { close(terminal) }
    terminal = -1
  }

  // MARK: What is due

  override var deadlines: [Instant?] {
    manager == nil && machine.phase != .starting ? [] : [nextHeartbeat, nextExtension]
  }

  override func passTime(_ now: Instant) {
    // Retry here, because the host's thread wakes up once a second in any case.
    retry()
    if terminalIsGone { loseTerminal() }
    if reloadsAfterSleep, !isAsleep { reload() }
    if nextHeartbeat.hasCome(by: now) { process(.heartbeatDue) }
    if nextExtension.hasCome(by: now) { process(.extensionDue) }
  }

  override func perform(_ effect: ProcessStateMachine.Effect) -> [Event] {
    switch effect {
    case .send(let delivery): send(delivery)
    case .waitForResources:
      parts.mailbox.send { [application = parts.application, link = parts.link] in
        let failed = await application.untilResourcesAreHeld()
        link.send(failed.isEmpty ? .resourcesHeld : .resourcesGivenUp)
      }
    case .reload: if isAsleep { reloadsAfterSleep = true } else { reload() }
    case .askMainActor:
      // Only a manager, and a start that lasts, need the answer.
      guard manager != nil || machine.phase == .starting else { return [] }
      parts.mailbox.send { [application = parts.application, link = parts.link] in
        let hasGivenUp = application.presentResources.contains { if case .failed = $0.status { true } else { false } }
        // Without threads of the pool the service's asynchronous code is dead, even if the main actor answers.
        let probe = ThreadPoolProbe { link.send(.mainActorAnswered(hasGivenUp: hasGivenUp)) }
        if probe.systemRefuses { link.send(.poolNotAsked) }
      }
    case .lookAtTerminal: return [.terminalLook(isGone: terminalIsGone)]
    case .notify(let notices): notify(notices)
    case .armDeadline(let duration): arm(duration)
    case .armHeartbeat(let duration): nextHeartbeat = duration.map { .now + $0 }
    case .armExtension(let duration): nextExtension = duration.map { .now + $0 }
    case .report(let overrun): report(overrun)
    case .die(let signal):
      beforeForcedExit?()
      unixhost_die_by_signal(signal.number)
    case .finish(let status, let mainActorAnswers):
      finish(status, mainActorAnswers: mainActorAnswers)
    }
    return []
  }

  private func notify(_ notices: [ServiceNotice]) {
    guard manager != nil else { return }
    let text = notices.map { $0.line(monotonic: SignalPipe.now) }.joined(separator: "\n")
    tellManager(text, isState: notices.contains { $0.isState })
  }

  /// Sends a datagram, after earlier ones for which a busy manager had no room.
  private func tellManager(_ text: String, isState: Bool) {
    retry()
    // The states must arrive in order.
    if isState, !unsent.isEmpty { return unsent.append(text) }
    if manager?.send(text) == false {
      if isState, errno == EAGAIN { unsent.append(text) }
      reportSilence()
    }
  }

  /// Sends the datagrams for which the manager had no room before.
  private func retry() {
    unsent.retry { manager?.send($0) != false || errno != EAGAIN }
  }

  /// Reports once that messages do not reach the manager.
  ///
  /// - Parameter reason: the reason; nil for the error in `errno`.
  private func reportSilence(because reason: String? = nil) {
    let error = errno
    guard !hasReportedSilence else { return }
    hasReportedSilence = true
    let reason = reason ?? String(cString: strerror(error))
    HostMessage(.warning, "cannot send messages to the service manager: \(reason)").send()
  }

  /// Reports why the host sends no messages to the manager that the environment names.
  private func report(_ obstacle: ServiceEnvironment.Obstacle) {
    switch obstacle {
    case .isOutOfReach: reportSilence(because: "$NOTIFY_SOCKET does not name a usable socket")
    case .isWithheld: reportSilence(because: "a program with set-user-ID or file capabilities ignores $NOTIFY_SOCKET")
    case .isForAnotherProcess:
      HostMessage(
        .notice,
        "$NOTIFY_SOCKET was inherited from another process, so the service manager receives no messages of this one; "
          + "\(HostKind.variable)=service changes that"
      ).send()
    }
  }

  private func reload() {
    reloadsAfterSleep = false
    parts.mailbox.send { [application = parts.application, link = parts.link, budget = reloadBudget] in
      let report = await application.bus.postAndWait(
        ServiceHost.Reload(application: application), from: application, within: budget,
        clock: application.runningClock)
      // An error is an `EventBus.HandlerFailure`, too, for which the host has a line already.
      let late = report.overrun(of: budget)
      if let late { HostMessage(.error, late).send(waits: false) }
      let texts = [report.errors, late].compactMap(\.self)
      link.send(.reloaded(failure: texts.isEmpty ? nil : texts.joined(separator: "; ")))
    }
  }
}

extension DeliveryReport {
  /// A text about the handlers of a reload that threw; nil if none did.
  fileprivate var errors: String? {
    let errors = failures.compactMap { delivery in
      if case .threw(let error) = delivery.outcome { "\(delivery.subscriber): \("\(error)".bounded)" } else { nil }
    }
    return errors.isEmpty ? nil : "the reload failed: \(errors.joined(separator: ", "))"
  }

  /// A text about the handlers of a reload that exceeded its budget; nil if none did.
  fileprivate func overrun(of budget: Duration) -> String? {
    let late = stragglers.map { "\($0.subscriber)" }
    return late.isEmpty ? nil : "the reload overran its budget of \(budget): \(late.joined(separator: ", "))"
  }
}
