import AppLifecycle
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import UnixHost

/// What holds of sleep, lock and shutdown whatever happens in whatever order: every short sequence, and long random ones.
@Suite struct LogindExplorationTests {
  /// Something that the world around the machine does.
  enum Action: Sendable, Hashable, CaseIterable {
    case logindComes, logindGoes
    case sleeps, wakes, sleepsAndWakes, locks, unlocks, shutsDown
    case grants, refuses
    case applicationFinishes, timePasses
    case userComes
    case hostLeaves, hostOpens, hostStops, hostGoesOnInForeground, hostGoesOnBehind, hostTerminates, hostAsks
  }

  /// A logind, a host and an application that the machine stands between; it notes what must never be.
  struct World: ExploredWorld, Sendable {
    let hasEnded = false
    var machine = LogindStateMachine()
    var application = LifecycleStateMachine()
    var faults: [String] = []

    /// Where the host has the application, as far as it knows; it tears nothing down twice.
    private enum Place { case front, behind, stopped, ended }
    private struct Unfinished {
      var id: Int
      var isHosts: Bool
      /// The state before a suspension; nil for another input.
      var suspendsFrom: ApplicationState?
      /// Whether a later input has revoked the suspension.
      var isRevoked = false
    }
    private var place = Place.front
    private var logindIsThere = false
    private var machineSleeps = false
    private var isShuttingDown = false
    private var sessionIsLocked = false
    /// Inhibitors that logind counts, and requests that it has not answered.
    private var inhibitors = 0
    private var requests = 0
    private var wasRefused = false
    private var delayHasPassed = false
    private var deadlineIsArmed = false
    /// What the application has not finished yet, oldest first.
    private var unfinished: [Unfinished] = []
    private var deliveries = 0
    /// The last news that the machine was given.
    private var toldOfSleep = false

    init() {
      _ = application.handle(.system(.launch))
    }

    mutating func act(_ action: Action) {
      switch action {
      case .logindComes:
        guard !logindIsThere else { break }
        (logindIsThere, wasRefused, toldOfSleep) = (true, false, machineSleeps)
        give(.connected(.init(delay: .seconds(3), news: machineSleeps ? [.sleep(true)] : [])))
      case .logindGoes:
        guard logindIsThere else { break }
        (logindIsThere, requests, toldOfSleep) = (false, 0, false)
        give(.disconnected)
        if inhibitors != 0 { faults.append("keeps an inhibitor that the machine does not count") }
        // It forgets a sleep that it was preparing.
        machineSleeps = false
      case .sleeps: news(.sleep(true))
      case .wakes: news(.sleep(false))
      case .sleepsAndWakes:
        guard logindIsThere, !machineSleeps, place != .ended else { break }
        let before = unfinished.count
        give(.news([.sleep(true), .sleep(false)]))
        if unfinished.count != before { faults.append("goes to bed for a sleep that is over") }
      case .locks: news(.lock(true))
      case .unlocks: news(.lock(false))
      case .shutsDown: news(.shutdown(true))
      case .grants:
        guard requests > 0 else { break }
        requests -= 1
        inhibitors += 1
        give(.inhibitorObtained)
      case .refuses:
        guard requests > 0 else { break }
        requests -= 1
        wasRefused = true
        give(.inhibitorRefused)
      case .applicationFinishes: finishOldest()
      case .timePasses:
        guard deadlineIsArmed else { break }
        (deadlineIsArmed, delayHasPassed) = (false, true)
        give(.deadlinePassed)
        if inhibitors > 0 { faults.append("holds an inhibitor past logind's delay") }
      case .userComes: if place == .front { give(.userIsPresent) }
      case .hostLeaves: if place == .front { host(.home, .behind) }
      case .hostOpens: if place == .behind { host(.open, .front) }
      case .hostStops:
        guard place == .front || place == .behind else { break }
        host(.suspend, .stopped, inOrder: true)
        finishAll()
        give(.processWillStop)
        if inhibitors > 0 { faults.append("stops with an inhibitor") }
      case .hostGoesOnInForeground: goOn(.open, .front)
      case .hostGoesOnBehind: goOn(.wake, .behind)
      case .hostTerminates: terminate()
      case .hostAsks: if place == .front || place == .behind { host(.terminate, place) }
      }
      check()
    }

    private mutating func goOn(_ input: SystemInput, _ next: Place) {
      guard place == .stopped else { return }
      wasRefused = false
      give(.processDidContinue)
      host(input, next)
    }

    private mutating func terminate() {
      guard place != .ended else { return }
      if place == .stopped {
        give(.processDidContinue)
        place = .behind
      }
      host(.shutDown, place)
    }

    /// Nothing is told to a process that is stopped; it hears all at once when it goes on.
    private mutating func news(_ news: LogindStateMachine.News) {
      guard logindIsThere, place != .stopped, place != .ended else { return }
      switch news {
      case .sleep(let isBeginning):
        guard isBeginning != machineSleeps else { return }
        machineSleeps = isBeginning
        if !isBeginning { wasRefused = false }
        toldOfSleep = isBeginning
      case .lock(let isBeginning): sessionIsLocked = isBeginning
      case .shutdown: isShuttingDown = true
      }
      give(.news([news]))
    }

    private mutating func host(_ input: SystemInput, _ next: Place, inOrder: Bool = false) {
      deliveries += 1
      place = next
      give(.hostSends(HostDelivery(id: deliveries, input: input, cause: "host", inOrder: inOrder)))
    }

    private mutating func finishOldest() {
      guard !unfinished.isEmpty else { return }
      let next = unfinished.removeFirst()
      if let from = next.suspendsFrom {
        if !next.isRevoked { _ = application.handle(.system(.suspend)) }
        if !next.isHosts { give(.suspensionEnded(id: next.id, from: from, to: application.state)) }
      }
      if application.state == .notRunning, unfinished.isEmpty, place != .ended {
        place = .ended
        give(.hostEnds)
      }
    }

    private mutating func finishAll() { while !unfinished.isEmpty { finishOldest() } }

    private mutating func give(_ event: LogindStateMachine.Event) {
      for effect in machine.handle(event) { perform(effect) }
    }

    private mutating func perform(_ effect: LogindStateMachine.Effect) {
      switch effect {
      case .requestInhibitor:
        if !logindIsThere { faults.append("asks for an inhibitor where there is no logind") }
        if machineSleeps, toldOfSleep { faults.append("asks for an inhibitor while the machine sleeps") }
        if requests + inhibitors > 0 { faults.append("asks for a second inhibitor") }
        requests += 1
      case .releaseInhibitor:
        if inhibitors != 1 { faults.append("releases \(inhibitors) inhibitors") }
        inhibitors -= 1
      case .pass(let delivery): send(delivery, isHosts: true)
      case .send(let delivery): send(delivery, isHosts: false)
      case .suspend(let id, let budget):
        if !deadlineIsArmed, !delayHasPassed { faults.append("suspends without a limit") }
        if budget <= .zero { faults.append("gives the tear-down no time") }
        suspend(id, isHosts: false)
      case .revokeSuspension: revoke()
      case .reportDelay: break
      case .armDeadline(let duration):
        deadlineIsArmed = duration != nil
        delayHasPassed = false
      }
    }

    /// The application takes inputs in the order in which they were sent.
    private mutating func send(_ delivery: HostDelivery, isHosts: Bool) {
      let before = application.state
      guard delivery.input != .terminate else {
        if before == .suspended { faults.append("asks a suspended application") }
        revoke()
        return unfinished.append(Unfinished(id: delivery.id, isHosts: isHosts))
      }
      if delivery.inOrder { return suspend(delivery.id, isHosts: isHosts) }
      if [.open, .wake, .unlock, .shutDown].contains(delivery.input) { revoke() }
      // As `HostDelivery` does.
      if delivery.input == .shutDown, before == .suspended { _ = application.handle(.system(.wake)) }
      let effects = application.handle(.system(delivery.input))
      if case .ignore(let reason)? = effects.first {
        // The question whether it is in the foreground is asked whatever the answer may be.
        let isQuestion = delivery.input == .home && (!isHosts || machine.isAsleep)
        // What ends has nowhere to go.
        let isOver = machine.phase == .ending && isHosts
        if reason == .screenLocked, !isQuestion, !isOver {
          faults.append("sends \(delivery.input.scriptToken) to a locked screen")
        }
        if reason == .alreadyLocked || reason == .notLocked { faults.append("tells of the lock twice") }
      }
      if delivery.input == .shutDown, before.isInMemory, !effects.contains(.call(.willTerminate)) {
        faults.append("ends in \(before) without a word")
      }
      unfinished.append(Unfinished(id: delivery.id, isHosts: isHosts))
    }

    /// The application goes to the background at once; the rest follows when the delivery is finished.
    private mutating func suspend(_ id: Int, isHosts: Bool) {
      let from = application.state
      if from.isForeground { _ = application.handle(.system(.home)) }
      unfinished.append(Unfinished(id: id, isHosts: isHosts, suspendsFrom: from))
    }

    private mutating func revoke() { for index in unfinished.indices { unfinished[index].isRevoked = true } }

    /// What must be true between events.
    private mutating func check() {
      if inhibitors > 1 { faults.append("holds \(inhibitors) inhibitors") }
      if (inhibitors == 1) != (machine.inhibitor == .held) { faults.append("is wrong about its inhibitor") }
      if place == .ended || !logindIsThere {
        if inhibitors > 0 { faults.append("holds an inhibitor without a purpose") }
        return
      }
      let isTearingDown = machine.phase != .awake && machine.phase != .asleep
      switch machine.phase {
      case .awake:
        if toldOfSleep { faults.append("is awake while the machine sleeps") }
        if deadlineIsArmed { faults.append("has a deadline while awake") }
        if place != .stopped, !wasRefused, inhibitors + requests == 0 { faults.append("has no inhibitor while awake") }
        if place != .stopped, unfinished.isEmpty { checkState() }
      case .suspending:
        if unfinished.isEmpty { faults.append("waits in \(machine.phase) for nothing") }
        if toldOfSleep, !deadlineIsArmed, inhibitors > 0 { faults.append("holds its inhibitor without a limit") }
        if !toldOfSleep, deadlineIsArmed { faults.append("has a deadline for a sleep that was called off") }
      case .asleep:
        if inhibitors > 0 { faults.append("delays a sleep that it is ready for") }
        if application.state != .suspended { faults.append("sleeps in \(application.state)") }
        if !toldOfSleep { faults.append("sleeps while the machine is awake") }
      case .ending: break
      case .ended: faults.append("has ended too early")
      }
      if isTearingDown, place == .stopped, inhibitors > 0 { faults.append("is stopped with an inhibitor") }
      if isShuttingDown, machine.phase != .ending { faults.append("does not shut down") }
    }

    /// Awake, the application is where the host has it, but for a lock.
    private mutating func checkState() {
      let isForeground = application.state.isForeground
      switch place {
      case .front:
        if !application.state.runsCode { faults.append("is left \(application.state)") }
        if !isForeground, !sessionIsLocked { faults.append("does not come back to the foreground") }
      case .behind: if application.state != .background { faults.append("behind, it is \(application.state)") }
      case .stopped, .ended: break
      }
    }

    /// However it got here: woken, unlocked and given time, the application is where the host has it; then it ends.
    mutating func end() {
      if place == .stopped { act(.hostGoesOnInForeground) }
      act(.logindComes)
      if place != .ended, machine.phase != .ending {
        act(.wakes)
        act(.unlocks)
        finishAll()
        if !unfinished.isEmpty { faults.append("waits for ever") }
        check()
        if place != .ended, !wasRefused {
          act(.grants)
          if place != .ended, machine.inhibitor != .held { faults.append("does not take its inhibitor again") }
        }
      }
      act(.hostTerminates)
      finishAll()
      if application.state != .notRunning || place != .ended { faults.append("does not end") }
      if inhibitors > 0 { faults.append("ends with an inhibitor") }
    }
  }

  @Test(.longRunning, arguments: Action.allCases)
  func everyShortSequenceKeepsTheRules(first: Action) {
    for beginning in Self.beginnings {
      var world = World()
      for action in beginning + [first] { world.act(action) }
      guard world.explore(after: beginning + [first], depth: beginning.count == 2 ? 3 : 2) else { return }
    }
  }

  /// The tear-down may take longer than the delay of a sleep that was called off; the next sleep has its own.
  @Test func eachSleepHasItsOwnDelay() {
    var machine = LogindStateMachine()
    _ = machine.handle(.connected(LogindStateMachine.Terms(delay: .seconds(5))))
    _ = machine.handle(.inhibitorObtained)
    #expect(
      machine.handle(.news([.sleep(true)])) == [
        .armDeadline(.seconds(5)), .suspend(id: 1, within: .milliseconds(4500)),
      ])
    #expect(machine.handle(.news([.sleep(false)])) == [.revokeSuspension, .armDeadline(nil)])
    #expect(machine.handle(.news([.sleep(true)])) == [.armDeadline(.seconds(5))])
    #expect(machine.inhibitor == .held)
  }

  /// Where the sequences begin: before logind has come, and in each phase.
  private static let beginnings: [[Action]] = [
    [], [.logindComes, .grants], [.logindComes, .grants, .sleeps], [.logindComes, .sleeps, .applicationFinishes],
    [.logindComes, .grants, .sleeps] + Array(repeating: .applicationFinishes, count: 2),
    [.logindComes, .grants, .sleeps] + Array(repeating: .applicationFinishes, count: 3),
    [.logindComes, .grants, .locks, .sleeps] + Array(repeating: .applicationFinishes, count: 4),
    [.logindComes, .grants, .shutsDown],
  ]

  @Test(arguments: 1...300 as ClosedRange<UInt64>)
  func everyLongSequenceKeepsTheRules(seed: UInt64) {
    print("LogindExplorationTests.everyLongSequenceKeepsTheRules: seed \(seed)")
    var random = SplitMix64(seed: seed)
    var world = World()
    world.act(.logindComes)
    // Orders to end are rare, or nothing would live long.
    let actions =
      Action.allCases.filter { $0 != .hostTerminates && $0 != .shutsDown }
      + Array(repeating: [.applicationFinishes, .grants], count: 4).flatMap { $0 }
    world.live(actions, seed: seed, using: &random)
  }
}
