import AppLifecycle
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import UnixHost

/// What holds whatever happens in whatever order: every short sequence of events, and long random ones.
@Suite struct TerminalStateMachineExplorationTests {
  /// Something that the world around the program does.
  enum Action: Sendable, Hashable, CaseIterable {
    case terminate, terminateAgain, hangUpSignal, stop, `continue`, backgroundRead, windowChange
    case takeTerminalAway, giveTerminal, lineGoesDown, look
    case applicationFinishes, timePasses
    case losesFocus, getsFocus, suspendKey
    case applicationEndsItself
    case interruptKey, interruptSignal, interruptAgain, pressesKey, answersNo, answersYes
    case terminalStalls, terminalTakesAll
    case asksForLoan, loanEnds
    case nextStopIsRefused, nextTakingFails, nextStopEndsInBackground, nextStopMeetsTerminate
  }

  /// A world that answers the machine's questions, performs its effects on a model, and notes what must never be.
  struct World: ExploredWorld, Sendable {
    var hasEnded: Bool { machine.phase == .ended }
    var machine: TerminalStateMachine
    var application = LifecycleStateMachine()
    var faults: [String] = []

    private var owner = TerminalStateMachine.Look.foreground
    private var holdsTerminal = false
    private var deadlineIsArmed = false
    /// The terminal takes nothing.
    private var isStalled = false
    /// The terminal was given back and has not taken the leaving sequences yet.
    private var isLeavingTerminal = false
    /// Deliveries that the application has not finished yet, oldest first.
    private var unfinished: [Int] = []
    /// The suspension that goes on: its delivery suspends the application when it is finished, unless it was revoked.
    private var suspension: Int?
    /// The delivery with which the application ends.
    private var ending: Int?
    private var isJob = false
    /// The deliveries that asked whether the program may end, as long as there is no answer.
    private var questions: [Int] = []
    /// Whether a signal's handler has left the screen.
    private var screenWasLeft = false
    /// Whether the program has asked for a loan that was not answered yet.
    private var asksForLoan = false
    /// Whether a child process has the terminal.
    private var isBorrowed = false
    private var applicationEndsItself = false
    private var endings = 0
    private var stopIsRefused = false
    private var takingFails = false
    private var stopEndsInBackground = false
    private var stopMeetsTerminate = false

    init(startsInForeground: Bool, ignoresHangUp: Bool) {
      machine = TerminalStateMachine(ignoresHangUp: ignoresHangUp)
      owner = startsInForeground ? .foreground : .background
      give(.started(owner))
    }

    mutating func act(_ action: Action) {
      switch action {
      case .terminate: give(signal: .terminate)
      case .terminateAgain: give(.signals([SignalRecord(signal: .terminate, arrived: .seconds(1))]))
      case .hangUpSignal: give(signal: .hangUp)
      case .stop: give(signal: .stop)
      case .continue: give(signal: .continue)
      case .backgroundRead: give(signal: .backgroundRead)
      case .windowChange: give(signal: .windowChange)
      case .takeTerminalAway: if owner == .foreground { owner = .background }
      case .giveTerminal: if owner == .background { owner = .foreground }
      case .lineGoesDown:
        owner = .gone
        if machine.hasTerminal { give(.hangUp) }
      case .look: if machine.pollsTerminal { give(.terminalLook(owner)) }
      case .applicationFinishes: finishOldest()
      case .timePasses:
        endLeaving(isComplete: false)
        guard deadlineIsArmed else { break }
        deadlineIsArmed = false
        give(.deadlinePassed)
      case .losesFocus: if machine.readsTerminal { give(.focus(false)) }
      case .getsFocus: if machine.readsTerminal { give(.focus(true)) }
      case .suspendKey:
        if machine.readsTerminal { give(.signals([SignalRecord(signal: .stop, isFromKernel: true)])) }
      case .terminalStalls: isStalled = true
      case .terminalTakesAll:
        isStalled = false
        endLeaving(isComplete: true)
      case .asksForLoan:
        guard !asksForLoan, !isBorrowed else { break }
        asksForLoan = true
        give(.lending(.begin))
      case .loanEnds:
        guard isBorrowed else { break }
        isBorrowed = false
        give(.lending(.end))
      case .applicationEndsItself:
        guard application.state.isInMemory, unfinished.isEmpty else { break }
        applicationEndsItself = true
        give(.applicationBeganToEnd)
        _ = application.handle(.system(.terminate))
        give(.applicationEnded(overruns: []))
      case .interruptKey: if machine.readsTerminal { give(interrupt: .zero) }
      case .interruptSignal, .interruptAgain:
        screenWasLeft = screenWasLeft || holdsTerminal
        give(interrupt: action == .interruptAgain ? .seconds(1) : .zero)
      case .pressesKey: if machine.readsTerminal { give(.keyPressed) }
      case .answersNo:
        guard !questions.isEmpty else { break }
        unfinished += questions
        questions = []
        give(.questionRefused)
      case .answersYes:
        guard !questions.isEmpty, application.state.runsCode, unfinished.isEmpty else { break }
        unfinished += questions
        questions = []
        applicationEndsItself = true
        give(.applicationBeganToEnd)
        _ = application.handle(.system(.terminate))
        give(.applicationEnded(overruns: []))
      case .nextStopIsRefused: stopIsRefused = true
      case .nextTakingFails: takingFails = true
      case .nextStopEndsInBackground: stopEndsInBackground = true
      case .nextStopMeetsTerminate: stopMeetsTerminate = true
      }
      check()
    }

    private mutating func give(signal: CaughtSignal) { give(.signals([SignalRecord(signal: signal)])) }

    private mutating func give(interrupt arrived: Duration) {
      give(.signals([SignalRecord(signal: .interrupt, isFromKernel: true, arrived: arrived)]))
    }

    private mutating func endLeaving(isComplete: Bool) {
      guard isLeavingTerminal else { return }
      isLeavingTerminal = false
      give(.terminalLeft(isComplete: isComplete))
    }

    private mutating func finishOldest() {
      guard !unfinished.isEmpty else { return }
      let id = unfinished.removeFirst()
      if id == suspension {
        suspension = nil
        _ = application.handle(.system(.suspend))
      }
      if id == ending { give(.applicationEnded(overruns: [])) }
      give(.transitionFinished(id: id))
    }

    /// As the driver does: an event's effects are performed in order, then come the answers.
    private mutating func give(_ event: TerminalStateMachine.Event) {
      var events = [event]
      while !events.isEmpty, endings == 0 {
        for effect in machine.handle(events.removeFirst()) { events += perform(effect) }
      }
    }

    private mutating func perform(_ effect: TerminalStateMachine.Effect) -> [TerminalStateMachine.Event] {
      switch effect {
      case .lookAtTerminal: return [.terminalLook(owner)]
      case .takeTerminal:
        if owner != .foreground { faults.append("takes a terminal that is another's") }
        if isBorrowed { faults.append("takes a terminal that it has lent") }
        if takingFails {
          takingFails = false
          owner = .background
          holdsTerminal = false
          return [.terminalTaken(false)]
        }
        (holdsTerminal, isLeavingTerminal, screenWasLeft) = (true, false, false)
        return [.terminalTaken(true)]
      case .lookAtScreen: return [.screenLook(wasLeft: screenWasLeft)]
      case .giveTerminalBack:
        if !holdsTerminal { faults.append("gives back a terminal that it does not hold") }
        (holdsTerminal, isLeavingTerminal) = (false, isStalled)
        if !isStalled { return [.terminalLeft(isComplete: true)] }
      case .dropTerminal, .leaveLostTerminal: (holdsTerminal, isLeavingTerminal) = (false, false)
      case .answerLending(let error):
        if !asksForLoan { faults.append("lends without being asked") }
        if error == nil, holdsTerminal || isLeavingTerminal { faults.append("lends a terminal that it holds") }
        (asksForLoan, isBorrowed) = (false, error == nil)
      case .bringToForeground, .continueBorrower, .endForegroundOfBorrower, .confirmEndOfLending: break
      case .requestDisplay, .report, .reportRefusedStop: break
      case .send(let delivery):
        send(delivery)
        if delivery.input == .terminate { return [.questionOpened] }
      case .setJobMode(let isOn):
        if isOn == isJob { faults.append("sets the mode *job* twice") }
        isJob = isOn
      case .armDeadline: deadlineIsArmed = true
      case .disarmDeadline: deadlineIsArmed = false
      case .predictStop: return [.stopPredicted(isPossible: true)]
      case .stopSelf: return stop()
      case .die:
        endings += 1
        (holdsTerminal, isLeavingTerminal) = (false, false)
      case .finish:
        endings += 1
        if isLeavingTerminal { faults.append("ends before the terminal is restored") }
        if holdsTerminal { faults.append("ends with the terminal in its own modes") }
        if case .finish(0, _) = effect, application.state != .notRunning {
          faults.append("ends before the application")
        }
      }
      return []
    }

    /// The application takes inputs in the order in which they were sent: none must come when it cannot be taken.
    private mutating func send(_ delivery: TerminalStateMachine.Delivery) {
      guard delivery.input != .terminate else {
        if !application.state.runsCode { faults.append("asks in \(application.state)") }
        if application.state.isForeground, !holdsTerminal { faults.append("asks without a screen") }
        suspension = nil
        return questions.append(delivery.id)
      }
      unfinished.append(delivery.id)
      if delivery.input == .shutDown {
        unfinished += questions
        questions = []
        ending = delivery.id
        // As `HostDelivery` does.
        if application.state == .suspended { _ = application.handle(.system(.wake)) }
      }
      let tearsDown = delivery.input == .home || delivery.input == .shutDown || delivery.inOrder
      if tearsDown, holdsTerminal { faults.append("tears down with the terminal in its own modes") }
      if delivery.input == .launchInBackground, !isJob { faults.append("launches a job without its mode") }
      if delivery.inOrder {
        if isJob { faults.append("suspends a job that goes on") }
        if application.state.isForeground { _ = application.handle(.system(.home)) }
        return suspension = delivery.id
      }
      // The machine cannot know how far a suspension is: the input that revokes it may find the application awake.
      let revokes = [.open, .wake, .shutDown, .suspend].contains(delivery.input)
      if revokes, suspension.take() != nil, delivery.input == .wake, application.state == .background { return }
      let before = application.state
      if case .ignore(let reason)? = application.handle(.system(delivery.input)).first, !applicationEndsItself {
        faults.append("sends \(delivery.input.scriptToken) in \(before): \(reason.rawValue)")
      }
    }

    private mutating func stop() -> [TerminalStateMachine.Event] {
      if holdsTerminal || isLeavingTerminal { faults.append("stops before the terminal is restored") }
      if application.state != .suspended { faults.append("stops in \(application.state)") }
      if machine.termination != nil { faults.append("stops though it is to end") }
      if isJob { faults.append("stops with the mode *job*") }
      if unfinished.contains(where: { $0 == machine.awaited }) { faults.append("stops during a tear-down") }
      defer { (stopIsRefused, stopMeetsTerminate, stopEndsInBackground) = (false, false, false) }
      if stopIsRefused { return [.stopEnded(wasContinued: false)] }
      if owner != .gone { owner = stopEndsInBackground ? .background : .foreground }
      let arrived: [CaughtSignal] = stopMeetsTerminate ? [.continue, .terminate] : [.continue]
      return [.signals(arrived.map { SignalRecord(signal: $0) }), .stopEnded(wasContinued: true)]
    }

    /// What must be true between events.
    private mutating func check() {
      if machine.question != nil { faults.append("leaves a question open") }
      if holdsTerminal != machine.holdsTerminal { faults.append("is wrong about holding the terminal") }
      if isLeavingTerminal != machine.isLeavingTerminal { faults.append("is wrong about leaving the terminal") }
      if machine.phase != .ended, (machine.lending == .lent) != isBorrowed { faults.append("is wrong about a loan") }
      if asksForLoan, !machine.hasTerminal { faults.append("has forgotten to refuse a loan") }
      if machine.phase == .foreground, asksForLoan, !isLeavingTerminal { faults.append("has forgotten to lend") }
      if machine.phase == .stopped || machine.phase == .starting { faults.append("stays in \(machine.phase)") }
      switch machine.phase {
      case .leaving, .suspending, .terminating:
        // The terminal's leaving has a deadline of its own.
        if !deadlineIsArmed, !(isLeavingTerminal && machine.afterLeaving != nil) {
          faults.append("waits in \(machine.phase) without a deadline")
        }
      case .foreground, .background:
        if screenWasLeft, holdsTerminal { faults.append("goes on without the screen that was left") }
        if machine.wantedQuestion != nil { faults.append("has forgotten to ask") }
        if isJob != (machine.phase == .background) { faults.append("in \(machine.phase) it is a job: \(isJob)") }
        if deadlineIsArmed { faults.append("has a deadline in \(machine.phase)") }
        if machine.termination != nil { faults.append("has forgotten to end") }
        if machine.wantedStop != nil { faults.append("has forgotten to stop") }
        if !applicationEndsItself, application.state.isForeground != (machine.phase == .foreground) {
          faults.append("is in \(machine.phase), its application in \(application.state)")
        }
      case .starting, .stopped, .ended: break
      }
      if endings > 1 || (endings == 1) != (machine.phase == .ended) { faults.append("ends \(endings) times") }
    }

    /// However it got here: told to end, and given time, it ends.
    mutating func end() {
      if machine.phase != .ended { act(.terminate) }
      for _ in 0..<20 where machine.phase != .ended { act(.timePasses) }
      if machine.phase != .ended { faults.append("does not end, but stays in \(machine.phase)") }
    }
  }

  private static let worlds = [
    World(startsInForeground: true, ignoresHangUp: false), World(startsInForeground: false, ignoresHangUp: false),
    World(startsInForeground: true, ignoresHangUp: true),
  ]

  @Test(.longRunning, arguments: Action.allCases)
  func everyShortSequenceKeepsTheRules(first: Action) {
    for var world in Self.worlds {
      world.act(first)
      guard world.explore(after: [first], depth: 2) else { return }
    }
  }

  @Test(arguments: 1...300 as ClosedRange<UInt64>)
  func everyLongSequenceKeepsTheRules(seed: UInt64) {
    print("TerminalStateMachineExplorationTests.everyLongSequenceKeepsTheRules: seed \(seed)")
    var random = SplitMix64(seed: seed)
    var world = Self.worlds.randomElement(using: &random)!
    // Orders to end are rare, or nothing would live long.
    let actions = Action.allCases + Array(repeating: Self.common, count: 10).flatMap { $0 }
    world.live(actions, seed: seed, using: &random)
  }

  private static let common: [Action] = [
    .stop, .continue, .applicationFinishes, .applicationFinishes, .takeTerminalAway, .giveTerminal, .look, .losesFocus,
    .getsFocus, .timePasses, .terminalStalls, .terminalTakesAll, .nextStopEndsInBackground, .nextStopIsRefused,
    .backgroundRead, .nextTakingFails, .asksForLoan, .loanEnds,
  ]
}
