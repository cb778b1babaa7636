/// The position of an application in its life cycle.
///
/// It has the state machine, the latest commit, the excursion from the active state, and the current cause. It only
/// decides; a ``TransitionRun`` makes the calls.
@MainActor final class Transitions {
  private var machine: LifecycleStateMachine
  private var excursion = ExcursionTracker()
  /// The states on either side of the latest commit.
  private var latestCommit: (from: ApplicationState, to: ApplicationState) = (.notRunning, .notRunning)
  /// The cause of the input that is being handled; nil between inputs.
  private var inputCause: LifecycleCause?
  /// The current activity of the system, which is the cause of everything that happens outside a transition.
  var ambientCause: LifecycleCause?
  /// The causes of the waits for background tasks that are under way, oldest first; inside one its cause comes first.
  var waitCauses: [LifecycleCause] = []
  /// The first status other than zero that the program asked for.
  private var chosenStatus: Int32 = 0
  /// Whether a budget was overrun as the process ended.
  private var endedLate = false
  /// Whether the process that ended was the program's own, so that no other one can begin.
  private var endedForGood = false

  /// The number of the latest transition that interceptors were called with.
  private var lastTraced: TracedTransition.ID = 0
  /// The number of the present transition, if interceptors were called with it.
  private(set) var traced: TracedTransition.ID?

  init(_ configuration: Application.Configuration) {
    machine = LifecycleStateMachine(
      profile: configuration.profile,
      callsDidEnterBackgroundOnBackgroundLaunch: configuration.callsDidEnterBackgroundOnBackgroundLaunch)
  }

  // MARK: Inputs

  /// The current cause: that of the input that is being handled, or between inputs the current activity of the system.
  var presentCause: LifecycleCause? { inputCause ?? waitCauses.last ?? ambientCause }

  /// Notes the cause of an input that is handled from now on.
  func inputBegins(_ cause: LifecycleCause) { inputCause = cause }

  /// Notes that the input has been handled.
  func inputEnds() { inputCause = nil }

  // MARK: Interceptors

  /// Gives the transition that begins its number for interceptors.
  func beginTracing() -> TracedTransition.ID {
    lastTraced += 1
    traced = lastTraced
    return lastTraced
  }

  /// Notes that the transition and the operations that it began at its end belong to no call from now on.
  func endTracing() { traced = nil }

  /// Takes an input, and returns the effects to perform.
  func handle(_ input: LifecycleInput) -> [LifecycleStateMachine.Effect] {
    endedForGood && input.traits.contains(.launches) ? [.ignore(.notRunning)] : machine.handle(input)
  }

  /// Whether the transition under way ends the process.
  var isEndingProcess: Bool { latestCommit.to.isInMemory && !machine.state.isInMemory }

  /// Whether the waiting inputs bring the application into the foreground before they end its process.
  func comesBack(with inputs: [LifecycleInput]) -> Bool { machine.comesBack(with: inputs) }

  /// Forgets a window that was closed and has no scene.
  func forgetReturn(of scene: SceneIdentifier) { machine.forgetReturn(of: scene) }

  /// The reasons that keep the application from being active once every effect has been performed.
  var deactivationReasons: Set<DeactivationReason> { machine.deactivationReasons }

  /// Whether protected files are readable once every effect has been performed.
  var isProtectedDataAvailable: Bool { machine.isProtectedDataAvailable }

  // MARK: Steps

  /// Begins an excursion, because the application is about to resign active.
  func willResignActive(at time: Duration) { excursion.willBegin(at: time) }

  /// Notes that a state was committed.
  func didCommit(_ next: ApplicationState, at time: Duration) {
    let from = latestCommit.to
    latestCommit = (from, next)
    // With scenes, a launch into the foreground passes through the background without staying there.
    if from != .notRunning || !machine.state.isForeground { excursion.didCommit(next, at: time) }
  }

  /// Ends the excursion, because a transition has ended with the application active.
  func didEndActive() { excursion.end() }

  /// Describes a step of the life cycle for its notification.
  ///
  /// - Parameters:
  ///   - order: whether the step's state is committed after the callback, was committed before it, or does not change.
  ///   - next: the state that is committed next; nil if none is.
  ///   - cause: the cause of the step.
  ///   - time: the current time.
  /// - Returns: the states before and after the step, its cause, and the excursion from the active state.
  func step(
    _ order: CommitOrder, next: ApplicationState?, cause: LifecycleCause, at time: Duration
  ) -> LifecycleTransition {
    let present = latestCommit.to
    let (from, to) =
      switch order {
      case .callbackFirst: (present, next ?? present)
      case .commitFirst: latestCommit
      case .noCommit: (present, present)
      }
    return LifecycleTransition(from: from, to: to, cause: cause, instant: time, excursion: excursion.present(at: time))
  }

  // MARK: The exit status

  /// The status with which the host ends the process; a late end is `EX_SOFTWARE` of sysexits.h.
  var exitStatus: Int32 { endedLate ? ExitStatus.tearDownOverran : chosenStatus }

  /// Resets the exit status to 0, because a process begins.
  func processBegins() { (chosenStatus, endedLate) = (0, false) }

  /// Sets the exit status; the first one other than zero stays.
  func setExitStatus(_ status: Int32) { if chosenStatus == 0 { chosenStatus = status } }

  /// Notes that the process has ended.
  ///
  /// - Parameters:
  ///   - isLate: whether a budget was overrun.
  ///   - isLast: whether no other process can begin.
  func processEnded(isLate: Bool, isLast: Bool) { (endedLate, endedForGood) = (isLate, isLast) }
}
