/// The life cycle of an app-based application, as a pure state machine: an input in, a list of effects out.
///
/// The machine holds no clock, no lock and no reference, calls nobody and never waits. It knows both the application's state
/// and what belongs to the device and outlives the process: interruptions, the screen lock, the pass code. Whoever drives it
/// performs the effects in order; the state in which each callback runs is the one committed last before it.
///
/// The sequences are those that UIKit documents and that experiments on devices show; where the two disagree the
/// experiment wins (see Docs/Architecture.md).
public struct LifecycleStateMachine: Sendable, Hashable {
  /// One step of a transition; steps are performed in order, and none is skipped.
  public enum Effect: Sendable, Hashable {
    /// The application's state changes.
    case commit(ApplicationState)
    /// The set of reasons that keep the application from being active changes.
    case setDeactivationReasons(Set<DeactivationReason>)
    /// The delegate method is called, then its notification is posted.
    case call(ApplicationCallback)
    /// What the notification set going is awaited, within the budget of that callback.
    case awaitTearDown(of: ApplicationCallback)
    /// The process vanishes without a word: what it held is gone, and nothing is released.
    case loseProcess
    /// The input had no effect.
    case ignore(IgnoredReason)
  }

  /// What belongs to the device: it is remembered in every state, also while no process exists.
  private struct Device: Sendable, Hashable {
    var isLocked = false
    var lockProtectsData = false
    var dataIsProtected = false
    var interruptions: Set<DeactivationReason> = []
  }

  /// What belongs to the process, and goes with it.
  private struct Process: Sendable, Hashable {
    var isLaunching = false
    var switcherIsOpen = false
    var wasInFrontWhenLocked = false
    var wasToldThatDataIsProtected = false
    var keepsTimeChange = false
  }

  /// The application's state once every effect that was returned has been performed.
  public private(set) var state: ApplicationState = .notRunning
  private var device = Device()
  private var process = Process()
  private var announcedReasons: Set<DeactivationReason> = []
  /// The effects of the input that is being handled; empty between inputs.
  private var effects: [Effect] = []

  /// An application that is not running, on an unlocked device without a pass code.
  public init() {}

  /// Why the application is not active, or would not be if it were in the foreground.
  public var deactivationReasons: Set<DeactivationReason> {
    var reasons = device.interruptions
    if process.isLaunching { reasons.insert(.launching) }
    if process.switcherIsOpen { reasons.insert(.appSwitcher) }
    return reasons
  }

  /// Takes an input and says what is to be done.
  ///
  /// States that the input skips are synthesised in order. An input that the present state cannot take gives exactly one
  /// ``Effect/ignore(_:)``. An input that changes only the device gives no effect.
  ///
  /// - Parameter input: what the system does.
  /// - Returns: the effects, in the order in which they are to be performed.
  /// - Complexity: constant, but for the copy of the set of interruptions.
  public mutating func handle(_ input: SystemInput) -> [Effect] {
    if let reason = reasonToIgnore(input) { return [.ignore(reason)] }
    perform(input)
    announceReasons()
    defer { effects = [] }
    return effects
  }
}

// MARK: - What cannot be done

extension LifecycleStateMachine {
  private func reasonToIgnore(_ input: SystemInput) -> IgnoredReason? {
    if device.isLocked, input.needsUnlockedScreen { return .screenLocked }
    switch input {
    case .launch, .launchInBackground: return state.isInMemory ? .alreadyRunning : nil
    case .open: return state.isForeground ? .alreadyInForeground : nil
    case .home: return state.isForeground ? nil : .notInForeground
    case .lock: return device.isLocked ? .alreadyLocked : nil
    case .unlock: return device.isLocked ? nil : .notLocked
    case .setPasscode, .reboot: return nil
    case .beginInterruption(let reason): return device.interruptions.contains(reason) ? .alreadyInterrupted : nil
    case .endInterruption(let reason): return device.interruptions.contains(reason) ? nil : .notInterrupted
    case .openSwitcher:
      if !state.isForeground { return .notInForeground }
      return process.switcherIsOpen ? .switcherOpen : nil
    case .returnFromSwitcher, .leaveThroughSwitcher: return process.switcherIsOpen ? nil : .switcherClosed
    case .terminate, .killFromSwitcher, .crash, .purge: return state.isInMemory ? nil : .notRunning
    case .memoryWarning:
      if state == .suspended { return .suspended }
      return state.isInMemory ? nil : .notRunning
    case .reclaim: return state == .suspended ? nil : .notSuspended
    case .significantTimeChange: return state.isInMemory ? nil : .notRunning
    case .fetch: return state.runsCode ? .alreadyAwake : nil
    case .wake:
      if state.runsCode { return .alreadyAwake }
      return state.isInMemory ? nil : .notRunning
    case .suspend: return state == .background ? nil : .notInBackground
    }
  }
}

extension SystemInput {
  /// What the user does by touching the screen cannot be done while it is locked.
  fileprivate var needsUnlockedScreen: Bool {
    switch self {
    case .launch, .open, .home, .openSwitcher, .returnFromSwitcher, .leaveThroughSwitcher: true
    default: false
    }
  }
}

// MARK: - What is done

extension LifecycleStateMachine {
  private mutating func perform(_ input: SystemInput) {
    switch input {
    case .launch: launch()
    case .launchInBackground: launchInBackground()
    case .open: if state.isInMemory { enterForeground() } else { launch() }
    case .home, .leaveThroughSwitcher: leaveForeground()
    case .lock: lock()
    case .unlock: unlock()
    case .setPasscode(let isOn): device.lockProtectsData = isOn
    case .beginInterruption(let reason): beginInterruption(reason)
    case .endInterruption(let reason):
      device.interruptions.remove(reason)
      activateIfNoReasonStands()
    case .openSwitcher:
      process.switcherIsOpen = true
      resignIfActive()
    case .returnFromSwitcher:
      process.switcherIsOpen = false
      activateIfNoReasonStands()
    case .memoryWarning: call(.didReceiveMemoryWarning)
    case .significantTimeChange:
      if state == .suspended { process.keepsTimeChange = true } else { call(.significantTimeChange) }
    case .fetch: if state.isInMemory { commit(.background) } else { launchInBackground() }
    case .suspend: commit(.suspended)
    case .wake: commit(.background)
    case .terminate, .killFromSwitcher: terminate()
    case .reclaim, .crash, .purge: loseProcess()
    case .reboot:
      if state.isInMemory { loseProcess() }
      device.isLocked = false
      device.dataIsProtected = false
      device.interruptions = []
    }
  }

  private mutating func launch() {
    process.isLaunching = true
    commit(.inactive)
    call(.willFinishLaunching)
    call(.didFinishLaunching)
    process.isLaunching = false
    activateIfNoReasonStands()
  }

  /// `didEnterBackground` is not called: documentation says it is, experiments say it is not, and the experiment wins.
  private mutating func launchInBackground() {
    commit(.background)
    call(.willFinishLaunching)
    call(.didFinishLaunching)
  }

  private mutating func beginInterruption(_ reason: DeactivationReason) {
    device.interruptions.insert(reason)
    resignIfActive()
  }

  private mutating func activateIfNoReasonStands() {
    guard state == .inactive, deactivationReasons.isEmpty else { return }
    commit(.active)
    call(.didBecomeActive)
  }

  private mutating func resignIfActive() {
    guard state == .active else { return }
    call(.willResignActive)
    commit(.inactive)
  }

  private mutating func enterForeground() {
    if state == .suspended { commit(.background) }
    if process.wasToldThatDataIsProtected, !device.dataIsProtected { tellThatDataIsAvailable() }
    call(.willEnterForeground)
    commit(.inactive)
    if process.keepsTimeChange {
      process.keepsTimeChange = false
      call(.significantTimeChange)
    }
    activateIfNoReasonStands()
  }

  private mutating func leaveForeground() {
    process.switcherIsOpen = false
    resignIfActive()
    commit(.background)
    call(.didEnterBackground)
    effects.append(.awaitTearDown(of: .didEnterBackground))
  }

  private mutating func lock() {
    device.isLocked = true
    device.dataIsProtected = device.lockProtectsData
    process.wasInFrontWhenLocked = state.isForeground
    if state.isForeground { leaveForeground() }
    if state == .background, device.dataIsProtected {
      process.wasToldThatDataIsProtected = true
      call(.protectedDataWillBecomeUnavailable)
    }
  }

  private mutating func unlock() {
    let dataWasProtected = device.dataIsProtected
    device.isLocked = false
    device.dataIsProtected = false
    if state == .background, dataWasProtected { tellThatDataIsAvailable() }
    if process.wasInFrontWhenLocked {
      process.wasInFrontWhenLocked = false
      enterForeground()
    }
  }

  private mutating func tellThatDataIsAvailable() {
    process.wasToldThatDataIsProtected = false
    call(.protectedDataDidBecomeAvailable)
  }

  private mutating func terminate() {
    guard state != .suspended else { return loseProcess() }
    if state.isForeground { leaveForeground() }
    call(.willTerminate)
    effects.append(.awaitTearDown(of: .willTerminate))
    endProcess()
  }

  private mutating func loseProcess() {
    effects.append(.loseProcess)
    endProcess()
  }

  private mutating func endProcess() {
    process = Process()
    commit(.notRunning)
  }

  private mutating func commit(_ state: ApplicationState) {
    announceReasons()
    self.state = state
    effects.append(.commit(state))
  }

  private mutating func call(_ callback: ApplicationCallback) {
    announceReasons()
    effects.append(.call(callback))
  }

  /// Reasons change before the callbacks that they lead to, so that whoever is called can read them.
  private mutating func announceReasons() {
    guard announcedReasons != deactivationReasons else { return }
    announcedReasons = deactivationReasons
    effects.append(.setDeactivationReasons(announcedReasons))
  }
}
