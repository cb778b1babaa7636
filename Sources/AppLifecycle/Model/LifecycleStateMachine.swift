/// The life cycle of an application as a pure state machine, which takes an input and returns a list of effects.
///
/// The machine holds no clock, no lock and no reference, makes no calls and never waits. It stores the state of the
/// application and of its scenes. It also stores the facts of the device, which outlive the process: interruptions, the
/// screen lock, the pass code. Its driver performs the effects in order. A callback runs in the state that the last
/// commit before it has set.
///
/// The sequences are those that UIKit documents and that experiments on devices show. Where the two disagree, the
/// machine follows the experiment.
package struct LifecycleStateMachine: Sendable, Hashable {
  /// One step of a transition; the driver performs all steps, in order.
  package enum Effect: Sendable, Hashable {
    /// The application's state changes.
    case commit(ApplicationState)
    /// The set of reasons that keep the application from being active changes.
    case setDeactivationReasons(Set<DeactivationReason>)
    /// The delegate method is called, then its notification is posted.
    case call(ApplicationCallback)
    /// The application's notification is posted without a call of its delegate; used for foreground and active with
    /// scenes.
    case post(ApplicationCallback)
    /// A scene's state changes.
    case commitScene(SceneIdentifier, SceneState)
    /// The scene's window gains or loses the keyboard focus.
    case setSceneFocus(SceneIdentifier, Bool)
    /// The scene delegate's method is called, then the scene's notification is posted; for willConnect the scene is
    /// created first.
    case callScene(SceneIdentifier, SceneCallback)
    /// The user closed the scene's window: its session ends.
    case endSession(SceneIdentifier)
    /// The application awaits the handlers, bodies and releases that the notification has started, within the budget of
    /// that callback.
    case awaitTearDown(of: ApplicationCallback)
    /// The process ends without any call: everything that it held is lost, and no resource is released.
    case loseProcess
    /// The input had no effect.
    case ignore(IgnoredReason)
  }

  /// The facts of the device, which are kept in every state, also while no process exists.
  struct Device: Sendable, Hashable {
    var isLocked = false
    var lockProtectsData = false
    var dataIsProtected = false
    var interruptions: Set<DeactivationReason> = []
  }

  /// The facts of the process, which are lost with it.
  struct Process: Sendable, Hashable {
    var isLaunching = false
    var switcherIsOpen = false
    /// The scenes that the lock sent to the background; empty without scenes, and nil if the application was not in the
    /// foreground.
    var foregroundWhenLocked: [SceneIdentifier]?
    /// Whether protected files are unreadable as far as the process knows, from its launch and the calls since.
    var knowsThatDataIsProtected = false
    /// Whether a time change came while the process was suspended.
    var keepsTimeChange = false
    var scenes = ConnectedScenes()
  }

  /// The life cycle that the application follows.
  package let profile: LifecycleProfile
  /// Whether a launch into the background calls didEnterBackground, as Apple's documentation says.
  package let callsDidEnterBackgroundOnBackgroundLaunch: Bool
  /// The application's state once every effect that was returned has been performed.
  package internal(set) var state: ApplicationState = .notRunning
  var device = Device()
  var process = Process()
  var announcedReasons: Set<DeactivationReason> = []
  /// The effects of the input that is being handled; empty between inputs.
  var effects: [Effect] = []

  /// Creates the machine of an application that is not running, on an unlocked device without a pass code.
  ///
  /// - Parameters:
  ///   - profile: the life cycle that the application follows.
  ///   - callsDidEnterBackgroundOnBackgroundLaunch: whether a launch into the background calls didEnterBackground.
  ///     Apple's documentation says that it does; experiments show that it does not, which is the default.
  package init(profile: LifecycleProfile = .application, callsDidEnterBackgroundOnBackgroundLaunch: Bool = false) {
    self.profile = profile
    self.callsDidEnterBackgroundOnBackgroundLaunch = callsDidEnterBackgroundOnBackgroundLaunch
  }

  /// The reasons why the application is not active, or, in the background, would not be active in the foreground.
  package var deactivationReasons: Set<DeactivationReason> {
    var reasons = device.interruptions
    if process.isLaunching { reasons.insert(.launching) }
    if process.switcherIsOpen { reasons.insert(.appSwitcher) }
    if process.scenes.foregroundLacksFocus { reasons.insert(.focusLost) }
    return reasons
  }

  /// Whether protected files are readable once every effect that was returned has been performed.
  package var isProtectedDataAvailable: Bool { !device.dataIsProtected }

  /// The scenes that are connected, in the order in which they connected.
  package var scenes: [SceneIdentifier] { process.scenes.identifiers }

  /// The state of a scene once every effect that was returned has been performed.
  ///
  /// - Parameter scene: any scene.
  /// - Returns: the state of the scene; unattached if it is not connected.
  package func state(of scene: SceneIdentifier) -> SceneState { process.scenes[scene] ?? .unattached }

  /// Whether a scene's window has the keyboard focus once every effect that was returned has been performed.
  ///
  /// - Parameter scene: any scene.
  /// - Returns: true unless `unfocusScene` took the focus since the scene connected.
  package func hasFocus(_ scene: SceneIdentifier) -> Bool { process.scenes.hasFocus(scene) }

  /// Handles an input, and returns the effects to perform.
  ///
  /// The machine inserts the states that the input skips, in order. For an input that the current state cannot handle
  /// it returns exactly one ``Effect/ignore(_:)``. For an input that changes only the device it returns no effects, or
  /// only ``Effect/setDeactivationReasons(_:)`` for an interruption.
  ///
  /// - Parameter input: the action of the system or of a simulated device.
  /// - Returns: the effects, in the order in which they are to be performed.
  /// - Complexity: constant, except for the copy of the set of interruptions; with scenes, linear in their number.
  package mutating func handle(_ input: LifecycleInput) -> [Effect] {
    if let reason = reasonToIgnore(input) { return [.ignore(reason)] }
    perform(input)
    announceReasons()
    defer { effects = [] }
    return effects
  }
}
