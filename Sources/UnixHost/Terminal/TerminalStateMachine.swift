import AppLifecycle

/// The reactions of a terminal host to signals, its terminal and the tear-down of its application.
///
/// It is a pure state machine, which takes an event and returns a list of effects.
///
/// It holds no descriptor, reads no clock and calls no other code. ``TerminalHostThread`` performs the effects in
/// order. If an effect is a question, the answer is the next event. The diagram shows job control:
///
///                      SIGTSTP                   suspended
///     foreground ────────────────▶ suspending ───────────────▶ stopped
///      ▲  ▲  │                        │   ▲ SIGCONT                │ SIGCONT
///      │  └──┼────────────────────────┼───┼────────────────────────┤ (terminal ours)
///      │     │ terminal lost          │   │ SIGTSTP                │
///      │     └───▶ leaving ─────▶ background ◀─────────────────────┘ (terminal another's)
///      └──── terminal ours again ──┘
///
/// In *suspending* the application tears down, its background tasks end, and it commits *suspended*:
/// `Application.suspend(cause:)` does all three, also for a program that stops in the background.
///
/// From each phase SIGTERM, SIGINT, SIGHUP and a hang-up lead to *terminating*, and from there to *ended*. The
/// application finishes a running tear-down first. The host never waits for the application longer than its budgets and
/// a grace period.
///
/// The host gives the terminal back before a tear-down begins, not after it. Another process of the same job may stop
/// or end at once, and then the shell takes the terminal while this program still tears down. A terminal that is not
/// read accepts the leaving sequences later; the stop or the end waits for that, within the budget.
struct TerminalStateMachine: HostMachine, Hashable {
  // MARK: What happens

  /// The owner of the terminal.
  enum Look: Sendable, Hashable {
    /// The group of this process is the foreground group of the terminal.
    case foreground
    /// Another group is the foreground group.
    case background
    /// The other end of the terminal is closed.
    case gone
    /// The process has never had a controlling terminal.
    case none
  }

  /// An event for the machine.
  enum Event: HostEvent, Hashable {
    /// The host has begun its work.
    case started(Look)
    /// Caught signals, oldest first.
    ///
    /// One event has all signals that had arrived: a SIGTERM after a SIGCONT must not find the program on its way to
    /// the foreground.
    case signals([SignalRecord])
    /// The answer to ``Effect/lookAtTerminal``, or the result of the poll once a second.
    case terminalLook(Look)
    /// The answer to ``Effect/takeTerminal``: false if another group owns the terminal.
    case terminalTaken(Bool)
    /// The answer to ``Effect/predictStop``, and whether a signal handler has left the screen.
    case stopPredicted(isPossible: Bool, screenWasLeft: Bool = false)
    /// The answer to ``Effect/stopSelf``: false if the kernel refused.
    case stopEnded(wasContinued: Bool)
    /// The answer to ``Effect/lookAtScreen``: whether a signal handler has left the screen.
    case screenLook(wasLeft: Bool)
    /// The host has read a key for which the kernel would send this signal in other modes.
    case signalKey(SignalRecord)
    /// The user has pressed a key that the host does not handle itself.
    case keyPressed
    /// The application was asked whether it may end, and has not answered yet.
    case questionOpened
    /// The application has refused to end.
    case questionRefused
    /// The terminal gained (true) or lost the keyboard focus.
    case focus(Bool)
    /// The answer to ``Effect/giveTerminalBack(within:)``, at once or later: false if the terminal did not accept the
    /// leaving sequences in time.
    case terminalLeft(isComplete: Bool)
    /// The program lends the terminal, or takes it back, at a time by the clock of the signal records.
    case lending(Terminal.LendingRequest, at: Duration? = nil)
    /// The terminal's other end is gone.
    case hangUp
    /// The terminal's input has ended: Ctrl-D on a terminal in canonical mode.
    case endOfInput
    /// The application has handled the input with this number.
    case transitionFinished(id: Int)
    /// The time of the last ``Effect/armDeadline(_:)`` has passed.
    case deadlinePassed
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
    /// Asks for the owner of the terminal.
    case lookAtTerminal
    /// Stores the current modes of the terminal, sets those of the program, enters its screen and reads the size.
    case takeTerminal
    /// Restores the stored modes, discards unread input and leaves the program's screen.
    ///
    /// Output that the terminal does not accept at once is written later, within this time.
    case giveTerminalBack(within: Duration)
    /// Marks the terminal as neither held nor being given back, without accessing it, because it is gone.
    case dropTerminal
    /// Leaves the program's screen on a terminal that another job has just taken; keeps modes that this job has set.
    case leaveLostTerminal
    /// Reads the terminal's size, and requests that the screen be drawn again.
    case requestDisplay
    /// Lets the child process use the terminal, or tells the program why it cannot.
    case answerLending(Terminal.LendingError?)
    /// Makes a process group of the child the terminal's foreground group, and continues it.
    case bringToForeground(Int32)
    /// Does so once more, if there is such a group: the program was stopped together with it.
    case continueBorrower
    /// Makes the program's own group the foreground group again, unless another job's group is; in the foreground also if
    /// no process is left in that group.
    case endForegroundOfBorrower
    /// Tells the program that the loan has ended.
    case confirmEndOfLending
    /// Sends an input to the application.
    case send(Delivery)
    /// Begins or ends the background mode *job*.
    case setJobMode(Bool)
    /// Arms the deadline after which ``Event/deadlinePassed`` comes, instead of an earlier one.
    case armDeadline(Duration)
    /// Disarms the deadline.
    case disarmDeadline
    /// Asks whether a signal handler has left the screen.
    case lookAtScreen
    /// Asks whether another process could continue this one if it stopped.
    case predictStop
    /// Stops the process, with its whole group if that is the terminal's foreground group; returns when it is
    /// continued. Signals that have arrived meanwhile may cancel the stop.
    case stopSelf
    /// Reports that the process cannot be stopped here.
    case reportRefusedStop
    /// Reports the code that overran a budget; no code is named if the main actor itself did not answer.
    case report(BudgetOverrun)
    /// Ends the process by this signal's default action.
    case die(CaughtSignal)
    /// Ends the host's work with this exit status; if the main actor does not answer, ends the process at once.
    case finish(status: Int32, mainActorAnswers: Bool)
  }

  typealias Delivery = HostDelivery
  typealias Budgets = HostBudgets

  // MARK: State

  /// The phase of the program between its user, its shell and its application.
  enum Phase: Sendable, Hashable {
    /// The host has not begun its work.
    case starting
    /// The program owns the terminal.
    case foreground
    /// Another job owns the terminal, or there is none.
    case background
    /// The application enters the background, because another job owns the terminal.
    case leaving
    /// The application is suspended, for this cause, and then the process stops.
    case suspending(LifecycleCause)
    /// The process is stopped, or was just continued.
    case stopped
    /// The application ends.
    case terminating
    /// The host's work is done.
    case ended
  }

  /// The purpose of a question to the driver, which determines the reaction to its answer.
  enum Question: Sendable, Hashable {
    case launch
    /// The process continues after a stop, or after a refused one.
    case resume(foreground: LifecycleCause, background: LifecycleCause)
    /// SIGCONT came while the application was leaving.
    case continuedWhileLeaving
    /// SIGCONT came without a stop by the host.
    case continuedUnexpectedly
    /// The kernel treated the program as a background job.
    case refusedByTerminal(LifecycleCause)
    /// The terminal is being taken, and the launch follows.
    case takeToLaunch
    case takeToOpen(foreground: LifecycleCause, background: LifecycleCause)
    case takeToRedraw(orLeave: LifecycleCause)
    /// The child process no longer needs the terminal.
    case lendingEnded
    case takeAfterLending
    /// An order has come and the application continues, so a signal handler may have left its screen.
    case screen
    /// A signal handler has left the screen, and the application needs it again.
    case screenWasLeft
    case stop(LifecycleCause)
  }

  /// The state of the question to the delegate whether the program may end.
  enum Inquiry: Sendable, Hashable {
    /// There is no question.
    case none
    /// The delegate has not answered yet, and the user has pressed no key since it was asked.
    case open
    /// The delegate has not answered yet, and the user has pressed a key, perhaps the answer.
    case answering
    /// The delegate has refused, and the user has pressed no key since it was asked.
    case refused
  }

  /// The action that waits until the terminal has accepted the leaving sequences.
  enum AfterLeaving: Sendable, Hashable {
    case stop
    case finish(mainActorAnswers: Bool)
  }

  private(set) var phase = Phase.starting
  let budgets: Budgets
  /// Whether SIGHUP was ignored when the program was started, so that the program outlives its terminal.
  let ignoresHangUp: Bool

  var question: Question?
  var holdsTerminal = false
  /// Whether the terminal was given back, and has not accepted the leaving sequences yet.
  var isLeavingTerminal = false
  /// The action that waits for the leaving sequences.
  var afterLeaving: AfterLeaving?
  var lending = Lending.none
  /// The time when the latest loan ended.
  var lendingEnded: Duration?
  /// Whether the leaving sequences were lost.
  var terminalIsUnrestored = false
  /// Whether there is a terminal that the program can gain again.
  var hasTerminal = false
  /// Whether the application was suspended, or is being suspended, and was not woken.
  var applicationIsSuspended = false
  var focusIsLost = false
  /// The cause of the end, once it has been decided.
  var termination: LifecycleCause?
  /// The cause of a question to the application that has not been asked yet.
  var wantedQuestion: LifecycleCause?
  var inquiry = Inquiry.none
  /// The cause of a stop that has not begun yet.
  var wantedStop: LifecycleCause?
  /// The orders to end that have arrived.
  var orders: EndOrders
  /// The time when the latest SIGHUP was handled; it does not count as an order, because shells send it together with
  /// SIGTERM.
  var hangUpTaken: Duration?
  /// Whether the host has reported that the process cannot be stopped.
  var hasReportedRefusal = false
  /// The number of the delivery for which the phase waits.
  var awaited: Int?
  /// Overruns that are reported only after the terminal has been given back.
  var overruns: [BudgetOverrun] = []
  /// The budget of the application that runs; nil if none does, or if the host has reported that it was overrun.
  var budgetUnderWay: ApplicationCallback?
  private var runsAsJob = false
  private var deliveries = 0
  private var effects: [Effect] = []

  var repetitionsEnd: Duration? {
    let end = budgets.didEnterBackground + budgets.willTerminate + budgets.longestGrace
    return [orders.repetitionsEnd(within: end), hangUpTaken.map { $0 + EndOrders.copyWindow }].compactMap { $0 }.max()
  }

  /// Creates the machine of a program that has not begun.
  init(
    budgets: Budgets = Budgets(), ignoresHangUp: Bool = false,
    orders: EndOrders = EndOrders(asking: EndOrders.keys)
  ) {
    self.budgets = budgets
    self.ignoresHangUp = ignoresHangUp
    self.orders = orders
  }

  /// Whether the program may read the terminal's input.
  var readsTerminal: Bool { phase == .foreground && holdsTerminal && question == nil }

  /// Whether to check the terminal once a second, because no signal reports that a running program has gained it.
  var pollsTerminal: Bool { phase == .background && hasTerminal }

  /// Handles an event, and returns the effects for the driver.
  ///
  /// - Complexity: linear in the number of signals.
  mutating func handle(_ event: Event) -> [Effect] {
    guard phase != .ended else { return [] }
    switch event {
    case .started(let look):
      hasTerminal = look != .none
      question = .launch
      answer(look)
    case .signals(let records): take(records)
    case .signalKey(let record):
      lendingEnded = nil
      take([record])
    case .terminalLook(let look): answer(look)
    case .terminalTaken(let isTaken): answerTaken(isTaken)
    case .stopPredicted(let isPossible, let screenWasLeft):
      answerStop(isPossible: isPossible, screenWasLeft: screenWasLeft)
    case .screenLook(let wasLeft): answerScreen(wasLeft: wasLeft)
    case .keyPressed: followKey()
    case .questionOpened: followQuestion(.open)
    case .questionRefused: followQuestion(.refused)
    case .stopEnded(let wasContinued): resume(wasContinued: wasContinued)
    case .focus(let isFocused): takeFocus(isFocused)
    case .terminalLeft(let isComplete): followLeaving(isComplete: isComplete)
    case .lending(.begin, _): beginLending()
    case .lending(.bringToForeground(let group), _):
      // Also while the program is about to stop: the group is needed when it continues.
      if lending == .lent { emit(.bringToForeground(group)) }
    case .lending(.end, let time): endLending(at: time)
    case .hangUp: loseTerminal()
    case .endOfInput: termination = termination ?? "end of input"
    case .transitionFinished(let id): finishTransition(id)
    case .deadlinePassed: passDeadline()
    case .applicationBeganToEnd: followBeginningOfEnd()
    case .budgetBegan(let callback): followBudget(of: callback)
    case .budgetEnded(let overruns): endBudget(overruns)
    case .applicationEnded(let overruns): followEnd(overruns)
    }
    settle()
    followJobMode()
    defer { effects = [] }
    return effects
  }

  /// Begins an action that was wanted and has become possible.
  private mutating func settle() {
    guard question == nil else { return }
    settleLending()
    if afterLeaving != nil { return settleAfterLeaving() }
    switch phase {
    case .foreground, .background, .leaving, .suspending: if let cause = termination { return terminate(cause) }
    case .starting, .stopped, .terminating, .ended: return
    }
    guard phase == .foreground || phase == .background else { return }
    // Ask before a stop that is wanted at the same time; the stop lets the application put the question aside.
    if let cause = wantedQuestion {
      wantedQuestion = nil
      send(.terminate, cause)
    }
    if let cause = wantedStop {
      wantedStop = nil
      ask(.predictStop, .stop(cause))
    }
  }
}

// MARK: - The background mode

extension TerminalStateMachine {
  /// Sets the background mode *job*: a running program without the terminal has it, and so has no time limit.
  private mutating func followJobMode() {
    let isJob =
      switch phase {
      case .background: true
      // The mode ends with the process.
      case .terminating, .ended: runsAsJob
      case .starting, .foreground, .leaving, .suspending, .stopped: false
      }
    guard isJob != runsAsJob else { return }
    runsAsJob = isJob
    // The mode must cover the whole stay in the background: a launch, a wake, and the way to the foreground.
    effects.insert(.setJobMode(isJob), at: phase == .foreground ? effects.endIndex : 0)
  }
}

// MARK: - Steps

extension TerminalStateMachine {
  mutating func enter(_ phase: Phase) {
    self.phase = phase
    if phase == .terminating { refuseLending() }
  }

  mutating func emit(_ effect: Effect) { effects.append(effect) }

  mutating func ask(_ effect: Effect, _ question: Question) {
    self.question = question
    emit(effect)
  }

  /// Sends an input to the application.
  @discardableResult
  mutating func send(
    _ input: SystemInput, _ cause: LifecycleCause, needsDisplay: Bool = false, inOrder: Bool = false
  ) -> Int {
    deliveries += 1
    emit(
      .send(Delivery(id: deliveries, input: input, cause: cause, needsDisplay: needsDisplay, inOrder: inOrder)))
    return deliveries
  }

  /// Waits in the new phase for the end of a delivery, within a budget and the grace period.
  mutating func wait(for delivery: Int, within budget: Duration) {
    awaited = delivery
    emit(.armDeadline(budget + budgets.grace))
  }

  mutating func stopWaiting() {
    guard awaited != nil else { return }
    awaited = nil
    emit(.disarmDeadline)
  }

  /// Reports the overruns, after the terminal has been given back.
  mutating func reportOverruns() {
    for overrun in overruns { emit(.report(overrun)) }
    overruns = []
  }

  /// Ends the interruption *focus lost*, because the focus of the last screen says nothing about the next one.
  mutating func endFocusLost() {
    guard focusIsLost else { return }
    focusIsLost = false
    send(.endInterruption(.focusLost), "focus")
  }
}
