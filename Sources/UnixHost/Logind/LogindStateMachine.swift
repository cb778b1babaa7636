import AppLifecycle

/// The reactions of a host to sleep and shutdown of the machine and to the lock of its session, which logind reports.
///
/// It is a pure state machine, which takes an event and returns a list of effects. It is between a host's own state
/// machine and the application. The host's inputs pass through it (``Event/hostSends(_:)``), because an application on
/// a computer that is about to sleep must handle none.
///
///              PrepareForSleep(true)           suspended
///     awake ────────────────────────▶ suspending ─────────▶ asleep
///       ▲                                │ PrepareForSleep(false), or logind is gone
///       └────────────────────────────────┴─────────────────────┘
///
/// PrepareForShutdown(true), or an order to end that the host passes on, leads from each phase to *ending*.
///
/// The inhibitor delays sleep and shutdown. The machine requests it in *awake*, holds it during the tear-down, and
/// releases it when the tear-down is over or logind's delay has passed. It does not hold the inhibitor while the
/// process itself is stopped, because that would delay every sleep without need.
struct LogindStateMachine: Sendable, Hashable {
  // MARK: What happens

  /// News that logind sends without a request.
  enum News: Sendable, Hashable {
    /// The machine is about to sleep (true), or has woken or does not sleep after all (false).
    case sleep(Bool)
    /// The machine is about to shut down (true), or does not shut down after all (false).
    case shutdown(Bool)
    /// The session is locked (true) or unlocked (false).
    case lock(Bool)
  }

  /// The first answers of logind.
  struct Terms: Sendable, Hashable {
    /// The longest delay by an inhibitor: `InhibitDelayMaxUSec`.
    var delay: Duration
    /// News from before the connection.
    var news: [News] = []
  }

  /// An event for the machine.
  enum Event: Sendable, Hashable {
    /// Logind has answered, and sends news from now on.
    case connected(Terms)
    /// Logind or the bus is gone, so no more news come.
    case disconnected
    /// News from logind, oldest first.
    ///
    /// One event has all news that had arrived: a process that was stopped meanwhile must not be suspended for a sleep
    /// that is over.
    case news([News])
    /// Answers ``Effect/requestInhibitor``.
    case inhibitorObtained
    /// Answers ``Effect/requestInhibitor``.
    case inhibitorRefused
    /// The host sends an input to the application.
    case hostSends(HostDelivery)
    /// The user has pressed a key, or the terminal has gained the focus, so the user is present, whatever logind
    /// reported of a lock.
    case userIsPresent
    /// The suspension with this number has ended: the application was in the first state, and is in the second.
    case suspensionEnded(id: Int, from: ApplicationState, to: ApplicationState)
    /// The time of the last ``Effect/armDeadline(_:)`` has passed.
    case deadlinePassed
    /// The host is about to stop the process, for example on Ctrl-Z.
    case processWillStop
    /// The process continues after a stop.
    case processDidContinue
    /// The host is ending its work.
    case hostEnds
  }

  // MARK: What is done

  /// An effect that the driver performs.
  ///
  /// Effects are performed in order.
  enum Effect: Sendable, Hashable {
    /// Asks logind for an inhibitor.
    case requestInhibitor
    /// Releases the inhibitor, so that logind no longer waits for this program.
    case releaseInhibitor
    /// Sends the application an input of the host; the host receives the end of its transition.
    case pass(HostDelivery)
    /// Sends the application an input of this machine, which does not wait for its end.
    case send(HostDelivery)
    /// Suspends the application, as `Application.suspend(cause:)` does, with this time for its tear-down and tasks.
    case suspend(id: Int, within: Duration)
    /// Revokes the suspension.
    case revokeSuspension
    /// Arms the deadline after which ``Event/deadlinePassed`` comes; nil disarms it.
    case armDeadline(Duration?)
    /// Reports that logind's delay has passed before the tear-down was over.
    case reportDelay(Duration)
  }

  // MARK: State

  /// The phase of the application between its host and the machine's sleep.
  enum Phase: Sendable, Hashable {
    /// The inputs of the host pass.
    case awake
    /// The application tears down, its background tasks end, and it commits *suspended*.
    case suspending
    /// The machine may sleep.
    case asleep
    /// The application ends.
    case ending
    /// The host's work is done.
    case ended
  }

  /// The state to which the application returns after the sleep.
  enum Return: Sendable, Hashable {
    case foreground
    case background
    /// The application stays as it is, because it was not running, or a stop by the host had suspended it.
    case nowhere
  }

  /// The state of the inhibitor.
  enum Inhibitor: Sendable, Hashable {
    case none
    case requested
    case held
  }

  private(set) var phase = Phase.awake
  private(set) var inhibitor = Inhibitor.none
  private(set) var isConnected = false
  private var delay = Duration.seconds(5)
  /// Whether the session is locked, as far as is known.
  private var isLocked = false
  /// Whether the application has received the lock.
  private var toldOfLock = false
  /// The input to send after the session is unlocked, because the unlock alone returns the application to its state at
  /// the lock.
  private var owed: SystemInput?
  /// The state of the application before the sleep.
  private var origin = Return.nowhere
  /// The state that the host has requested since; nil if it has requested none.
  private var wanted: Return?
  /// Whether the sleep ended before the tear-down.
  private var isComingBack = false
  /// Whether the suspension was revoked, perhaps before another sleep.
  private var isRevoked = false
  private var processIsStopped = false
  private var inhibitorWasRefused = false
  private var delayHasPassed = false
  /// The number of the suspension for which the phase waits.
  private var awaited: Int?
  private var deliveries = 0
  private var effects: [Effect] = []

  /// Whether the application is being suspended for a sleep, or sleeps.
  var isAsleep: Bool {
    switch phase {
    case .suspending, .asleep: true
    case .awake, .ending, .ended: false
    }
  }

  /// Whether the application has been suspended for the sleep, and so expects a gap in time.
  var hasToldOfSleep: Bool { phase == .asleep }

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
    // An inhibitor that comes too late is released at once.
    case .inhibitorObtained: inhibitor = .held
    case .inhibitorRefused:
      inhibitor = .none
      inhibitorWasRefused = true
    case .hostSends(let delivery): admit(delivery)
    case .userIsPresent: yieldToUser()
    case .suspensionEnded(let id, let from, let to): if id == awaited { endSuspension(from: from, to: to) }
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
  /// Whether the inhibitor is needed.
  private var wantsInhibitor: Bool {
    isConnected && !processIsStopped && !delayHasPassed && phase != .asleep && phase != .ended
  }

  private mutating func settleInhibitor() {
    // Logind grants no inhibitor while it prepares for a sleep or a shutdown.
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
    // No answer to a request will come. A program that is not notified of a sleep must not delay it.
    if inhibitor == .held { emit(.releaseInhibitor) }
    inhibitor = .none
    // Logind would not report the end of the lock or of the sleep.
    isLocked = false
    wake()
    settleLock()
  }
}

// MARK: - News

extension LogindStateMachine {
  /// Handles all news, and decides only after the last.
  private mutating func take(_ news: [News]) {
    var sleeps: Bool?
    var shutsDown = false
    for item in news {
      switch item {
      case .sleep(let isBeginning): sleeps = isBeginning
      // An end that has begun cannot be cancelled.
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
    case .awake, .suspending, .asleep:
      beginEnd()
      send(.shutDown, "shutdown")
      emit(.armDeadline(delay))
    case .ending: emit(.armDeadline(delay))
    case .ended: break
    }
  }

  private mutating func goToSleep() {
    switch phase {
    case .awake:
      phase = .suspending
      (origin, wanted, isComingBack) = (.nowhere, nil, false)
      emit(.armDeadline(delay))
      suspend()
    case .suspending:
      isComingBack = false
      emit(.armDeadline(delay))
    // The end delays the sleep, too.
    case .ending: emit(.armDeadline(delay))
    case .asleep, .ended: break
    }
  }

  /// Handles the end of a sleep: the machine has woken, does not sleep after all, or its wake cannot be reported.
  private mutating func wake() {
    switch phase {
    case .awake: inhibitorWasRefused = false
    case .suspending:
      (isComingBack, isRevoked) = (true, true)
      emit(.revokeSuspension)
      emit(.armDeadline(nil))
    case .asleep: comeBack()
    case .ending, .ended: break
    }
  }

  /// Returns the application to its state before the sleep, or to the one that the host has requested since.
  private mutating func comeBack() {
    phase = .awake
    (awaited, isComingBack) = (nil, false)
    (delayHasPassed, inhibitorWasRefused) = (false, false)
    emit(.armDeadline(nil))
    switch wanted ?? origin {
    // A locked application cannot be opened.
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
  /// Sends a lock or its end to the application, or, during a sleep, after the wake.
  private mutating func settleLock() {
    guard phase == .awake, isLocked != toldOfLock else { return }
    toldOfLock = isLocked
    guard !isLocked else { return send(.lock, "session lock") }
    send(.unlock, "session unlock", needsDisplay: true)
    guard let input = owed else { return }
    owed = nil
    send(input, "session unlock", needsDisplay: input == .open)
  }

  /// Ends a lock, because the user is at the terminal, whatever logind reported of it.
  ///
  /// Some desktops report only the beginning of a lock.
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
      // The sleep does not wait for the delegate's answer.
      var end = delivery
      end.input = .shutDown
      return admit(end)
    case .shutDown: if phase != .ended { beginEnd() }
    case .open where isAsleep: return wanted = .foreground
    case .wake where isAsleep: return wanted = .background
    case .home where isAsleep:
      wanted = .background
      if toldOfLock { owed = .home }
    case .suspend where isAsleep:
      wanted = .nowhere
      if toldOfLock { owed = .home }
    case .open, .home, .suspend:
      owed = nil
      yieldToUser()
    case .launch, .launchInBackground, .wake, .terminate, .lock, .unlock, .setPasscode, .beginInterruption,
      .endInterruption, .memoryWarning, .significantTimeChange, .fetch, .connectScene, .openScene,
      .sendSceneToBackground, .unfocusScene, .focusScene, .reclaimScene, .closeScene:
      break
    }
    emit(.pass(delivery))
  }

  /// The end of the application revokes a suspension.
  private mutating func beginEnd() {
    awaited = nil
    phase = .ending
  }
}

// MARK: - Steps

extension LogindStateMachine {
  private mutating func emit(_ effect: Effect) { effects.append(effect) }

  private mutating func send(_ input: SystemInput, _ cause: LifecycleCause, needsDisplay: Bool = false) {
    deliveries += 1
    emit(.send(HostDelivery(id: deliveries, input: input, cause: cause, needsDisplay: needsDisplay)))
  }

  private mutating func suspend() {
    deliveries += 1
    awaited = deliveries
    isRevoked = false
    emit(.suspend(id: deliveries, within: max(.zero, delay - HostBudgets().grace)))
  }

  /// Goes to sleep with the application, or comes back with it.
  private mutating func endSuspension(from: ApplicationState, to: ApplicationState) {
    awaited = nil
    if origin == .nowhere {
      switch from {
      case .inactive, .active: origin = .foreground
      case .background: origin = .background
      case .notRunning, .suspended: break
      }
    }
    if isComingBack { return comeBack() }
    // The machine was about to wake, and then to sleep again.
    if isRevoked, to.runsCode { return suspend() }
    phase = .asleep
    emit(.armDeadline(nil))
  }
}
