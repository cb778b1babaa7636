/// The life cycle of an application as a pure state machine: an input in, a list of effects out.
///
/// The machine holds no clock, no lock and no reference, calls nothing and never waits. It knows the state of the application
/// and of its scenes, and what belongs to the device and outlives the process: interruptions, the screen lock, the pass code.
/// Its driver performs the effects in order; the state in which each callback runs is the one committed last before
/// it.
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
    /// The application's notification is posted, and its delegate is not called: with scenes, those of foreground and active.
    case post(ApplicationCallback)
    /// A scene's state changes.
    case commitScene(SceneIdentifier, SceneState)
    /// The scene's window gains or loses the keyboard focus.
    case setSceneFocus(SceneIdentifier, Bool)
    /// The scene delegate's method is called, then the scene's notification is posted; willConnect makes the scene.
    case callScene(SceneIdentifier, SceneCallback)
    /// The user closed the scene's window: its session ends.
    case endSession(SceneIdentifier)
    /// What the notification set going is awaited, within the budget of that callback.
    case awaitTearDown(of: ApplicationCallback)
    /// The process vanishes without a word: what it held is gone, and nothing is released.
    case loseProcess
    /// The input had no effect.
    case ignore(IgnoredReason)
  }

  /// What belongs to the device: it is remembered in every state, also while no process exists.
  struct Device: Sendable, Hashable {
    var isLocked = false
    var lockProtectsData = false
    var dataIsProtected = false
    var interruptions: Set<DeactivationReason> = []
  }

  /// What belongs to the process, and goes with it.
  struct Process: Sendable, Hashable {
    var isLaunching = false
    var switcherIsOpen = false
    /// The scenes, if the application has any, that the lock sent out of sight; nil if it was not in sight.
    var inFrontWhenLocked: [SceneIdentifier]?
    var wasToldThatDataIsProtected = false
    var keepsTimeChange = false
    var scenes = ConnectedScenes()
  }

  /// Which of the two life cycles the application follows.
  public let profile: LifecycleProfile
  /// Whether a launch into the background gives didEnterBackground, as documentation says it does.
  public let callsDidEnterBackgroundOnBackgroundLaunch: Bool
  /// The application's state once every effect that was returned has been performed.
  public internal(set) var state: ApplicationState = .notRunning
  var device = Device()
  var process = Process()
  var announcedReasons: Set<DeactivationReason> = []
  /// The effects of the input that is being handled; empty between inputs.
  var effects: [Effect] = []

  /// An application that is not running, on an unlocked device without a pass code.
  ///
  /// - Parameters:
  ///   - profile: which of the two life cycles the application follows.
  ///   - callsDidEnterBackgroundOnBackgroundLaunch: whether a launch into the background gives didEnterBackground.
  ///     Documentation says that it does, experiments that it does not; the experiment is the default.
  public init(profile: LifecycleProfile = .application, callsDidEnterBackgroundOnBackgroundLaunch: Bool = false) {
    self.profile = profile
    self.callsDidEnterBackgroundOnBackgroundLaunch = callsDidEnterBackgroundOnBackgroundLaunch
  }

  /// Why the application is not active, or would not be if it were in the foreground.
  public var deactivationReasons: Set<DeactivationReason> {
    var reasons = device.interruptions
    if process.isLaunching { reasons.insert(.launching) }
    if process.switcherIsOpen { reasons.insert(.appSwitcher) }
    if process.scenes.foregroundLacksFocus { reasons.insert(.focusLost) }
    return reasons
  }

  /// The scenes that are connected, in the order in which they connected.
  public var scenes: [SceneIdentifier] { process.scenes.identifiers }

  /// The state of a scene once every effect that was returned has been performed.
  ///
  /// - Parameter scene: any scene.
  /// - Returns: its state; unattached if it is not connected.
  public func state(of scene: SceneIdentifier) -> SceneState { process.scenes[scene] ?? .unattached }

  /// Whether a scene's window has the keyboard focus once every effect that was returned has been performed.
  ///
  /// - Parameter scene: any scene.
  /// - Returns: true unless ``SystemInput/unfocusScene(_:)`` took the focus since the scene connected.
  public func hasFocus(_ scene: SceneIdentifier) -> Bool { process.scenes.hasFocus(scene) }

  /// Takes an input and says what is to be done.
  ///
  /// States that the input skips are synthesised in order. An input that the present state cannot take gives exactly one
  /// ``Effect/ignore(_:)``. An input that changes only the device gives no effect.
  ///
  /// - Parameter input: what the system does.
  /// - Returns: the effects, in the order in which they are to be performed.
  /// - Complexity: constant, but for the copy of the set of interruptions; with scenes, linear in their number.
  public mutating func handle(_ input: SystemInput) -> [Effect] {
    if let reason = reasonToIgnore(input) { return [.ignore(reason)] }
    perform(input)
    announceReasons()
    defer { effects = [] }
    return effects
  }
}
