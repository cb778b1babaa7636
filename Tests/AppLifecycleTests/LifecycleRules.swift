import AppLifecycle

/// The rules of the life cycle, watching a state machine from outside.
///
/// They are: what the device remembers, what may be called in which state, what alternates with what, and which inputs have
/// to be ignored. Those of scenes are in an extension. It decides nothing; it only knows what it was told (inputs, effects)
/// and says what was wrong.
struct LifecycleRules: Hashable {
  let profile: LifecycleProfile
  let callsDidEnterBackgroundOnBackgroundLaunch: Bool

  // What the device remembers.
  var isLocked = false
  var passcodeIsOn = false
  var dataIsProtected = false
  var interruptions: Set<DeactivationReason> = []

  // What the process was told, and what was done to it.
  var state: ApplicationState = .notRunning
  var announcedReasons: Set<DeactivationReason> = []
  var switcherIsOpen = false
  var wasForegroundWhenLocked = false
  var isToldActive = false
  var isToldForeground = false
  var hasBegunLaunch = false
  var hasLaunched = false
  var isTerminating = false
  var isToldDataIsGone = false
  var hasMissedTimeChange = false
  var scenes = Scenes()

  init(profile: LifecycleProfile = .application, callsDidEnterBackgroundOnBackgroundLaunch: Bool = false) {
    self.profile = profile
    self.callsDidEnterBackgroundOnBackgroundLaunch = callsDidEnterBackgroundOnBackgroundLaunch
  }

  /// What a suspended application must be told first when it runs again in the background.
  private var missedCalls: [LifecycleStateMachine.Effect] {
    var missed: [LifecycleStateMachine.Effect] = []
    if isToldDataIsGone != dataIsProtected {
      missed.append(.call(dataIsProtected ? .protectedDataWillBecomeUnavailable : .protectedDataDidBecomeAvailable))
    }
    if hasMissedTimeChange { missed.append(.call(.significantTimeChange)) }
    return missed
  }

  /// What is wrong with a step; empty if nothing is.
  mutating func violations(
    of effects: [LifecycleStateMachine.Effect], after input: LifecycleInput, from before: LifecycleStateMachine,
    to after: LifecycleStateMachine
  ) -> [String] {
    var violations = Violations()
    let mustBeIgnored = isImpossible(input)
    violations.check(
      effects.contains(where: \.isIgnore) == mustBeIgnored, mustBeIgnored ? "must be ignored" : "must not be ignored")
    if mustBeIgnored {
      violations.check(effects.count == 1, "an ignored input has one effect")
      violations.check(before == after, "an ignored input changes nothing")
      return violations.found
    }
    let (stateBefore, dataWasProtected) = (state, dataIsProtected)
    let missed = missedCalls
    takeNoteOfDevice(input)
    violations.check(after.isProtectedDataAvailable == !dataIsProtected, "whether protected files are readable")
    if profile == .scenes { scenes.begin(input) }
    if stateBefore.isForeground, profile == .scenes, scenes.expectedForeground.isEmpty { switcherIsOpen = false }
    for (index, effect) in effects.enumerated() {
      // When exactly before a callback its reasons are announced is for the machine to choose.
      let previous = effects[..<index].last { !$0.isReasons }
      let rest = effects[(index + 1)...].filter { !$0.isReasons }[...]
      switch effect {
      case .ignore: break
      case .setDeactivationReasons(let reasons):
        violations.check(reasons != announcedReasons, "reasons are announced only when they change")
        announcedReasons = reasons
      case .commit(let next): commit(next, after: previous, &violations)
      case .call(let callback), .post(let callback):
        violations.check(
          (effect == .post(callback)) == (profile == .scenes && callback.isOfForeground),
          "with scenes, the delegate is told nothing of foreground and active, and otherwise everything")
        tell(callback, after: input, previous: previous, rest: rest, &violations)
      case .commitScene(let id, let next): commitScene(id, next, previous: previous, next: rest.first, &violations)
      case .setSceneFocus(let id, let hasFocus):
        violations.check(index == 0, "the focus changes before everything to which that leads")
        changeFocus(of: id, to: hasFocus, after: input, &violations)
      case .callScene(let id, let callback): callScene(id, callback, previous: previous, next: rest.first, &violations)
      case .endSession(let id):
        violations.check(input.sent == .closeScene(id), "a session ends with its window")
        violations.check(previous == .callScene(id, .didDisconnect), "a session outlives its scene")
      case .awaitTearDown(let callback):
        let isOfScene =
          if case .callScene(_, .didEnterBackground) = previous { callback == .didEnterBackground } else { false }
        violations.check(
          previous == .call(callback) || previous == .post(callback) || isOfScene,
          "tear-down is awaited right after its callback")
        violations.check(
          callback == .didEnterBackground || callback == .willTerminate, "\(callback) has no tear-down to await")
      case .loseProcess:
        violations.check(index == 0 && stateBefore.isInMemory, "only a process can be lost, and at once")
      }
    }
    checkOutcome(of: effects, after: input, from: stateBefore, to: after, &violations)
    checkScenes(after: effects, of: input, from: stateBefore, to: after, &violations)
    if input.sent == .wake || input.sent == .fetch, stateBefore == .suspended {
      violations.check(effects == [.commit(.background)] + missed, "woken, it is told exactly what it missed")
    }
    if state.runsCode {
      violations.check(isToldDataIsGone == dataIsProtected, "it runs, and does not know whether its data is readable")
      violations.check(!hasMissedTimeChange, "it runs, and was not told of a time change that it missed")
    }
    if input.sent == .unlock {
      wasForegroundWhenLocked = false
      let isTold = effects.contains(.call(.protectedDataDidBecomeAvailable))
      violations.check(
        stateBefore != .background || isTold == dataWasProtected, "data comes back exactly if it was gone")
    }
    return violations.found
  }
}

// MARK: - Which inputs have to be ignored

extension LifecycleRules {
  private func isImpossible(_ input: LifecycleInput) -> Bool {
    switch input {
    case .system(let input): isImpossible(input)
    case .device(.openSwitcher): isLocked || switcherIsOpen || !(state == .active || state == .inactive)
    case .device(.returnFromSwitcher), .device(.leaveThroughSwitcher): isLocked || !switcherIsOpen
    case .device(.killFromSwitcher), .device(.crash), .device(.purge): state == .notRunning
    case .device(.reclaim): state != .suspended
    case .device(.reboot): false
    }
  }

  private func isImpossible(_ input: SystemInput) -> Bool {
    switch input {
    case .launch: isLocked || state != .notRunning
    case .launchInBackground: state != .notRunning
    case .open:
      isLocked || (profile == .scenes ? scenes.inForeground.contains(.main) : state == .active || state == .inactive)
    case .home: isLocked || !(state == .active || state == .inactive)
    case .lock: isLocked
    case .unlock: !isLocked
    case .setPasscode: false
    case .beginInterruption(let reason): interruptions.contains(reason)
    case .endInterruption(let reason): !interruptions.contains(reason)
    case .terminate, .shutDown, .significantTimeChange: state == .notRunning
    case .memoryWarning: state == .notRunning || state == .suspended
    case .fetch: state != .notRunning && state != .suspended
    case .wake: state != .suspended
    case .suspend: state != .background
    case .connectScene, .openScene, .sendSceneToBackground, .unfocusScene, .focusScene, .reclaimScene, .closeScene:
      isImpossibleForScene(input)
    }
  }
}

// MARK: - What the device remembers

extension LifecycleRules {
  private mutating func takeNoteOfDevice(_ input: LifecycleInput) {
    switch input {
    case .system(.lock):
      isLocked = true
      dataIsProtected = passcodeIsOn
      wasForegroundWhenLocked = state.isForeground
      switcherIsOpen = false
    case .system(.unlock):
      isLocked = false
      dataIsProtected = false
    case .system(.setPasscode(let isOn)): passcodeIsOn = isOn
    case .system(.beginInterruption(let reason)): interruptions.insert(reason)
    case .system(.endInterruption(let reason)): interruptions.remove(reason)
    case .device(.openSwitcher): switcherIsOpen = true
    case .device(.returnFromSwitcher), .device(.leaveThroughSwitcher), .system(.home): switcherIsOpen = false
    case .device(.reboot):
      isLocked = false
      dataIsProtected = false
      interruptions = []
    case .system(.significantTimeChange): if state == .suspended { hasMissedTimeChange = true }
    default: break
    }
  }

  private mutating func forgetProcess() {
    switcherIsOpen = false
    wasForegroundWhenLocked = false
    isToldActive = false
    isToldForeground = false
    hasBegunLaunch = false
    hasLaunched = false
    isTerminating = false
    isToldDataIsGone = false
    hasMissedTimeChange = false
    scenes.forgetProcess()
  }

  /// Why the application cannot be active between two inputs.
  var standingReasons: Set<DeactivationReason> {
    var reasons = interruptions
    if switcherIsOpen { reasons.insert(.appSwitcher) }
    let inForeground = scenes.connected.filter(\.state.isForeground)
    if !inForeground.isEmpty, inForeground.allSatisfy({ !$0.hasFocus }) { reasons.insert(.focusLost) }
    return reasons
  }
}

// MARK: - States

extension LifecycleRules {
  private mutating func commit(
    _ next: ApplicationState, after previous: LifecycleStateMachine.Effect?, _ violations: inout Violations
  ) {
    let isAllowed =
      switch (state, next) {
      case (.notRunning, .inactive): profile == .application
      case (.notRunning, .background): true
      case (.inactive, .active), (.active, .inactive), (.inactive, .background), (.background, .inactive): true
      case (.background, .suspended), (.suspended, .background): true
      case (.background, .notRunning): true
      case (.suspended, .notRunning), (.active, .notRunning), (.inactive, .notRunning):
        // Reasons may change between losing the process and the commit.
        true
      default: false
      }
    violations.check(isAllowed, "\(state) does not lead to \(next)")
    if state == .active, next == .inactive {
      let isAnnounced = previous == .call(.willResignActive) || previous == .post(.willResignActive)
      violations.check(isAnnounced, "resigning unannounced")
    }
    if profile == .scenes, next.runsCode {
      violations.check(scenes.aggregate == next, "\(next) beside scenes that are \(scenes.aggregate)")
      scenes.endStep()
    }
    if next == .active { violations.check(announcedReasons.isEmpty, "active while reasons stand: \(announcedReasons)") }
    if next == .notRunning, state != .suspended, isToldForeground {
      violations.check(!isTerminating, "terminated without having left the foreground")
    }
    state = next
    if next == .notRunning { forgetProcess() }
  }
}

// MARK: - Callbacks

extension LifecycleRules {
  private mutating func tell(
    _ callback: ApplicationCallback, after input: LifecycleInput, previous: LifecycleStateMachine.Effect?,
    rest: ArraySlice<LifecycleStateMachine.Effect>, _ violations: inout Violations
  ) {
    violations.check(state.runsCode, "\(callback) while \(state)")
    violations.check(!isTerminating, "\(callback) after willTerminate")
    if callback != .willFinishLaunching && callback != .didFinishLaunching {
      violations.check(hasLaunched, "\(callback) before the launch is complete")
    }
    switch callback {
    case .willFinishLaunching:
      violations.check(!hasBegunLaunch, "launched twice")
      violations.check(state == .inactive || state == .background, "launching while \(state)")
      hasBegunLaunch = true
      isToldDataIsGone = dataIsProtected
    case .didFinishLaunching:
      violations.check(previous == .call(.willFinishLaunching), "didFinishLaunching without its beginning")
      violations.check(!hasLaunched, "launched twice")
      hasLaunched = true
      isToldForeground = state == .inactive
    case .didBecomeActive:
      violations.check(state == .active && previous == .commit(.active), "didBecomeActive while \(state)")
      violations.check(!isToldActive && isToldForeground, "didBecomeActive twice, or out of sight")
      isToldActive = true
    case .willResignActive:
      violations.check(state == .active, "willResignActive while \(state)")
      violations.check(isToldActive, "willResignActive twice")
      violations.check(rest.first?.isInactive == true, "willResignActive without what it announces")
      isToldActive = false
    case .didEnterBackground:
      violations.check(state == .background, "didEnterBackground while \(state)")
      let isBackgroundLaunch = callsDidEnterBackgroundOnBackgroundLaunch && previous == .call(.didFinishLaunching)
      violations.check(
        previous == .commit(.background) || isBackgroundLaunch, "didEnterBackground without what it tells")
      violations.check(
        isToldForeground != isBackgroundLaunch && !isToldActive, "didEnterBackground twice, or while active")
      violations.check(rest.first == .awaitTearDown(of: callback), "the tear-down of didEnterBackground is not awaited")
      isToldForeground = false
    case .willEnterForeground:
      violations.check(state == .background, "willEnterForeground while \(state)")
      violations.check(!isToldForeground, "willEnterForeground twice")
      violations.check(rest.first?.isInactive == true, "willEnterForeground without what it announces")
      violations.check(!isToldDataIsGone, "in the foreground without its protected data")
      isToldForeground = true
    case .willTerminate:
      violations.check(state == .background && !isToldForeground, "willTerminate while \(state)")
      violations.check(rest.first == .awaitTearDown(of: callback), "the tear-down of willTerminate is not awaited")
      violations.check(rest.firstCommit == .notRunning, "willTerminate without the end")
      isTerminating = true
    case .shouldTerminate: violations.check(false, "the machine does not ask the delegate")
    case .didReceiveMemoryWarning: violations.check(input.sent == .memoryWarning, "a warning from nowhere")
    case .significantTimeChange:
      if input.sent != .significantTimeChange {
        violations.check(hasMissedTimeChange, "a time change from nowhere")
        violations.check(
          state == .inactive && isToldForeground && previous == .commit(.inactive)
            || state == .background && (input.sent == .wake || input.sent == .fetch),
          "a missed time change is told on the return, in state inactive, or when it is woken")
        hasMissedTimeChange = false
      }
    case .protectedDataWillBecomeUnavailable:
      violations.check(state == .background && dataIsProtected && !isToldDataIsGone, "data is not gone")
      violations.check(input.sent == .lock || previous == .commit(.background), "data goes at a lock, or it was missed")
      isToldDataIsGone = true
    case .protectedDataDidBecomeAvailable:
      violations.check(state == .background && !dataIsProtected, "data is not back")
      violations.check(isToldDataIsGone, "data is back that was never gone")
      isToldDataIsGone = false
    }
  }
}

// MARK: - What an input leads to

extension LifecycleRules {
  private func checkOutcome(
    of effects: [LifecycleStateMachine.Effect], after input: LifecycleInput, from before: ApplicationState,
    to after: LifecycleStateMachine, _ violations: inout Violations
  ) {
    let called = effects.compactMap { effect -> ApplicationCallback? in
      switch effect {
      case .call(let callback), .post(let callback): callback
      default: nil
      }
    }
    violations.check(state == after.state, "the machine is \(after.state), its commits say \(state)")
    violations.check(
      announcedReasons == standingReasons && after.deactivationReasons == standingReasons,
      "reasons: announced \(announcedReasons), in truth \(standingReasons)")
    if state.isForeground {
      violations.check((state == .active) == standingReasons.isEmpty, "\(state) with reasons \(standingReasons)")
      violations.check(isToldForeground && isToldActive == (state == .active), "the application knows it otherwise")
      violations.check(!isLocked, "in the foreground of a locked screen")
      violations.check(
        profile == .scenes || !wasForegroundWhenLocked || input.sent != .unlock
          || called.contains(.willEnterForeground),
        "no return")
    } else {
      violations.check(!isToldForeground && !isToldActive, "out of sight, and the application does not know it")
    }
    violations.check(hasLaunched == state.isInMemory, "a process that was not launched, or the reverse")
    violations.check(effects.isEmpty || effects.contains { !$0.isReasons } || before == state, "reasons alone")

    let inForeground: ApplicationState = standingReasons.isEmpty ? .active : .inactive
    let target: ApplicationState? =
      switch input {
      case _ where profile == .scenes: stateWithScenes(after: input, from: before)
      case .system(.launch), .system(.open), .device(.returnFromSwitcher): inForeground
      case .system(.home), .system(.launchInBackground), .system(.fetch), .system(.wake),
        .device(.leaveThroughSwitcher):
        .background
      case .system(.suspend): .suspended
      case .system(.terminate), .system(.shutDown), .device(.killFromSwitcher), .device(.crash), .device(.purge),
        .device(.reclaim), .device(.reboot):
        .notRunning
      case .system(.lock): before.isForeground ? .background : before
      case .system(.unlock): wasForegroundWhenLocked ? inForeground : before
      case .system(.memoryWarning), .system(.significantTimeChange), .system(.setPasscode): before
      case .device(.openSwitcher): .inactive
      case .system(.beginInterruption), .system(.endInterruption): before.isForeground ? inForeground : before
      case .system(.connectScene), .system(.openScene), .system(.sendSceneToBackground), .system(.unfocusScene),
        .system(.focusScene), .system(.reclaimScene), .system(.closeScene):
        nil
      }
    violations.check(state == target, "\(input.scriptToken) leads from \(before) to \(state)")
    violations.check(
      called.count { $0 == .willTerminate } == (input.endsInOrder && before != .suspended ? 1 : 0), "willTerminate")
    violations.check(
      called.count { $0 == .didReceiveMemoryWarning } == (input.sent == .memoryWarning ? 1 : 0), "memory warnings")
    // What a wake-up tells is checked exactly.
    violations.check(
      called.isEmpty || input.sent == .wake || !input.isSilent(from: before), "\(called) where nothing is to be told")
    if input.sent == .significantTimeChange, before != .suspended {
      violations.check(effects == [.call(.significantTimeChange)], "a time change is told at once")
    }
    if input.sent == .lock || input.sent == .unlock {
      let told =
        called.contains(.protectedDataWillBecomeUnavailable) || called.contains(.protectedDataDidBecomeAvailable)
      if before == .suspended, state == .suspended {
        violations.check(!told, "a suspended application is told nothing")
      }
      if input.sent == .lock, state == .background {
        violations.check(told == passcodeIsOn, "data goes exactly with a pass code")
        violations.check(!told || called.last == .protectedDataWillBecomeUnavailable, "data goes after the background")
      }
    }
    if called.contains(.willFinishLaunching) { violations.check(before == .notRunning, "launched while \(before)") }
    if input.sent == .launchInBackground || input.sent == .fetch, before == .notRunning {
      violations.check(
        called.contains(.didEnterBackground) == callsDidEnterBackgroundOnBackgroundLaunch, "a launch into background")
    }
  }
}

// MARK: - Small help

/// What was found wrong.
struct Violations {
  var found: [String] = []

  mutating func check(_ isRight: Bool, _ complaint: @autoclosure () -> String) {
    if !isRight { found.append(complaint()) }
  }
}

extension LifecycleStateMachine.Effect {
  fileprivate var isIgnore: Bool { if case .ignore = self { true } else { false } }
  fileprivate var isReasons: Bool { if case .setDeactivationReasons = self { true } else { false } }
  fileprivate var isInactive: Bool { self == .commit(.inactive) }
}

extension ArraySlice<LifecycleStateMachine.Effect> {
  fileprivate var firstCommit: ApplicationState? {
    for case .commit(let state) in self { return state }
    return nil
  }
}

extension ApplicationCallback {
  fileprivate var isOfForeground: Bool {
    switch self {
    case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground: true
    default: false
    }
  }
}

extension LifecycleInput {
  fileprivate var endsInOrder: Bool {
    [.system(.terminate), .system(.shutDown), .device(.killFromSwitcher)].contains(self)
  }

  /// Whether the application hears nothing of it.
  fileprivate func isSilent(from state: ApplicationState) -> Bool {
    switch self {
    case .system(.suspend), .system(.wake), .system(.setPasscode): true
    case .device(.reclaim), .device(.crash), .device(.purge), .device(.reboot): true
    case .system(.significantTimeChange): state == .suspended
    default: endsInOrder && state == .suspended
    }
  }
}
