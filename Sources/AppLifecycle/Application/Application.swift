public import PubSub
package import Scheduling
internal import Synchronization

/// An application that follows a life cycle, calls its delegate at each step, and posts a notification right after.
///
/// A host, such as one for a terminal, a service manager or a simulator, reports the actions of the system as
/// ``SystemInput``s. The application runs one transition after another; transitions never interleave. It makes all
/// calls on the main actor.
///
/// A component subscribes to the notifications on ``bus``, such as ``Application/WillEnterForeground``, or lets the
/// application acquire and release its resources (`manage`). Components depend neither on the delegate nor on each
/// other.
@MainActor public final class Application {
  // MARK: The public interface

  /// The bus on which the application posts its notifications; any thread may use it.
  public nonisolated let bus: EventBus
  /// The budgets of the application, and the options of its life cycle.
  public nonisolated let configuration: Configuration
  /// The application's clock.
  ///
  /// A simulation can advance the time of components that wait on this clock.
  public nonisolated let clock: ApplicationClock
  /// The delegate, which the application retains.
  ///
  /// It is always the same object, except in a simulated system that makes a new delegate for each process.
  @preconcurrency public internal(set) var delegate: any ApplicationDelegate
  /// The status with which a host ends the process when the application has ended.
  ///
  /// It is 70 (`EX_SOFTWARE` of sysexits.h) if a tear-down, an open background task, or the delegate's answer whether
  /// the application may end, exceeded its time during the end. Otherwise it is the status that was passed to
  /// ``shutDown(status:cause:)``, or 0.
  public var exitStatus: Int32 { transitions.exitStatus }

  /// The reference that its parts have to it.
  package nonisolated let reference = ApplicationReference()

  // MARK: The processes of a simulation

  /// The reference to this application as a simulated system's shared one; handlers refer to it weakly.
  package var simulatedReference: SimulatedReference? {
    didSet { simulatedReference?.refer(to: self) }
  }
  /// Whether the delegate of a new process is being made; its code is that of the process.
  package internal(set) var isMakingDelegate = false
  /// Makes the delegate of each process after the first one; nil if all processes have the same delegate.
  package var makeDelegate: (@MainActor () -> any ApplicationDelegate)?

  // MARK: From an input to its effects

  /// The inputs that wait for their turn.
  nonisolated let inbox: Inbox
  /// The question whether the application may end.
  let questions: TerminationQuestions
  /// The state machine, and the current position in the life cycle.
  let transitions: Transitions
  /// The scenes and their sessions.
  let sceneDirectory = SceneDirectory()
  /// The phases that a step closes, and the budget for closing them.
  let tearDown: TearDown

  // MARK: The program's resources and tasks

  /// The managed resources, and the bodies of `run(while:)`.
  let manager: ResourceManager
  /// The tasks that ``task(label:fileID:line:_:)`` has started.
  let ownTasks: ApplicationTasks
  /// The background tasks and modes.
  nonisolated let background: BackgroundTaskManager

  // MARK: State between processes

  /// What restores and saves the program's state; nil if the program keeps none.
  package var stateKeeper: (any StateKeeper)?
  /// Whether ``saveAtOnce()`` runs.
  nonisolated let saving = Atomic(false)
  /// Where the keeper keeps it, in the place of files.
  package var stateStorage: (any StateStorage)?
  /// What follows the promises of saved state in a simulation; nil if nothing does.
  package var stateWitness: (any StateWitness)?
  /// Whether the step at which state is restored has passed in this process.
  package internal(set) var hasPassedRestoration = false

  // MARK: Observers and the ledger

  /// The observable values; code of this package reads them here, without registering with Observation.
  package nonisolated let present = ObservableValues()
  /// Whether the program has read such a property, so that each change costs more.
  package nonisolated var isObserved: Bool { present.observed.isUsed }
  /// The observers; see ``observe(label:fileID:line:_:)``.
  nonisolated let observers: ObserverList
  /// The pages of ``ledger``.
  let ownLedger: ApplicationLedger

  // MARK: Time and tasks

  /// Reads the application's clock, and sleeps on it.
  package nonisolated let timing: ClockHandle
  /// The time in which the process can run.
  package nonisolated let processTime: ProcessTime
  /// The clock of budgets, deadlines and limits, which stands still while the process does.
  nonisolated let running: ClockHandle
  /// The timers on ``running``, for objects that live as long as the application.
  package nonisolated let deadlines: Deadlines
  /// Starts all tasks, so that in a simulation they run on the simulation's executor.
  package nonisolated let tasks: TaskStarter
  /// The scope of the handlers and the work for which transitions wait.
  let scope = WorkScope()

  /// Creates an application that is not running.
  ///
  /// - Parameters:
  ///   - delegate: the object that the application calls before each notification, and retains.
  ///   - bus: the bus on which the application posts its notifications; nil for a new one, which in a simulation runs
  ///     its handlers on the simulation's executor and clock.
  ///   - configuration: the budgets of the application, and the options of its life cycle; nil for those that the
  ///     delegate's type declares (``ApplicationDelegate/configuration``).
  ///   - clock: the clock for budgets and back-off. It should stand still while the machine sleeps, as the default
  ///     clock does, so that sleep uses up no budget. The time for which a signal has stopped the process uses up none
  ///     on any clock.
  public init(
    delegate: any ApplicationDelegate, bus: EventBus? = nil, configuration: Configuration? = nil,
    clock: any Clock<Duration> = SuspendingClock()
  ) {
    let configuration = configuration ?? type(of: delegate).configuration
    let isSimulated = clock is any SimulatedClock
    self.bus = bus ?? (isSimulated ? EventBus(clock: clock) : EventBus())
    (self.delegate, self.configuration) = (delegate, configuration)
    processTime = ProcessTime(ClockHandle(clock), isSimulated: isSimulated)
    (timing, running) = (processTime.elapsed, processTime.running)
    self.clock = ApplicationClock(clock, timing: timing, processTime: processTime)
    tasks = TaskStarter(clock: clock)
    deadlines = Deadlines(running, tasks: tasks)
    observers = ObserverList(hasInterceptors: !configuration.interceptors.isEmpty)
    ownLedger = ApplicationLedger()
    manager = ResourceManager(
      of: reference, tasks: tasks, clock: timing, running: running, retry: configuration.retry,
      seed: isSimulated ? 0 : nil, scope: scope)
    ownTasks = ApplicationTasks(of: reference, tasks: tasks, now: timing.now)
    background = BackgroundTaskManager(
      of: reference, configuration: configuration, clock: running, elapsed: timing.now, starter: tasks, scope: scope)
    inbox = Inbox(tasks: tasks)
    questions = TerminationQuestions(
      of: reference, timing: timing, running: running, tasks: tasks, deadlines: deadlines)
    transitions = Transitions(configuration)
    tearDown = TearDown(
      of: reference, manager, configuration: configuration, time: processTime, tasks: tasks, deadlines: deadlines)
    reference.refer(to: self)
    (manager.parts, manager.deadlines) = (ApplicationParts(of: self), deadlines)
    noteFailuresOfHandlers()
  }

  /// Drops everything that runs or is held, as when the process vanishes: nothing is released, and nothing is retried.
  isolated deinit {
    manager.parts = nil
    manager.loseProcess()
    manager.endWaits()
    ownTasks.loseProcess()
    for scene in sceneDirectory.loseProcess() { scene.loseProcess() }
    background.loseProcess()
    background.stopClock()
    processTime.resume()
  }
}
