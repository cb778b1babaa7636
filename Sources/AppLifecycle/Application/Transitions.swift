/// Where an application stands in its life cycle: what the state machine decides, what was committed last, how far the application is
/// away from active, and what led to the present moment.
///
/// It decides and calls nothing; a ``TransitionRun`` performs.
@MainActor final class Transitions {
  private var machine: LifecycleStateMachine
  private var excursion = ExcursionTracker()
  /// The states on either side of the latest commit.
  private var latestCommit: (from: ApplicationState, to: ApplicationState) = (.notRunning, .notRunning)
  /// What led to the input whose turn it is; nil between inputs.
  private var inputCause: LifecycleCause?
  /// What the system is doing, as the cause of what happens outside of a transition.
  var ambientCause: LifecycleCause?
  /// The exit status that the host returns when the application has ended in order.
  private(set) var exitStatus: Int32 = 0

  init(_ configuration: Application.Configuration) {
    machine = LifecycleStateMachine(
      profile: configuration.profile,
      callsDidEnterBackgroundOnBackgroundLaunch: configuration.callsDidEnterBackgroundOnBackgroundLaunch)
  }

  // MARK: Inputs

  /// What led to what happens now: an input, or what the system is doing outside of any.
  var presentCause: LifecycleCause? { inputCause ?? ambientCause }

  /// The turn of an input begins.
  func inputBegins(_ cause: LifecycleCause) { inputCause = cause }

  /// The turn of the input has ended.
  func inputEnds() { inputCause = nil }

  /// Takes an input, and returns what is to be done.
  func handle(_ input: SystemInput) -> [LifecycleStateMachine.Effect] { machine.handle(input) }

  /// Whether inputs that wait bring the application back before they end its process.
  func comesBack(with inputs: [SystemInput]) -> Bool { machine.comesBack(with: inputs) }

  /// The reasons that keep the application from being active once every effect has been performed.
  var deactivationReasons: Set<DeactivationReason> { machine.deactivationReasons }

  // MARK: Steps

  /// The application is about to resign active, so that its stay outside of active begins.
  func willResignActive(at time: Duration) { excursion.willBegin(at: time) }

  /// A state was committed.
  ///
  /// - Returns: whether the application only passes through it: with scenes, a launch into the foreground passes through the background,
  ///   which is no stay there.
  func didCommit(_ next: ApplicationState, at time: Duration) -> Bool {
    let from = latestCommit.to
    latestCommit = (from, next)
    let isPassedThrough = from == .notRunning && machine.state.isForeground
    if !isPassedThrough { excursion.didCommit(next, at: time) }
    return isPassedThrough
  }

  /// A transition has ended with the application active: its stay outside of active is over.
  func didEndActive() { excursion.end() }

  /// A step of the life cycle, as its notification tells it.
  ///
  /// - Parameters:
  ///   - order: whether the step's state is committed after the callback or was committed before it.
  ///   - next: the state that is committed next; nil if none is.
  ///   - cause: what led to the step.
  ///   - time: the present time.
  /// - Returns: the states before and after the step, its cause, and how far the application is away from active.
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

  /// A process begins, with nothing to report at its end.
  func processBegins() { exitStatus = 0 }

  /// Sets the exit status; the first one other than zero stays.
  func setExitStatus(_ status: Int32) { if exitStatus == 0 { exitStatus = status } }
}
