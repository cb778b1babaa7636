import AppLifecycle

/// What a terminal program does about signals, its terminal and its own tear-down.
///
/// A pure state machine: an event in, a list of effects out.
///
/// It holds no descriptor, reads no clock and calls no other code. ``TerminalHostThread`` performs the effects in order; where
/// an effect is a question, its answer is the next event. Job control in one picture:
///
///                      SIGTSTP                 torn down              committed
///     foreground ────────────────▶ leaving ───────────────▶ suspending ─────────▶ stopped
///      ▲  ▲  │                        │ SIGCONT                  │ SIGCONT           │ SIGCONT
///      │  └──┼────────────────────────┴──────────────────────────┴───────────────────┤ (terminal ours)
///      │     │ terminal lost to another job                                          │
///      │     └───▶ leaving ──▶ background ◀──────────────────────────────────────────┘ (terminal another's)
///      └──── terminal ours again ──┘
///
/// The background tasks of a program that stops end in *leaving*, also if it stops in the background.
///
/// From each of them SIGTERM, SIGINT, SIGHUP and a hang-up lead to terminating, and that to ended; a tear-down under way is
/// finished first. The application is never waited for longer than its budget and a grace.
///
/// The terminal is given back before a tear-down begins, not after it: another process of the same job may stop or end at once,
/// and then the shell takes the terminal while this program still tears down. A terminal that is not read takes the leaving
/// sequences later; the stop or the end waits for that, within the budget.
struct TerminalStateMachine: HostMachine, Hashable {
  // MARK: What happens

  /// Whose the terminal is.
  enum Look: Sendable, Hashable {
    /// The process's group is the terminal's foreground group.
    case foreground
    /// Another group is.
    case background
    /// There is a terminal, but its other end is closed.
    case gone
    /// There never was a controlling terminal.
    case none
  }

  /// Something that happened.
  enum Event: HostEvent, Hashable {
    /// The host has begun its work.
    case started(Look)
    /// Signals that were caught, oldest first. All that had arrived come in one event: a SIGTERM that waited behind a SIGCONT
    /// must not find the program on its way to the foreground.
    case signals([SignalRecord])
    /// Answers ``Effect/lookAtTerminal``; without the question, the look of the once-a-second poll.
    case terminalLook(Look)
    /// Answers ``Effect/takeTerminal``: false if another group owns the terminal.
    case terminalTaken(Bool)
    /// Answers ``Effect/predictStop``; and says whether a signal's handler has left the screen.
    case stopPredicted(isPossible: Bool, screenWasLeft: Bool = false)
    /// Answers ``Effect/stopSelf``: false if the kernel refused.
    case stopEnded(wasContinued: Bool)
    /// Answers ``Effect/lookAtScreen``: whether a signal's handler has left the screen.
    case screenLook(wasLeft: Bool)
    /// A key was pressed that is not the host's.
    case keyPressed
    /// The application was asked whether it may end, and has not answered yet.
    case questionOpened
    /// The application has refused to end.
    case questionRefused
    /// The terminal got the keyboard focus, or lost it.
    case focus(Bool)
    /// Answers ``Effect/giveTerminalBack(within:)``, now or later: false if the terminal did not take the leaving sequences in time.
    case terminalLeft(isComplete: Bool)
    /// The terminal's other end is gone.
    case hangUp
    /// The terminal's input has ended: Ctrl-D on a terminal in canonical mode.
    case endOfInput
    /// The application has handled the input, or finished its background tasks, of this number; these budgets were overrun.
    case transitionFinished(id: Int, overruns: [BudgetOverrun])
    /// The time of the last ``Effect/armDeadline(_:)`` is up.
    case deadlinePassed
    /// The application has begun to end.
    case applicationBeganToEnd
    /// The application has begun to spend a budget.
    case budgetBegan(ApplicationCallback)
    /// A transition that had a budget has ended; what overran it comes with the answer to the host's own input.
    case budgetEnded(overruns: [BudgetOverrun])
    /// The application is no longer running; these budgets were overrun.
    case applicationEnded(overruns: [BudgetOverrun])
  }

  // MARK: What is done

  /// An effect that the driver performs.
  ///
  /// Effects are performed in order.
  enum Effect: Sendable, Hashable {
    /// Asks whose the terminal is.
    case lookAtTerminal
    /// Keeps the modes that the terminal has, sets the program's own, enters its screen, reads its size.
    case takeTerminal
    /// Sets the modes that were kept, throws away unread input and ends the program's screen; what the terminal does not take at
    /// once follows when it does, for so long at most.
    case giveTerminalBack(within: Duration)
    /// Forgets that the terminal is held, or being given back, without touching it: it is gone.
    case dropTerminal
    /// Ends the program's screen on a terminal that another job has got a moment ago, where nothing else would; its modes stay if
    /// that job has set any.
    case leaveLostTerminal
    /// Reads the terminal's size and says that the screen has to be drawn again.
    case requestDisplay
    /// Gives the application an input.
    case send(Delivery)
    /// Gives the application's background tasks what is left of the armed time, but for the grace, to end; a transition of
    /// this number.
    case finishBackgroundTasks(id: Int, cause: LifecycleCause)
    /// The program is a job in the background from now on, or no longer: the background mode *job* begins or ends. A stop for
    /// which background tasks were to end was taken back when it begins.
    case setJobMode(Bool)
    /// From now on ``Event/deadlinePassed`` comes after so long. Replaces an earlier one.
    case armDeadline(Duration)
    /// No ``Event/deadlinePassed`` comes.
    case disarmDeadline
    /// Asks whether a signal's handler has left the screen.
    case lookAtScreen
    /// Asks whether another process could continue this one if it stopped.
    case predictStop
    /// Stops the process, with its whole group if it is the terminal's foreground group; returns when it is continued.
    case stopSelf
    /// Says that the process cannot be stopped here.
    case reportRefusedStop
    /// Says that the process was continued without having stopped itself.
    case reportUncaughtStop
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

  /// Where the program stands between its user, its shell and its application.
  enum Phase: Sendable, Hashable {
    /// Nothing has happened yet.
    case starting
    /// The terminal is the program's.
    case foreground
    /// The terminal is another's, or there is none.
    case background
    /// The application goes to the background; then, where there is a cause for that, its background tasks end and the
    /// process stops.
    case leaving(stopCause: LifecycleCause?)
    /// The application commits *suspended*; then the process stops.
    case suspending
    /// The process is stopped, or was a moment ago.
    case stopped
    /// The application ends.
    case terminating
    /// All is done.
    case ended
  }

  /// Why a question was asked: what its answer leads to.
  enum Question: Sendable, Hashable {
    case launch
    /// After a stop, or one that was refused.
    case resume(foreground: LifecycleCause, background: LifecycleCause)
    /// SIGCONT while the application was leaving.
    case continuedWhileLeaving
    /// SIGCONT that no stop of ours explains.
    case continuedUnexpectedly
    /// The kernel took the program for a background job.
    case refusedByTerminal(LifecycleCause)
    /// The terminal is being taken; this follows.
    case takeToLaunch
    case takeToOpen(foreground: LifecycleCause, background: LifecycleCause)
    case takeToRedraw(orLeave: LifecycleCause)
    /// An order has come, and the application goes on: its screen may have been left for it.
    case screen
    /// The screen was left: the application needs it again.
    case screenWasLeft
    case stop(LifecycleCause)
  }

  /// What became of the question whether the program may end.
  enum Inquiry: Sendable, Hashable {
    /// There is none.
    case none
    /// It is open.
    case open
    /// It was refused, and no key was pressed since.
    case refused
  }

  /// What waits until the terminal has taken the leaving sequences.
  enum AfterLeaving: Sendable, Hashable {
    case stop
    case finish(mainActorAnswers: Bool)
  }

  private(set) var phase = Phase.starting
  let budgets: Budgets
  /// Whether SIGHUP was ignored when the program was started: then it outlives its terminal.
  let ignoresHangUp: Bool
  /// The causes of orders for which the delegate is asked.
  let causesThatAsk: Set<LifecycleCause>

  var question: Question?
  var holdsTerminal = false
  /// Whether the terminal was given back and has not taken the leaving sequences yet.
  var isLeavingTerminal = false
  /// What waits until it has.
  var afterLeaving: AfterLeaving?
  /// Whether the leaving sequences were lost.
  var terminalIsUnrestored = false
  /// Whether there is a terminal that can come back.
  var hasTerminal = false
  var applicationIsSuspended = false
  var focusIsLost = false
  /// Why the program is to end, once that has been decided.
  var termination: LifecycleCause?
  /// Why the application is to be asked, while it was not.
  var wantedQuestion: LifecycleCause?
  var inquiry = Inquiry.none
  /// Why the program is to stop, while that has not begun.
  var wantedStop: LifecycleCause?
  /// The orders to end that have arrived.
  var orders = EndOrders()
  /// When the latest SIGHUP was taken up; not an order that is counted, as shells send it and SIGTERM together.
  var hangUpTaken: Duration?
  /// Whether it was said that the process cannot be stopped.
  var hasReportedRefusal = false
  /// The delivery that the phase waits for.
  var awaited: Int?
  /// Whether the background tasks have been told of the stop to which the phase leads.
  var tasksAreFinishing = false
  /// Overruns that were not reported yet: that has to wait until the terminal is given back.
  var overruns: [BudgetOverrun] = []
  /// The budget that the application has begun to spend on its way to the end; nil if it has not said so.
  var budgetUnderWay: ApplicationCallback?
  private var runsAsJob = false
  private var deliveries = 0
  private var effects: [Effect] = []

  var orderTaken: Duration? { [orders.began, hangUpTaken].compactMap { $0 }.max() }

  /// A program that has not begun.
  init(
    budgets: Budgets = Budgets(), ignoresHangUp: Bool = false, causesThatAsk: Set<LifecycleCause> = ["Ctrl-C"]
  ) {
    self.budgets = budgets
    self.ignoresHangUp = ignoresHangUp
    self.causesThatAsk = causesThatAsk
  }

  /// Whether the terminal's input is the program's to read.
  var readsTerminal: Bool { phase == .foreground && holdsTerminal && question == nil }

  /// Whether the terminal has to be looked at once a second: being given it while running is told by nothing.
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
    case .hangUp: loseTerminal()
    case .endOfInput: termination = termination ?? "end of input"
    case .transitionFinished(let id, let overruns): finishTransition(id, overruns: overruns)
    case .deadlinePassed: passDeadline()
    case .applicationBeganToEnd: followBeginningOfEnd()
    case .budgetBegan(let callback): followBudget(of: callback)
    case .budgetEnded: break
    case .applicationEnded(let overruns): followEnd(overruns)
    }
    settle()
    followJobMode()
    defer { effects = [] }
    return effects
  }

  /// Begins what is wanted and was not possible before.
  private mutating func settle() {
    guard question == nil else { return }
    if afterLeaving != nil { return settleAfterLeaving() }
    guard phase == .foreground || phase == .background else { return }
    if let cause = termination {
      return terminate(cause)
    }
    // Before a stop that was wanted at the same moment: it lets the application put the question aside.
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
  /// Awake and without the terminal the program is a job, with all the time that it wants.
  private mutating func followJobMode() {
    let isJob =
      switch phase {
      case .background: true
      // The mode goes with the process.
      case .terminating, .ended: runsAsJob
      case .starting, .foreground, .leaving, .suspending, .stopped: false
      }
    guard isJob != runsAsJob else { return }
    runsAsJob = isJob
    // It covers all that the application does in the background: a launch, a waking, and the way out.
    effects.insert(.setJobMode(isJob), at: phase == .foreground ? effects.endIndex : 0)
  }
}

// MARK: - Steps

extension TerminalStateMachine {
  mutating func enter(_ phase: Phase) {
    self.phase = phase
    if case .leaving = phase { return }
    tasksAreFinishing = false
  }

  mutating func emit(_ effect: Effect) { effects.append(effect) }

  mutating func ask(_ effect: Effect, _ question: Question) {
    self.question = question
    emit(effect)
  }

  /// Gives the application an input.
  @discardableResult
  mutating func send(_ input: SystemInput, _ cause: LifecycleCause, needsDisplay: Bool = false) -> Int {
    deliveries += 1
    emit(.send(Delivery(id: deliveries, input: input, cause: cause, needsDisplay: needsDisplay)))
    return deliveries
  }

  /// Gives the application an input that the new phase waits for, within a budget and the grace.
  mutating func send(_ input: SystemInput, _ cause: LifecycleCause, within budget: Duration) {
    awaited = send(input, cause)
    emit(.armDeadline(budget + budgets.grace))
  }

  /// Has the background tasks end, within the time that is armed.
  mutating func finishBackgroundTasks(because cause: LifecycleCause) {
    tasksAreFinishing = true
    deliveries += 1
    awaited = deliveries
    emit(.finishBackgroundTasks(id: deliveries, cause: cause))
  }

  mutating func stopWaiting() {
    guard awaited != nil else { return }
    awaited = nil
    emit(.disarmDeadline)
  }

  /// Names the overruns; the terminal has been given back by then.
  mutating func reportOverruns() {
    for overrun in overruns { emit(.report(overrun)) }
    overruns = []
  }

  /// The focus that a screen lost says nothing about the next screen.
  mutating func endFocusLost() {
    guard focusIsLost else { return }
    focusIsLost = false
    send(.endInterruption(.focusLost), "focus")
  }
}
