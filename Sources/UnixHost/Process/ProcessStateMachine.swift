import AppLifecycle

/// The reactions of a service host or a process host to signals, the service manager and the tear-down.
///
/// It is a pure state machine, which takes an event and returns a list of effects. Its ``Terms`` distinguish the two
/// hosts; a process host has no manager.
///
///     starting ──resources held──▶ running ──SIGHUP──▶ reloading
///        │                          │    ◀──reloaded───┘ │
///        └──────────────────────────┴── SIGTERM, SIGINT ─┴──▶ stopping ──▶ ended
///
/// A hang-up of the terminal from which a service was started is an order, too. The terminal also sends SIGHUP, so at
/// each SIGHUP a service looks at its terminal. An order whose cause asks does not change the phase until the application begins to end; it may refuse.
///
/// While the service starts, reads its configuration again or ends, the host extends the manager's time-out repeatedly.
/// During a start or a reload it does so only while the main actor answers, so that a blocked service runs into the
/// time-out; so does a service that has given up a resource that it needs to be ready. The end is limited by the budget
/// of `willTerminate`, so it needs no such check.
struct ProcessStateMachine: HostMachine, Hashable {
  // MARK: What happens

  /// An event for the machine.
  enum Event: HostEvent, Hashable {
    /// The host has begun its work.
    case started
    /// Signals that were caught, oldest first.
    case signals([SignalRecord])
    /// The application has handled the input with this number.
    case transitionFinished(id: Int)
    /// The answer to ``Effect/waitForResources``: all are held.
    case resourcesHeld
    /// The answer to ``Effect/waitForResources``: one was given up.
    case resourcesGivenUp
    /// The answer to ``Effect/reload``, and a text about what failed; nil if nothing did.
    case reloaded(failure: String?)
    /// The answer to ``Effect/askMainActor``, and whether a resource that the service needs was given up.
    case mainActorAnswered(hasGivenUp: Bool)
    /// The answer to ``Effect/askMainActor`` if the thread pool could not be asked: the system creates no thread at present.
    case poolNotAsked
    /// The answer to ``Effect/lookAtTerminal``: whether the terminal that the host watches is closed.
    case terminalLook(isGone: Bool)
    /// The terminal that the host watches was closed; the time is that of the look, by the clock of signals.
    case hangUp(at: Duration)
    /// The program has set a text about its current work.
    case status(String)
    /// The text about the resources that cannot be acquired has changed; nil if there are none.
    case trouble(String?)
    /// The time of ``Effect/armDeadline(_:)`` has passed.
    case deadlinePassed
    /// The time of ``Effect/armHeartbeat(_:)`` has passed.
    case heartbeatDue
    /// The time of ``Effect/armExtension(_:)`` has passed.
    case extensionDue
    /// The application was asked whether it may end, and has not answered yet.
    case questionOpened
    /// The application has refused to end.
    case questionRefused
    /// The application has begun to end.
    case applicationBeganToEnd
    /// A budget of the application has begun.
    case budgetBegan(ApplicationCallback)
    /// A transition with a budget has ended; these budgets were overrun.
    case budgetEnded(overruns: [BudgetOverrun])
    /// The application is no longer running; these budgets were overrun.
    case applicationEnded(overruns: [BudgetOverrun])
  }

  // MARK: What is done

  /// An effect that the driver performs.
  ///
  /// Effects are performed in order.
  enum Effect: Sendable, Hashable {
    /// Sends an input to the application.
    case send(HostDelivery)
    /// Waits until all resources of the phase `.running` are held, or one was given up.
    case waitForResources
    /// Posts the reload event and awaits its handlers.
    case reload
    /// Asks whether the main actor answers.
    case askMainActor
    /// Looks whether the terminal that the host watches is closed.
    case lookAtTerminal
    /// Sends messages to the manager, in one datagram.
    case notify([ServiceNotice])
    /// Arms the deadline after which ``Event/deadlinePassed`` comes, instead of an earlier one; nil disarms it.
    case armDeadline(Duration?)
    /// Arms the time after which ``Event/heartbeatDue`` comes; nil disarms it.
    case armHeartbeat(Duration?)
    /// Arms the time after which ``Event/extensionDue`` comes; nil disarms it.
    case armExtension(Duration?)
    /// Reports a budget and the code that overran it.
    case report(BudgetOverrun)
    /// Ends the process by this signal's default action.
    case die(CaughtSignal)
    /// Ends the host's work with this exit status; if the main actor does not answer, ends the process at once.
    case finish(status: Int32, mainActorAnswers: Bool)
  }

  // MARK: State

  /// The phase of the service.
  enum Phase: Sendable, Hashable {
    /// The service is not ready yet.
    case starting
    /// The service is ready.
    case running
    /// The service reads its configuration again.
    case reloading
    /// The service is ending.
    case stopping
    /// The host's work is done.
    case ended
  }

  /// The settings of the manager and of the host.
  struct Terms: Sendable, Hashable {
    /// The number of this process, if the manager is to be told that it is the service.
    var announcedNumber: Int32?
    /// The time without a ping after which the manager considers the service dead; nil without a watchdog.
    var watchdog: Duration?
    /// The time between two pings of the watchdog: half of its time, so that the main actor has the other half to answer.
    var pingInterval: Duration? { watchdog.map { $0 / 2 } }
    /// The length of each extension of the manager's time-outs.
    var timeoutExtension: Duration
    /// The orders to end, before the first one.
    var orders = EndOrders(asking: EndOrders.keys)
    /// The input that launches the application.
    var launch = SystemInput.launchInBackground
    /// Whether SIGHUP means to read the configuration again; otherwise it is an order to end.
    var hangUpReloads = true
    /// Whether the application may be in the foreground when the order to end comes, so that it has two budgets.
    var mayBeInForeground = false
  }

  /// The state of ``Effect/askMainActor``.
  private enum Inquiry: Sendable, Hashable {
    case answered
    case asked
    /// No answer will come, so the host asks again when the next one is due.
    case failed
  }

  /// The time after which the manager's time-out is first extended; shorter work needs no extension.
  static let patience = Duration.milliseconds(250)

  private(set) var phase = Phase.starting
  let budgets: HostBudgets
  let terms: Terms
  /// The orders to end that have arrived.
  private var orders: EndOrders
  /// The time of the latest hang-up or SIGHUP of a service; no order, because most SIGHUPs mean a reload.
  private var hangUpTaken: Duration?
  private var questionIsOpen = false
  private var wantsReload = false
  private var inquiry = Inquiry.answered
  /// Whether a resource that the service needs was given up, as of the last answer.
  private var hasGivenUp = false
  /// Whether the manager was not asked for time when that was due.
  private var isExtensionWithheld = false
  /// Whether ``Effect/waitForResources`` has not been answered yet.
  private var awaitsResources = false
  private var awaitsLaunch = false
  /// The running budget; nil after it has been reported.
  private var budget: ApplicationCallback?
  /// The delivery with whose transition the service ends.
  private var awaited: Int?
  private var deliveries = 0
  /// The text of the program about its current work.
  private var status: String?
  /// The text about the resources that cannot be acquired.
  private var trouble: String?
  /// The text about the last reload; nil if it succeeded.
  private var reloadFailure: String?
  private var effects: [Effect] = []

  var repetitionsEnd: Duration? {
    let before = terms.mayBeInForeground ? budgets.didEnterBackground : .zero
    let end = orders.repetitionsEnd(within: before + budgets.willTerminate + budgets.longestGrace)
    return [end, hangUpTaken.map { $0 + EndOrders.copyWindow }].compactMap { $0 }.max()
  }

  /// Creates the machine of a service that has not begun.
  init(budgets: HostBudgets = HostBudgets(), terms: Terms) {
    self.budgets = budgets
    self.terms = terms
    orders = terms.orders
  }

  /// Handles an event, and returns the effects for the driver.
  ///
  /// - Complexity: linear in the number of signals.
  mutating func handle(_ event: Event) -> [Effect] {
    guard phase != .ended else { return [] }
    switch event {
    case .started: start()
    case .signals(let records): for record in records where phase != .ended { take(record) }
    case .transitionFinished(let id): finishTransition(id)
    case .resourcesHeld: if phase == .starting { enterRunning(terms.announcedNumber.map { [.mainProcess($0)] } ?? []) }
    case .resourcesGivenUp: (awaitsResources, hasGivenUp) = (false, true)
    case .reloaded(let failure): endReload(failure)
    case .mainActorAnswered(let hasGivenUp): takeAnswer(hasGivenUp)
    case .poolNotAsked: inquiryFailed()
    case .terminalLook(let isGone): if isGone { end(because: "hang-up") } else { wantReload() }
    case .hangUp(let time):
      hangUpTaken = time
      end(because: "hang-up")
    case .status(let text):
      status = text
      notifyStatus()
    case .trouble(let text): setTrouble(text)
    case .deadlinePassed: passDeadline()
    case .heartbeatDue: beat()
    case .extensionDue: extend()
    case .questionOpened:
      questionIsOpen = true
      // The manager that sent the order already waits for the end.
      if phase == .running { emit(.armExtension(Self.patience)) }
    case .questionRefused:
      questionIsOpen = false
      if phase == .running { emit(.armExtension(nil)) }
    case .applicationBeganToEnd:
      orders.beginEnd()
      if phase != .stopping { stop(awaiting: nil) }
    case .budgetBegan(let callback):
      // The time before this budget does not count toward the end.
      budget = callback
      emit(.armDeadline(budgets.length(of: callback) + budgets.grace))
    case .budgetEnded(let overruns): endBudget(overruns)
    case .applicationEnded(let overruns): finish(overruns, mainActorAnswers: true)
    }
    defer { effects = [] }
    return effects
  }
}

// MARK: - Steps

extension ProcessStateMachine {
  private mutating func emit(_ effect: Effect) { effects.append(effect) }

  private mutating func send(_ input: SystemInput, _ cause: LifecycleCause) -> Int {
    deliveries += 1
    emit(.send(HostDelivery(id: deliveries, input: input, cause: cause)))
    return deliveries
  }

  private mutating func start() {
    awaitsLaunch = true
    _ = send(terms.launch, "launch")
    ask()
    emit(.armExtension(Self.patience))
  }

  private mutating func enterRunning(_ notices: [ServiceNotice]) {
    let isFirst = phase == .starting
    (phase, isExtensionWithheld) = (.running, false)
    emit(.notify([.ready] + notices))
    emit(.armExtension(questionIsOpen ? Self.patience : nil))
    if isFirst, let interval = terms.pingInterval { emit(.armHeartbeat(interval)) }
    reloadIfWanted()
  }

  private mutating func reloadIfWanted() {
    guard wantsReload, phase == .running else { return }
    wantsReload = false
    phase = .reloading
    emit(.notify([.reloading]))
    emit(.reload)
    ask()
    emit(.armExtension(Self.patience))
  }

  /// Handles a request for a reload.
  ///
  /// Requests before the service is ready, or during a reload, lead to one reload afterwards.
  private mutating func wantReload() {
    wantsReload = true
    reloadIfWanted()
  }

  private mutating func endReload(_ failure: String?) {
    guard phase == .reloading else { return }
    if failure != reloadFailure {
      reloadFailure = failure
      notifyStatus()
    }
    enterRunning([])
  }

  private mutating func take(_ record: SignalRecord) {
    switch record.signal {
    case .quit: die(.quit)
    // A terminal that is closed sends it, too.
    case .hangUp where terms.hangUpReloads:
      hangUpTaken = record.taken
      emit(.lookAtTerminal)
    case .terminate, .interrupt, .hangUp:
      switch orders.take(record) {
      case .ask: if phase == .stopping { orders.beginEnd() } else { _ = send(.terminate, record.cause) }
      case .end: end(because: record.cause)
      case .copy: break
      case .endAtOnce: die(record.signal)
      }
    case .continue, .stop, .backgroundRead, .backgroundWrite, .windowChange: break
    }
  }

  private mutating func end(because cause: LifecycleCause) {
    if phase != .stopping { stop(awaiting: send(.shutDown, cause)) }
  }

  private mutating func die(_ signal: CaughtSignal) {
    emit(.die(signal))
    phase = .ended
  }

  /// Handles the beginning of the end, and arms its budget.
  private mutating func stop(awaiting delivery: Int?) {
    awaited = delivery
    phase = .stopping
    emit(.notify([.stopping]))
    // Stop the pings: after a ping the manager would expect another one.
    emit(.armHeartbeat(nil))
    emit(.armExtension(Self.patience))
    // The end waits for a tear-down that is under way. Each budget that begins from now on has its own time.
    let before = terms.mayBeInForeground ? budgets.didEnterBackground : budget.map(budgets.length) ?? .zero
    emit(.armDeadline(before + budgets.willTerminate + budgets.grace))
  }

  private mutating func passDeadline() {
    if phase == .stopping { return finish([budgets.silence(in: budget ?? .willTerminate)], mainActorAnswers: false) }
    guard let callback = budget else { return }
    budget = nil
    emit(.report(budgets.silence(in: callback)))
  }

  /// Handles the end of a tear-down that is not the end of the application; the host may have reported the code that
  /// blocked it.
  private mutating func endBudget(_ overruns: [BudgetOverrun]) {
    guard budget != nil else { return }
    budget = nil
    if phase == .stopping { return }
    emit(.armDeadline(nil))
    for overrun in overruns { emit(.report(overrun.namingEachOnce)) }
  }

  private mutating func finishTransition(_ id: Int) {
    if id == awaited, phase == .stopping {
      // The application did not run, so it has not told of its end.
      finish([], mainActorAnswers: true)
    } else if awaitsLaunch, phase == .starting {
      awaitsLaunch = false
      waitForResources()
    }
  }

  /// Waits for the resources, again after one was given up and the program may have called `retry()`.
  private mutating func waitForResources() {
    guard phase == .starting, !awaitsLaunch, !awaitsResources else { return }
    awaitsResources = true
    emit(.waitForResources)
  }

  private mutating func setTrouble(_ text: String?) {
    guard text != trouble else { return }
    trouble = text
    notifyStatus()
    waitForResources()
  }

  /// Sends the status text, of which the manager keeps one: the trouble, the failure of the last reload, and then the
  /// text of the program.
  private mutating func notifyStatus() {
    emit(.notify([.status([trouble, reloadFailure, status].compactMap { $0 }.joined(separator: "; "))]))
  }

  /// Ends the host's work; the service has ended in order if no budget was overrun and the main actor answers.
  private mutating func finish(_ overruns: [BudgetOverrun], mainActorAnswers: Bool) {
    for overrun in overruns { emit(.report(overrun.namingEachOnce)) }
    emit(
      .finish(
        status: overruns.isEmpty ? ExitStatus.success : ExitStatus.tearDownOverran, mainActorAnswers: mainActorAnswers))
    phase = .ended
  }
}

// MARK: - Signs of life

extension ProcessStateMachine {
  private mutating func ask() {
    guard inquiry != .asked else { return }
    inquiry = .asked
    emit(.askMainActor)
  }

  /// Asks again before the watchdog's time is over: the system may refuse a thread for a moment only.
  private mutating func inquiryFailed() {
    inquiry = .failed
    guard let interval = terms.pingInterval, phase == .running || phase == .reloading else { return }
    emit(.armHeartbeat(min(interval / 4, .seconds(1))))
  }

  private mutating func takeAnswer(_ hasGivenUp: Bool) {
    inquiry = .answered
    self.hasGivenUp = hasGivenUp
    if !hasGivenUp { waitForResources() }
    if terms.watchdog != nil, phase == .running || phase == .reloading { emit(.notify([.watchdog])) }
    // The manager's time may be over before the next extension is due.
    if isExtensionWithheld, !isStuck { extend() }
  }

  /// Whether the manager's own time-out applies to a start or a reload: nothing answers, or a resource was given up, without
  /// which the service will not be ready by itself.
  private var isStuck: Bool { inquiry != .answered || phase == .starting && hasGivenUp }

  /// Asks the main actor after half of the watchdog's time; an answer in the other half is a sign of life.
  private mutating func beat() {
    guard let interval = terms.pingInterval, phase == .running || phase == .reloading else { return }
    ask()
    emit(.armHeartbeat(interval))
  }

  private mutating func extend() {
    switch phase {
    case .starting, .reloading:
      isExtensionWithheld = isStuck
      if !isExtensionWithheld { emit(.notify([.extendTimeout(terms.timeoutExtension)])) }
      ask()
    case .stopping: emit(.notify([.extendTimeout(terms.timeoutExtension)]))
    case .running where questionIsOpen: emit(.notify([.extendTimeout(terms.timeoutExtension)]))
    case .running, .ended: return
    }
    // Extend again well before the end, because the manager may be slow to read.
    emit(.armExtension(terms.timeoutExtension / 2))
  }
}
