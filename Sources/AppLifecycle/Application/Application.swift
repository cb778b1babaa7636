public import PubSub

/// An application that follows a life cycle, calls its delegate at each step, and posts a notification right after.
///
/// A host (for a terminal, a service manager, a simulator) reports what the system does, as ``SystemInput``s. The application runs
/// one transition after another; transitions never interleave. It calls all code on the main actor.
///
/// A component subscribes to the notifications on ``bus``, such as ``Application/WillEnterForeground``, or has the application acquire
/// and release its resources (`manage`). Components know neither the delegate nor each other.
@MainActor public final class Application {
  /// The bus on which the notifications are posted; may be used from any thread.
  public nonisolated let bus: EventBus
  /// The budgets, and how the system treats the application.
  public nonisolated let configuration: Configuration
  /// The application's clock.
  ///
  /// Components that wait on it follow a simulation's time.
  public nonisolated let clock: ApplicationClock
  /// The delegate, which the application keeps alive.
  public let delegate: any ApplicationDelegate
  /// What is read within this package, which is no reason to tell Observation of changes.
  package internal(set) var present = ObservedValues()
  /// Tells Observation of what the program reads.
  nonisolated let observed = ObservedChanges()
  /// The exit status that the application's host returns when the application has ended in order; see
  /// ``shutDown(status:cause:)``.
  public internal(set) var exitStatus: Int32 = 0
  /// The observers; see ``observe(label:fileID:line:_:)``.
  nonisolated let observers: ObserverList
  /// What the system is doing, as the cause of what happens outside of a transition.
  package var ambientCause: LifecycleCause?

  nonisolated let timing: ClockHandle
  package nonisolated let tasks: TaskStarter
  nonisolated let inbox: Inbox
  let manager: ResourceManager
  let runs: PhaseRuns
  /// What ``task(label:fileID:line:_:)`` has started.
  let ownTasks: ApplicationTasks
  /// Marks the handlers that transitions wait for.
  let scope = WorkOwner()
  /// The timers on the application's clock, for what lives as long as it does.
  package nonisolated let deadlines: Deadlines
  let background: BackgroundTaskManager
  var machine: LifecycleStateMachine
  var sceneDirectory = SceneDirectory()
  var excursion = ExcursionTracker()
  /// The states on either side of the latest commit.
  var lastTransition: (from: ApplicationState, to: ApplicationState) = (.notRunning, .notRunning)
  let ownLedger: ApplicationLedger
  let questions: TerminationQuestions
  /// What led to the transition that is under way.
  var transitionCause: LifecycleCause?
  let tearDown: TearDown
  /// Whether an overrun ends the process, as it does on a device; else it is only reported.
  package var enforcesBudgets = false

  /// An application that is not running.
  ///
  /// - Parameters:
  ///   - delegate: the object that is called before each notification; the application keeps it alive.
  ///   - bus: where the notifications are posted.
  ///   - configuration: the budgets, and how the system treats the application.
  ///   - clock: the clock for budgets and back-off. It should stand still while the machine sleeps, as the default does, so
  ///     that sleep uses up no budget.
  public init(
    delegate: any ApplicationDelegate, bus: EventBus = EventBus(), configuration: Configuration = Configuration(),
    clock: any Clock<Duration> = SuspendingClock()
  ) {
    self.delegate = delegate
    self.bus = bus
    self.configuration = configuration
    timing = ClockHandle(clock)
    self.clock = ApplicationClock(clock, timing: timing)
    machine = LifecycleStateMachine(
      profile: configuration.profile,
      callsDidEnterBackgroundOnBackgroundLaunch: configuration.callsDidEnterBackgroundOnBackgroundLaunch)
    tasks = TaskStarter(clock: clock)
    inbox = Inbox(tasks: tasks)
    observers = ObserverList()
    ownLedger = ApplicationLedger(limit: configuration.ledgerLimit)
    manager = ResourceManager(
      tasks: tasks, clock: timing, retry: configuration.retry, seed: clock is any SimulatedClock ? 0 : nil,
      scope: scope)
    runs = PhaseRuns(tasks: tasks, now: timing.now, scope: scope)
    ownTasks = ApplicationTasks(tasks: tasks, now: timing.now)
    deadlines = Deadlines(
      now: timing.now, sleepUntil: timing.sleepUntil, tasks: tasks,
      sleepsOnlyForNeed: clock is any SimulatedClock)
    background = BackgroundTaskManager(
      configuration: configuration, clock: timing, starter: tasks, scope: scope)
    tearDown = TearDown(
      of: manager, runs, configuration: configuration, timing: timing, tasks: tasks, deadlines: deadlines)
    questions = TerminationQuestions(timing: timing, tasks: tasks, deadlines: deadlines)
    tearDown.application = self
    questions.application = self
    manager.application = self
    manager.deadlines = deadlines
    runs.application = self
    ownTasks.application = self
    connectBackground()
  }

  /// Nothing is left to release anything for: as when a process vanishes, and what is to be tried again is not.
  isolated deinit {
    manager.loseProcess()
    runs.loseProcess()
    ownTasks.loseProcess()
    for scene in sceneDirectory.loseProcess() { scene.loseProcess() }
    background.loseProcess()
    background.stopClock()
    deadlines.rest()
  }
}
