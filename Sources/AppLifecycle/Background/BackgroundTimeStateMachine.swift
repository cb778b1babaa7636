/// The time that the system gives an application in the background, as a pure state machine: for an instant it returns what is
/// due, and when to ask again.
///
/// A *stay* runs from a commit of background to the next commit, and its clocks count from its beginning. While a background
/// mode lasts no clock runs; when the last mode ends a new stay begins. With the platform's limits:
///
///     0 s ─────────── 5 s ─────────────────────── 25 s ─────────────────── 30 s
///     commit          without tasks: suspended    expiration handlers      a task still open: purged
///     of background                               begins are refused
///
/// An application whose last task ends after the 5 s is suspended at once.
struct BackgroundTimeStateMachine: Sendable, Hashable {
  /// The limits on a stay.
  struct Limits: Sendable, Hashable {
    /// How long a stay without tasks lasts.
    var stay: Duration
    /// How long tasks may prolong it, from the beginning of the stay.
    var allowance: Duration
    /// How long before the end of the allowance the expiration handlers run.
    var expirationLead: Duration

    fileprivate var expiration: Duration { max(.zero, allowance - expirationLead) }
  }

  /// Something that is due.
  enum Action: Sendable, Hashable {
    /// The task's expiration handler is called.
    case expire(TaskID)
    /// These tasks, in order of begin, were not ended in time: each is reported, then the process is purged.
    case purge(because: [String])
    /// The application is suspended.
    case suspend
  }

  /// The effect of a call that ends a task.
  enum End: Sendable, Hashable {
    case ended
    /// It had been ended before.
    case endedTwice
    /// It belonged to a process that has vanished.
    case outdated
  }

  /// The number of a task, valid also after its end; grows with each begin.
  typealias TaskID = Int

  /// A task that has not been ended.
  struct OpenTask: Sendable, Hashable {
    let id: TaskID
    let name: String
    let began: Duration
    /// Whether its expiration handler has been called.
    var hasExpired = false
  }

  private let limits: Limits
  private var state = ApplicationState.notRunning
  /// When the stay began; nil outside the background, and while a mode lasts.
  private var stayBegan: Duration?
  /// The stay's tasks have expired: begins are refused until it ends.
  private var refusesTasks = false
  /// The open tasks, in order of begin.
  private(set) var tasks: [OpenTask] = []
  /// The tasks that were refused or given up, and have not been ended yet.
  private var timeless: Set<TaskID> = []
  private var nextID: TaskID = 0
  /// The first number of the present process; smaller ones belong to earlier processes.
  private var firstID: TaskID = 0
  /// The number of background modes that last.
  private var modes = 0

  /// The time of an application that is not running.
  init(limits: Limits) { self.limits = limits }

  var isInBackground: Bool { state == .background }

  /// Whether there is a process to give time to.
  var hasProcess: Bool { state.isInMemory }
}

// MARK: - The application's state

extension BackgroundTimeStateMachine {
  /// The application has committed a state: that ends a stay, and may begin another.
  ///
  /// With the process, its tasks and modes end.
  mutating func didCommit(_ state: ApplicationState, at now: Duration) {
    self.state = state
    if state == .notRunning {
      tasks = []
      timeless = []
      modes = 0
      firstID = nextID
    }
    beginStayIfDue(at: now)
  }

  /// How long the application may still run; nil if that is not limited.
  func remaining(at now: Duration) -> Duration? {
    if state.isForeground || modes > 0 { return nil }
    guard let stayBegan else { return .zero }
    return max(.zero, stayBegan + limits.allowance - now)
  }

  private mutating func beginStayIfDue(at now: Duration) {
    stayBegan = state == .background && modes == 0 ? now : nil
    refusesTasks = false
  }
}

// MARK: - Tasks and modes

extension BackgroundTimeStateMachine {
  /// Begins a task.
  ///
  /// It is refused if the time of tasks is over, or if there is no process.
  mutating func beginTask(named name: String, at now: Duration) -> (id: TaskID, isRefused: Bool) {
    let id = nextID
    nextID += 1
    let isRefused = refusesTasks || !hasProcess
    if isRefused { timeless.insert(id) } else { tasks.append(OpenTask(id: id, name: name, began: now)) }
    return (id, isRefused)
  }

  /// Ends a task, whether it has expired or not.
  mutating func endTask(_ id: TaskID) -> End {
    if let index = tasks.firstIndex(where: { $0.id == id }) {
      tasks.remove(at: index)
      return .ended
    }
    // A refused task may be ended once, like any other.
    if timeless.remove(id) != nil { return .ended }
    return id < firstID ? .outdated : .endedTwice
  }

  /// Gives the open tasks up: they are no longer waited for.
  ///
  /// - Returns: the tasks, in order of begin.
  mutating func giveUpTasks() -> [OpenTask] {
    defer { tasks = [] }
    timeless.formUnion(tasks.map(\.id))
    return tasks
  }

  subscript(id: TaskID) -> OpenTask? { tasks.first { $0.id == id } }

  /// Begins a mode: the stay's clocks stop.
  mutating func beginMode() {
    modes += 1
    stayBegan = nil
    refusesTasks = false
  }

  /// Ends a mode.
  ///
  /// With the last mode a new stay begins.
  ///
  /// - Returns: whether a new stay has begun.
  mutating func endMode(at now: Duration) -> Bool {
    modes -= 1
    if modes == 0 { beginStayIfDue(at: now) }
    return stayBegan != nil
  }
}

// MARK: - The clock

extension BackgroundTimeStateMachine {
  /// The next instant at which something is due, which may have passed already; nil if no clock runs.
  var nextDeadline: Duration? {
    guard let stayBegan else { return nil }
    var next: [Duration] = []
    if !refusesTasks || tasks.contains(where: { !$0.hasExpired }) { next.append(limits.expiration) }
    next.append(tasks.isEmpty ? limits.stay : limits.allowance)
    return next.min().map { stayBegan + $0 }
  }

  /// Returns what is due first; nil if nothing is.
  ///
  /// The caller performs the action and calls this again, as a handler may end or begin tasks. ``Action/purge(because:)`` and
  /// ``Action/suspend`` lead to a commit.
  mutating func nextAction(at now: Duration) -> Action? {
    guard let stayBegan else { return nil }
    let length = now - stayBegan
    if length >= limits.expiration, let id = expireNext() { return .expire(id) }
    guard !tasks.isEmpty else { return length >= limits.stay ? .suspend : nil }
    return length >= limits.allowance ? .purge(because: tasks.map(\.name)) : nil
  }

  /// Returns the first open task whose expiration handler has not been called yet, and marks it as expired.
  ///
  /// Until the stay ends, further tasks are refused. Tasks that began after `last` are left alone.
  mutating func expireNext(notAfter last: TaskID = .max) -> TaskID? {
    refusesTasks = stayBegan != nil
    guard let index = tasks.firstIndex(where: { !$0.hasExpired && $0.id <= last }) else { return nil }
    tasks[index].hasExpired = true
    return tasks[index].id
  }
}
