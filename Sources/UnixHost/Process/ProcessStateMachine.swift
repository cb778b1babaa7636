import AppLifecycle

/// What a service host and a process host do about signals, the service manager and the tear-down.
///
/// A pure state machine: an event in, a list of effects out. Its ``Terms`` tell the two hosts apart; a process host has no manager.
///
///     starting ──resources held──▶ running ──SIGHUP──▶ reloading
///        │                          │    ◀──reloaded───┘ │
///        └──────────────────────────┴── SIGTERM, SIGINT ─┴──▶ stopping ──▶ ended
///
/// An order whose cause asks leaves the service where it is: the application begins to end, or refuses.
///
/// While the service starts, reads its configuration again or ends, the manager's time-out is extended again and again; in
/// the first two only as long as the main actor answers, lest a service that hangs start for ever. The end is bounded by the
/// budget of `willTerminate` and needs no such proof.
struct ProcessStateMachine: HostMachine, Hashable {
  // MARK: What happens

  /// Something that happened.
  enum Event: HostEvent, Hashable {
    /// The host has begun its work.
    case started
    /// Signals that were caught, oldest first.
    case signals([SignalRecord])
    /// The application has handled the input with this number; these budgets were overrun.
    case transitionFinished(id: Int, overruns: [BudgetOverrun])
    /// Answers ``Effect/waitForResources``.
    case resourcesHeld
    /// Answers ``Effect/reload``.
    case reloaded
    /// Answers ``Effect/askMainActor``.
    case mainActorAnswered
    /// The program says what it does.
    case status(String)
    /// What keeps managed resources from being acquired has changed; nil if nothing does.
    case trouble(String?)
    /// The time of ``Effect/armDeadline(_:)`` is up.
    case deadlinePassed
    /// The time of ``Effect/armHeartbeat(_:)`` is up.
    case heartbeatDue
    /// The time of ``Effect/armExtension(_:)`` is up.
    case extensionDue
    /// The application was asked whether it may end, and has not answered yet.
    case questionOpened
    /// The application has refused to end.
    case questionRefused
    /// The application has begun to end.
    case applicationBeganToEnd
    /// The application has begun to spend a budget.
    case budgetBegan(ApplicationCallback)
    /// A transition that had a budget has ended; these budgets were overrun.
    case budgetEnded(overruns: [BudgetOverrun])
    /// The application is no longer running; these budgets were overrun.
    case applicationEnded(overruns: [BudgetOverrun])
  }

  // MARK: What is done

  /// An effect that the driver performs.
  ///
  /// Effects are performed in order.
  enum Effect: Sendable, Hashable {
    /// Gives the application an input.
    case send(HostDelivery)
    /// Asks when all that is held while the application runs is held.
    case waitForResources
    /// Posts the reload event and awaits its handlers.
    case reload
    /// Asks whether the main actor answers.
    case askMainActor
    /// Tells the manager, in one datagram.
    case notify([ServiceNotice])
    /// From now on ``Event/deadlinePassed`` comes after so long, instead of after what was armed before; nil: it does not come.
    case armDeadline(Duration?)
    /// From now on ``Event/heartbeatDue`` comes after so long; nil: it does not come.
    case armHeartbeat(Duration?)
    /// From now on ``Event/extensionDue`` comes after so long; nil: it does not come.
    case armExtension(Duration?)
    /// Reports what overran which budget.
    case report(BudgetOverrun)
    /// Ends the process by this signal's default action.
    case die(CaughtSignal)
    /// Ends the host's work with this exit status; if the main actor does not answer, ends the process at once.
    case finish(status: Int32, mainActorAnswers: Bool)
  }

  // MARK: State

  /// Where the service stands.
  enum Phase: Sendable, Hashable {
    /// It is not ready yet.
    case starting
    /// It serves.
    case running
    /// It reads its configuration again.
    case reloading
    /// It ends.
    case stopping
    /// All is done.
    case ended
  }

  /// What the manager wants.
  struct Terms: Sendable, Hashable {
    /// This process.
    var process: Int32
    /// After so long without a ping the manager takes the service for dead; nil where it does not look.
    var watchdog: Duration?
    /// By how much its time-outs are extended at a time.
    var timeoutExtension: Duration
    /// The causes of orders for which the delegate is asked.
    var causesThatAsk: Set<LifecycleCause> = ["Ctrl-C"]
    /// What the application is launched with.
    var launch = SystemInput.launchInBackground
    /// Whether SIGHUP means to read the configuration again; else it is an order to end.
    var hangUpReloads = true
  }

  /// What takes less than this needs no longer than the manager gives by itself.
  static let patience = Duration.milliseconds(250)

  private(set) var phase = Phase.starting
  let budgets: HostBudgets
  let terms: Terms
  /// The orders to end that have arrived.
  private var orders = EndOrders()
  private var questionIsOpen = false
  private var wantsReload = false
  /// Whether the main actor was asked and has not answered yet.
  private var awaitsAnswer = false
  private var awaitsLaunch = false
  /// The budget that runs though the application does not end; nil once it has been reported.
  private var budget: ApplicationCallback?
  /// The delivery whose end is the service's.
  private var awaited: Int?
  private var deliveries = 0
  /// What the program says it does.
  private var status: String?
  /// What keeps managed resources from being acquired.
  private var trouble: String?
  private var effects: [Effect] = []

  var orderTaken: Duration? { orders.began }

  /// A service that has not begun.
  init(budgets: HostBudgets = HostBudgets(), terms: Terms) {
    self.budgets = budgets
    self.terms = terms
  }

  /// Handles an event, and returns the effects for the driver.
  ///
  /// - Complexity: linear in the number of signals.
  mutating func handle(_ event: Event) -> [Effect] {
    guard phase != .ended else { return [] }
    switch event {
    case .started: start()
    case .signals(let records): for record in records where phase != .ended { take(record) }
    case .transitionFinished(let id, let overruns): finishTransition(id, overruns)
    case .resourcesHeld: if phase == .starting { enterRunning([.mainProcess(terms.process)]) }
    case .reloaded: if phase == .reloading { enterRunning([]) }
    case .mainActorAnswered: takeAnswer()
    case .status(let text):
      status = text
      notifyStatus()
    case .trouble(let text): setTrouble(text)
    case .deadlinePassed: passDeadline()
    case .heartbeatDue: beat()
    case .extensionDue: extend()
    case .questionOpened:
      questionIsOpen = true
      // The manager that has sent the order waits for the end already.
      if phase == .running { emit(.armExtension(Self.patience)) }
    case .questionRefused:
      questionIsOpen = false
      if phase == .running { emit(.armExtension(nil)) }
    case .applicationBeganToEnd:
      orders.beginEnd()
      if phase != .stopping { stop(awaiting: nil) }
    case .budgetBegan(let callback):
      // What came before it was not the end's, and costs the end nothing.
      if phase != .stopping { budget = callback }
      emit(.armDeadline(budgets.length(of: callback) + budgets.grace))
    case .budgetEnded(let overruns): endBudget(overruns)
    case .applicationEnded(let overruns):
      // What the host asked for comes with a report, in a moment.
      if phase != .stopping || awaited == nil { finish(overruns, mainActorAnswers: true) }
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
    phase = .running
    emit(.notify([.ready] + notices))
    emit(.armExtension(nil))
    if isFirst, let watchdog = terms.watchdog { emit(.armHeartbeat(watchdog / 2)) }
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

  private mutating func take(_ record: SignalRecord) {
    switch record.signal {
    case .quit: die(.quit)
    case .hangUp where terms.hangUpReloads:
      // One that comes before the service is ready, or during a reload, is obeyed afterwards; many are one.
      wantsReload = true
      reloadIfWanted()
    case .terminate, .interrupt, .hangUp:
      switch orders.take(record, asks: terms.causesThatAsk.contains(record.cause)) {
      case .ask: if phase == .stopping { orders.beginEnd() } else { _ = send(.terminate, record.cause) }
      case .end: if phase != .stopping { stop(awaiting: send(.shutDown, record.cause)) }
      case .copy: break
      case .endAtOnce: die(record.signal)
      }
    case .continue, .stop, .backgroundRead, .backgroundWrite, .windowChange: break
    }
  }

  private mutating func die(_ signal: CaughtSignal) {
    emit(.die(signal))
    phase = .ended
  }

  /// The application ends, within the budget, whatever the order was.
  private mutating func stop(awaiting delivery: Int?) {
    awaited = delivery
    phase = .stopping
    emit(.notify([.stopping]))
    // A ping would make the manager wait for another one.
    emit(.armHeartbeat(nil))
    emit(.armExtension(Self.patience))
    emit(.armDeadline(budgets.willTerminate + budgets.grace))
  }

  private mutating func passDeadline() {
    if phase == .stopping { return finish([budgets.silence(in: .willTerminate)], mainActorAnswers: false) }
    guard let callback = budget else { return }
    budget = nil
    emit(.report(budgets.silence(in: callback)))
  }

  /// A tear-down is over that was not the end; what blocked it may have been reported meanwhile.
  private mutating func endBudget(_ overruns: [BudgetOverrun]) {
    guard phase != .stopping, budget != nil else { return }
    budget = nil
    emit(.armDeadline(nil))
    for overrun in overruns { emit(.report(overrun.namingEachOnce)) }
  }

  private mutating func finishTransition(_ id: Int, _ overruns: [BudgetOverrun]) {
    if id == awaited, phase == .stopping {
      finish(overruns, mainActorAnswers: true)
    } else if awaitsLaunch, phase == .starting {
      awaitsLaunch = false
      emit(.waitForResources)
    }
  }

  private mutating func setTrouble(_ text: String?) {
    guard text != trouble else { return }
    trouble = text
    notifyStatus()
  }

  /// The manager keeps one text: the trouble, and then what the program says.
  private mutating func notifyStatus() {
    emit(.notify([.status([trouble, status].compactMap { $0 }.joined(separator: "; "))]))
  }

  /// The service has ended: in order if no budget was overrun and the main actor answers.
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
    guard !awaitsAnswer else { return }
    awaitsAnswer = true
    emit(.askMainActor)
  }

  private mutating func takeAnswer() {
    awaitsAnswer = false
    if terms.watchdog != nil, phase == .running || phase == .reloading { emit(.notify([.watchdog])) }
  }

  /// Half of the watchdog's time has passed: a main actor that answers in the other half is alive.
  private mutating func beat() {
    guard let watchdog = terms.watchdog, phase == .running || phase == .reloading else { return }
    ask()
    emit(.armHeartbeat(watchdog / 2))
  }

  private mutating func extend() {
    switch phase {
    case .starting, .reloading:
      if !awaitsAnswer { emit(.notify([.extendTimeout(terms.timeoutExtension)])) }
      ask()
    case .stopping: emit(.notify([.extendTimeout(terms.timeoutExtension)]))
    case .running where questionIsOpen: emit(.notify([.extendTimeout(terms.timeoutExtension)]))
    case .running, .ended: return
    }
    // Before it ends, and with room for a manager that is slow to read.
    emit(.armExtension(terms.timeoutExtension / 2))
  }
}
