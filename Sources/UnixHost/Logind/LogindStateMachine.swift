import AppLifecycle

/// What a host does about the machine's sleep, its shutdown and the lock of its session, as logind tells of them.
///
/// A pure state machine: an event in, a list of effects out. It stands between a host's own machine and the application: what
/// the host sends passes through it (``Event/hostSends(_:)``), for a machine that is about to sleep runs nothing.
///
///              PrepareForSleep(true)         in background       tasks have ended         suspended
///     awake ────────────────────────▶ leaving ─────────▶ finishing ─────────▶ suspending ─────────▶ asleep
///       ▲                                │ PrepareForSleep(false), or logind is gone                  │
///       └────────────────────────────────┴────────────────────────────────────────────────────────────┘
///
/// PrepareForShutdown(true), or an order to end that the host passes on, leads from each of them to ending.
///
/// The inhibitor, which delays sleep and shutdown, is asked for in *awake*, held through the tear-down and released as soon
/// as that is over, or logind's delay has passed. While the process itself is stopped it is not held: it would delay every
/// sleep for nothing.
struct LogindStateMachine: Sendable, Hashable {
  // MARK: What happens

  /// What logind says unasked.
  enum News: Sendable, Hashable {
    /// The machine is about to sleep; or it has woken, or does not sleep after all.
    case sleep(Bool)
    /// The machine is about to shut down; or it does not after all.
    case shutdown(Bool)
    /// The session is locked; or not any more.
    case lock(Bool)
  }

  /// What logind answers at first.
  struct Terms: Sendable, Hashable {
    /// The longest delay by an inhibitor: `InhibitDelayMaxUSec`.
    var delay: Duration
    /// News from before the connection.
    var news: [News] = []
  }

  /// Something that happened.
  enum Event: Sendable, Hashable {
    /// Logind answers; from now on its news come.
    case connected(Terms)
    /// Logind is gone, or the bus: no news come any more.
    case disconnected
    /// What logind said, oldest first. All that had arrived comes in one event: a process that was stopped meanwhile must not
    /// be suspended for a sleep that is over.
    case news([News])
    /// Answers ``Effect/requestInhibitor``.
    case inhibitorObtained
    /// Answers ``Effect/requestInhibitor``.
    case inhibitorRefused
    /// The host has an input for the application.
    case hostSends(HostDelivery)
    /// A key was pressed, or the terminal got the focus: the user is present, whatever logind said of a lock.
    case userIsPresent
    /// The application has handled the input, or finished its background tasks, of this number; these budgets were overrun.
    case transitionFinished(id: Int, hadEffect: Bool, overruns: [BudgetOverrun])
    /// The time of the last ``Effect/armDeadline(_:)`` is up.
    case deadlinePassed
    /// The host stops the process, with Ctrl-Z say.
    case processWillStop
    /// It goes on.
    case processDidContinue
    /// The host ends its work.
    case hostEnds
  }

  // MARK: What is done

  /// An effect that the driver performs.
  ///
  /// Effects are performed in order.
  enum Effect: Sendable, Hashable {
    /// Asks logind for an inhibitor.
    case requestInhibitor
    /// Lets go of the inhibitor: logind waits no longer for this program.
    case releaseInhibitor
    /// Gives the application an input of the host's; its end is told to the host.
    case pass(HostDelivery)
    /// Gives the application an input; its end is told here.
    case send(HostDelivery)
    /// Gives the application's background tasks what is left of the armed time, but for a grace, to end.
    case finishBackgroundTasks(id: Int, cause: LifecycleCause)
    /// Takes that back.
    case stopFinishingBackgroundTasks
    /// From now on ``Event/deadlinePassed`` comes after so long; nil: it does not come.
    case armDeadline(Duration?)
    /// Reports the code that overran a budget.
    case report(BudgetOverrun)
    /// Says that logind's delay has passed before the tear-down was over.
    case reportDelay(Duration)
  }

  // MARK: State

  /// Where the application stands between its host and the machine's sleep.
  enum Phase: Sendable, Hashable {
    /// The host has its way.
    case awake
    /// The application goes to the background.
    case leaving
    /// Its background tasks end.
    case finishing
    /// It commits *suspended*.
    case suspending
    /// The machine may sleep.
    case asleep
    /// The application ends.
    case ending
    /// All is done.
    case ended
  }

  /// Where the application goes after the sleep.
  enum Return: Sendable, Hashable {
    case foreground
    case background
    /// It stays as it is: it was not running, or the host's own stop had suspended it.
    case nowhere
  }

  /// How far the inhibitor is ours.
  enum Inhibitor: Sendable, Hashable {
    case none
    case requested
    case held
  }

  private(set) var phase = Phase.awake
  private(set) var inhibitor = Inhibitor.none
  private(set) var isConnected = false
  private var delay = Duration.seconds(5)
  /// The session is locked, as far as is known.
  private var isLocked = false
  /// The application has been told that it is.
  private var toldOfLock = false
  /// What brings the application where it belongs once the session is unlocked: an end of the lock by itself brings it where
  /// it was when it was told of the lock.
  private var owed: SystemInput?
  /// Where the application was before the sleep.
  private var origin = Return.nowhere
  /// Where the host wants it since; nil where it has not said so.
  private var wanted: Return?
  /// The sleep was over before the tear-down was.
  private var isComingBack = false
  /// Whether the application was suspended, by this machine or by the host, and has not been woken.
  private var mayBeSuspended = false
  private var processIsStopped = false
  private var inhibitorWasRefused = false
  private var delayHasPassed = false
  /// What the phase waits for.
  private var awaited: Int?
  private var deliveries = 0
  private var effects: [Effect] = []

  /// Whether the application is on its way to sleep, or sleeps.
  var isAsleep: Bool {
    switch phase {
    case .leaving, .finishing, .suspending, .asleep: true
    case .awake, .ending, .ended: false
    }
  }

  /// Whether the application knows that time passes without it.
  var hasToldOfSleep: Bool { phase == .suspending || phase == .asleep }

  /// Handles an event, and returns the effects for the driver.
  ///
  /// - Complexity: linear in the number of news.
  mutating func handle(_ event: Event) -> [Effect] {
    switch event {
    case .connected(let terms):
      isConnected = true
      delay = terms.delay
      inhibitorWasRefused = false
      take(terms.news)
    case .disconnected: disconnect()
    case .news(let news): take(news)
    // One that came late for its purpose is released at once.
    case .inhibitorObtained: inhibitor = .held
    case .inhibitorRefused:
      inhibitor = .none
      inhibitorWasRefused = true
    case .hostSends(let delivery): admit(delivery)
    case .userIsPresent: yieldToUser()
    case .transitionFinished(let id, let hadEffect, let overruns):
      for overrun in overruns { emit(.report(overrun.namingEachOnce)) }
      if id == awaited { advance(hadEffect: hadEffect) }
    case .deadlinePassed:
      guard isAsleep || phase == .ending else { break }
      delayHasPassed = true
      if inhibitor == .held { emit(.reportDelay(delay)) }
    case .processWillStop: processIsStopped = true
    case .processDidContinue:
      processIsStopped = false
      inhibitorWasRefused = false
    case .hostEnds:
      phase = .ended
      emit(.armDeadline(nil))
    }
    settleInhibitor()
    defer { effects = [] }
    return effects
  }
}

// MARK: - The inhibitor

extension LogindStateMachine {
  /// Whether the inhibitor serves a purpose.
  private var wantsInhibitor: Bool {
    isConnected && !processIsStopped && !delayHasPassed && phase != .asleep && phase != .ended
  }

  private mutating func settleInhibitor() {
    // Logind grants none while it prepares for what one would delay.
    let mayRequest = wantsInhibitor && phase == .awake && !inhibitorWasRefused
    switch inhibitor {
    case .none:
      guard mayRequest else { return }
      inhibitor = .requested
      emit(.requestInhibitor)
    case .requested: break
    case .held:
      guard !wantsInhibitor else { return }
      inhibitor = .none
      emit(.releaseInhibitor)
    }
  }

  private mutating func disconnect() {
    isConnected = false
    // The answer to a request will not come; and what cannot be told to sleep must not delay it.
    if inhibitor == .held { emit(.releaseInhibitor) }
    inhibitor = .none
    // The end of either would not be reported.
    isLocked = false
    wake()
    settleLock()
  }
}

// MARK: - News

extension LogindStateMachine {
  /// Takes all that logind has said; decides only once the last is known.
  private mutating func take(_ news: [News]) {
    var sleeps: Bool?
    var shutsDown = false
    for item in news {
      switch item {
      case .sleep(let isBeginning): sleeps = isBeginning
      // What has begun to end cannot be taken back.
      case .shutdown(let isBeginning): shutsDown = shutsDown || isBeginning
      case .lock(let isBeginning): isLocked = isBeginning
      }
    }
    guard !shutsDown else { return shutDown() }
    if sleeps == false { wake() }
    settleLock()
    if sleeps == true { goToSleep() }
  }

  private mutating func shutDown() {
    switch phase {
    case .awake, .leaving, .finishing, .suspending, .asleep:
      beginEnd(because: "shutdown", wakes: true)
      send(.shutDown, "shutdown")
      emit(.armDeadline(delay))
    case .ending: emit(.armDeadline(delay))
    case .ended: break
    }
  }

  private mutating func goToSleep() {
    switch phase {
    case .awake:
      phase = .leaving
      (origin, wanted, isComingBack) = (.nowhere, nil, false)
      // It is ignored where the application is not in front: so is learnt, once all is done that is under way, where it was.
      awaited = send(.home, "sleep")
      emit(.armDeadline(delay))
    case .leaving, .finishing, .suspending: isComingBack = false
    // The end, too, is in the machine's way.
    case .ending: emit(.armDeadline(delay))
    case .asleep, .ended: break
    }
  }

  /// The machine has woken, does not sleep after all, or its waking cannot be reported.
  private mutating func wake() {
    switch phase {
    case .awake: inhibitorWasRefused = false
    case .leaving, .suspending: isComingBack = true
    case .finishing:
      isComingBack = true
      emit(.stopFinishingBackgroundTasks)
    case .asleep: comeBack()
    case .ending, .ended: break
    }
  }

  /// Brings the application back to where it was, or where the host wants it since.
  private mutating func comeBack() {
    phase = .awake
    (awaited, isComingBack) = (nil, false)
    (delayHasPassed, inhibitorWasRefused) = (false, false)
    emit(.armDeadline(nil))
    let place = wanted ?? origin
    if place != .nowhere { mayBeSuspended = false }
    switch place {
    // While it is told of a lock it cannot be opened.
    case .foreground where isLocked || toldOfLock:
      owed = .open
      send(.wake, "wake-up")
    case .foreground: send(.open, "wake-up", needsDisplay: true)
    case .background: send(.wake, "wake-up")
    case .nowhere: break
    }
    settleLock()
  }
}

// MARK: - The lock

extension LogindStateMachine {
  /// Tells the application of a lock or its end; one that sleeps is told when it has woken.
  private mutating func settleLock() {
    guard phase == .awake, isLocked != toldOfLock else { return }
    toldOfLock = isLocked
    guard !isLocked else { return _ = send(.lock, "session lock") }
    send(.unlock, "session unlock", needsDisplay: true)
    guard let input = owed else { return }
    owed = nil
    send(input, "session unlock", needsDisplay: input == .open)
  }

  /// The user is at the terminal: a lock is over, whatever logind said of it.
  ///
  /// Some desktops report the beginning of a lock alone.
  private mutating func yieldToUser() {
    guard phase == .awake else { return }
    isLocked = false
    settleLock()
  }
}

// MARK: - The host

extension LogindStateMachine {
  private mutating func admit(_ delivery: HostDelivery) {
    switch delivery.input {
    case .terminate where isAsleep:
      // The machine waits for no answer.
      var end = delivery
      end.input = .shutDown
      return admit(end)
    case .shutDown:
      if phase != .ended { beginEnd(because: delivery.cause, wakes: isAsleep) }
    case .open where isAsleep: return wanted = .foreground
    case .wake where isAsleep: return wanted = .background
    case .home where isAsleep:
      wanted = .background
      if toldOfLock { owed = .home }
    case .open, .home:
      owed = nil
      yieldToUser()
    case .suspend:
      mayBeSuspended = true
      if isAsleep { wanted = .nowhere }
    default: break
    }
    if delivery.input == .open || delivery.input == .wake { mayBeSuspended = false }
    emit(.pass(delivery))
  }

  /// The application is about to end in full order: a suspended one would be told nothing.
  private mutating func beginEnd(because cause: LifecycleCause, wakes: Bool) {
    if phase == .finishing { emit(.stopFinishingBackgroundTasks) }
    if wakes, mayBeSuspended { send(.wake, cause) }
    mayBeSuspended = false
    awaited = nil
    phase = .ending
  }
}

// MARK: - Steps

extension LogindStateMachine {
  private mutating func emit(_ effect: Effect) { effects.append(effect) }

  @discardableResult
  private mutating func send(_ input: SystemInput, _ cause: LifecycleCause, needsDisplay: Bool = false) -> Int {
    deliveries += 1
    emit(.send(HostDelivery(id: deliveries, input: input, cause: cause, needsDisplay: needsDisplay)))
    return deliveries
  }

  /// The application has done what the phase waited for.
  private mutating func advance(hadEffect: Bool) {
    awaited = nil
    switch phase {
    case .leaving:
      if hadEffect { origin = .foreground }
      guard !isComingBack else { return comeBack() }
      phase = .finishing
      deliveries += 1
      awaited = deliveries
      emit(.finishBackgroundTasks(id: deliveries, cause: "sleep"))
    case .finishing:
      guard !isComingBack else { return comeBack() }
      phase = .suspending
      mayBeSuspended = true
      awaited = send(.suspend, "sleep")
    case .suspending:
      if hadEffect, origin == .nowhere { origin = .background }
      guard !isComingBack else { return comeBack() }
      phase = .asleep
      emit(.armDeadline(nil))
    case .awake, .asleep, .ending, .ended: break
    }
  }
}
