/// The time limits of an application in the background, as a pure state machine.
///
/// For an instant it returns the action that is due, and the next deadline.
///
/// A *stay* lasts from a commit of background to the next commit, or to the `willEnterForeground` before it, and its
/// limits count from its beginning. While a background mode lasts, the limits do not apply; when the last mode ends, a
/// new stay begins. With the platform's limits:
///
///     0 s ─────────── 5 s ─────────────────────── 25 s ─────────────────── 30 s
///     commit          without tasks: suspended    expiration handlers      a task still open: purged
///     of background                               begins are refused
///
/// If the last task ends after the 5 s, the application is suspended at once.
struct BackgroundTimeStateMachine: Sendable, Hashable {
  /// The limits on a stay.
  struct Limits: Sendable, Hashable {
    /// The length of a stay without tasks.
    var stay: Duration
    /// The time for which tasks may prolong the stay, from its beginning.
    var allowance: Duration
    /// The time before the end of the allowance at which the expiration handlers run.
    var expirationLead: Duration

    fileprivate var expiration: Duration { max(.zero, allowance - expirationLead) }
  }

  /// An action that is due.
  enum Action: Sendable, Hashable {
    /// Call the task's expiration handler.
    case expire(TaskID)
    /// Report these tasks, which were not ended in time, in the order in which they began; then purge the process.
    case purge(because: [String])
    /// Suspend the application.
    case suspend
  }

  /// The effect of a call that ends a task.
  enum End: Sendable, Hashable {
    case ended
    /// The task had already ended.
    case endedTwice
    /// The task belonged to a process that has vanished.
    case outdated
  }

  /// The number of a task, which grows with each new task and remains valid after its end.
  typealias TaskID = Int

  /// A task that has not ended.
  struct OpenTask: Sendable, Hashable {
    let id: TaskID
    let name: String
    let began: Duration
    /// Whether its expiration handler has been called.
    var hasExpired = false
  }

  private let limits: Limits
  private var state = ApplicationState.notRunning
  /// Whether the application is about to enter the foreground.
  private var isReturning = false
  /// The time when the stay began; nil outside the background, on the way out of it, and while a mode lasts.
  private var stayBegan: Duration?
  /// Whether the tasks of the stay have expired, so that new tasks are refused until the stay ends.
  private var refusesTasks = false
  /// Whether tasks have expired because the process is to be stopped, so that new tasks are refused unless it is not.
  private var hasExpiredForStop = false
  /// The number of the suspension that follows at once, so that new tasks are refused.
  private var suspension: Int?
  /// The open tasks, in the order in which they began.
  private(set) var tasks: [OpenTask] = []
  /// The tasks that were refused or given up, and have not ended yet.
  private var timeless: Set<TaskID> = []
  private var nextID: TaskID = 0
  /// The first task number of the current process; smaller numbers belong to earlier processes.
  private var firstID: TaskID = 0
  /// The number of background modes that last.
  private var modes = 0

  /// Creates the state for an application that is not running.
  init(limits: Limits) { self.limits = limits }

  var isInBackground: Bool { state == .background }

  /// Whether there is a process.
  var hasProcess: Bool { state.isInMemory }
}

// MARK: - The application's state

extension BackgroundTimeStateMachine {
  /// Handles a commit of a state, which ends a stay and may begin another.
  ///
  /// The tasks and modes end with the process.
  mutating func didCommit(_ state: ApplicationState, at now: Duration) {
    self.state = state
    (isReturning, suspension) = (false, nil)
    if state == .notRunning {
      tasks = []
      timeless = []
      modes = 0
      firstID = nextID
    }
    beginStayIfDue(at: now)
  }

  /// Ends the stay, because the application is about to enter the foreground.
  ///
  /// Tasks that begin from now on have no limit.
  mutating func willEnterForeground() {
    (isReturning, stayBegan, refusesTasks, hasExpiredForStop, suspension) = (true, nil, false, false, nil)
  }

  /// Returns the time that the application may still run; nil if it is not limited.
  func remaining(at now: Duration) -> Duration? {
    if state.isForeground || isReturning || modes > 0 { return nil }
    guard let stayBegan else { return .zero }
    return max(.zero, stayBegan + limits.allowance - now)
  }

  private mutating func beginStayIfDue(at now: Duration) {
    stayBegan = state == .background && !isReturning && modes == 0 ? now : nil
    (refusesTasks, hasExpiredForStop) = (false, false)
  }
}

// MARK: - Tasks and modes

extension BackgroundTimeStateMachine {
  /// Begins a task.
  ///
  /// The task is refused if the tasks of the stay have expired, if the application is about to be suspended and nothing
  /// waits for tasks any more, if it is suspended, or if there is no process.
  mutating func beginTask(named name: String, at now: Duration) -> (id: TaskID, isRefused: Bool) {
    let id = nextID
    nextID += 1
    let isRefused = refusesTasks || hasExpiredForStop || suspension != nil || !state.runsCode
    if isRefused { timeless.insert(id) } else { tasks.append(OpenTask(id: id, name: name, began: now)) }
    return (id, isRefused)
  }

  /// Ends a task, whether it has expired or not.
  mutating func endTask(_ id: TaskID) -> End {
    if let index = tasks.firstIndex(where: { $0.id == id }) {
      tasks.remove(at: index)
      return .ended
    }
    // A refused task can end once, as any other task.
    if timeless.remove(id) != nil { return .ended }
    return id < firstID ? .outdated : .endedTwice
  }

  /// Gives the open tasks up, so that no wait includes them.
  ///
  /// - Returns: the tasks, in the order in which they began.
  mutating func giveUpTasks() -> [OpenTask] {
    defer { tasks = [] }
    timeless.formUnion(tasks.map(\.id))
    return tasks
  }

  /// Refuses further tasks before a suspension, unless a task is open that still has time.
  ///
  /// - Returns: whether tasks are refused from now on, until a commit, the return, or ``reopen(after:)``.
  mutating func close(before suspension: Int, isTimeUp: Bool) -> Bool {
    guard tasks.isEmpty || isTimeUp else { return false }
    self.suspension = suspension
    return true
  }

  /// Accepts tasks again, because the suspension does not take place.
  mutating func reopen(after suspension: Int) {
    if self.suspension == suspension { self.suspension = nil }
    hasExpiredForStop = false
  }

  subscript(id: TaskID) -> OpenTask? { tasks.first { $0.id == id } }

  /// Begins a mode, which suspends the limits of the stay.
  mutating func beginMode() {
    modes += 1
    stayBegan = nil
    (refusesTasks, hasExpiredForStop) = (false, false)
  }

  /// Ends a mode; when the last mode ends, a new stay begins.
  mutating func endMode(at now: Duration) {
    modes -= 1
    if modes == 0 { beginStayIfDue(at: now) }
  }
}

// MARK: - The clock

extension BackgroundTimeStateMachine {
  /// The next instant at which an action is due, which may have passed; nil if no limit applies.
  var nextDeadline: Duration? {
    guard let stayBegan else { return nil }
    var next: [Duration] = []
    if !refusesTasks || tasks.contains(where: { !$0.hasExpired }) { next.append(limits.expiration) }
    next.append(tasks.isEmpty ? limits.stay : limits.allowance)
    return next.min().map { stayBegan + $0 }
  }

  /// Returns the first action that is due; nil if none is.
  ///
  /// The caller performs the action and calls this again, because a handler may end or begin tasks.
  /// ``Action/purge(because:)`` and ``Action/suspend`` lead to a commit.
  mutating func nextAction(at now: Duration) -> Action? {
    guard let stayBegan else { return nil }
    let length = now - stayBegan
    if length >= limits.expiration, let id = expireNext() { return .expire(id) }
    guard !tasks.isEmpty else {
      guard length >= limits.stay else { return nil }
      // A task that another thread begins before the commit would stand still without an answer.
      refusesTasks = true
      return .suspend
    }
    return length >= limits.allowance ? .purge(because: tasks.map(\.name)) : nil
  }

  /// Returns the next task up to `last` that expires before a stop, and marks it as expired; nil if no task is open.
  ///
  /// Further tasks are refused, unless all have ended, until the stay ends or the stop is called off (``reopen(after:)``).
  mutating func expireNext(ofOpen last: TaskID) -> TaskID? {
    if !tasks.isEmpty { hasExpiredForStop = stayBegan != nil }
    return expire(notAfter: last)
  }

  /// Returns the first open task whose expiration handler has not been called yet, and marks it as expired.
  ///
  /// Further tasks are refused until the stay ends.
  mutating func expireNext() -> TaskID? {
    refusesTasks = stayBegan != nil
    return expire(notAfter: .max)
  }

  private mutating func expire(notAfter last: TaskID) -> TaskID? {
    guard let index = tasks.firstIndex(where: { !$0.hasExpired && $0.id <= last }) else { return nil }
    tasks[index].hasExpired = true
    return tasks[index].id
  }
}
