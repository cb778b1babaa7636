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
/// An order whose cause asks does not change the phase until the application begins to end; it may refuse.
///
/// While the service starts, reads its configuration again or ends, the host extends the manager's time-out repeatedly.
/// During a start or a reload it does so only while the main actor answers, so that a blocked service runs into the
/// time-out. The end is limited by the budget of `willTerminate`, so it needs no such check.
struct ProcessStateMachine: HostMachine, Hashable {
  // MARK: What happens

  /// An event for the machine.
  enum Event: HostEvent, Hashable {
    /// The host has begun its work.
    case started
    /// Signals that were caught, oldest first.
    case signals([SignalRecord])
    /// The application has handled the input with this number; these budgets were overrun.
    case transitionFinished(id: Int, overruns: [BudgetOverrun])
    /// The answer to ``Effect/waitForResources``.
    case resourcesHeld
    /// The answer to ``Effect/reload``.
    case reloaded
    /// The answer to ``Effect/askMainActor``.
    case mainActorAnswered
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
    /// Waits until all resources of the phase `.running` are held.
    case waitForResources
    /// Posts the reload event and awaits its handlers.
    case reload
    /// Asks whether the main actor answers.
    case askMainActor
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
    /// This process.
    var process: Int32
    /// The time without a ping after which the manager considers the service dead; nil without a watchdog.
    var watchdog: Duration?
    /// The length of each extension of the manager's time-outs.
    var timeoutExtension: Duration
    /// The causes of orders for which the delegate is asked.
    var causesThatAsk: Set<LifecycleCause> = ["Ctrl-C"]
    /// The input that launches the application.
    var launch = SystemInput.launchInBackground
    /// Whether SIGHUP means to read the configuration again; otherwise it is an order to end.
    var hangUpReloads = true
  }

  /// The time after which the manager's time-out is first extended; shorter work needs no extension.
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
  /// The running budget of a tear-down that is not the end; nil after it has been reported.
  private var budget: ApplicationCallback?
  /// The delivery with whose transition the service ends.
  private var awaited: Int?
  private var deliveries = 0
  /// The text of the program about its current work.
  private var status: String?
  /// The text about the resources that cannot be acquired.
  private var trouble: String?
  private var effects: [Effect] = []

  var orderTaken: Duration? { orders.began }

  /// Creates the machine of a service that has not begun.
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
      if phase != .stopping { budget = callback }
      emit(.armDeadline(budgets.length(of: callback) + budgets.grace))
    case .budgetEnded(let overruns): endBudget(overruns)
    case .applicationEnded(let overruns):
      // An end that the host has ordered comes with a report soon.
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
      // A SIGHUP before the service is ready, or during a reload, leads to a reload afterwards; several lead to one.
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

  /// Handles the beginning of the end, and arms its budget.
  private mutating func stop(awaiting delivery: Int?) {
    awaited = delivery
    phase = .stopping
    emit(.notify([.stopping]))
    // Stop the pings: after a ping the manager would expect another one.
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

  /// Handles the end of a tear-down that is not the end of the application; the host may have reported the code that
  /// blocked it.
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

  /// Sends the status text, of which the manager keeps one: the trouble, and then the text of the program.
  private mutating func notifyStatus() {
    emit(.notify([.status([trouble, status].compactMap { $0 }.joined(separator: "; "))]))
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
    guard !awaitsAnswer else { return }
    awaitsAnswer = true
    emit(.askMainActor)
  }

  private mutating func takeAnswer() {
    awaitsAnswer = false
    if terms.watchdog != nil, phase == .running || phase == .reloading { emit(.notify([.watchdog])) }
  }

  /// Asks the main actor after half of the watchdog's time; an answer in the other half is a sign of life.
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
    // Extend again well before the end, because the manager may be slow to read.
    emit(.armExtension(terms.timeoutExtension / 2))
  }
}
