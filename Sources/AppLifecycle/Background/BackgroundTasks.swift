/// The background tasks that any thread begins and ends: the state behind the lock of ``BackgroundTaskManager``.
///
/// ``time`` decides at once. The news of each decision waits, in the order of the decisions, until the main actor tells
/// observers and the ledger.
struct BackgroundTasks: Sendable {
  typealias TaskID = BackgroundTimeStateMachine.TaskID
  typealias OpenTask = BackgroundTimeStateMachine.OpenTask
  typealias Handler = @MainActor () -> Void

  /// A decision of which the main actor has not told yet.
  enum News: Sendable {
    case began(OpenTask)
    case ended(OpenTask, LedgerEntry.Outcome, at: Duration)
    /// A task was refused; there is a record only if there was a process.
    case refused(name: String, RefusedTasks.Refusal, hasProcess: Bool)
    case endedTwice(name: String)
  }

  var time: BackgroundTimeStateMachine
  /// The expiration handlers of the open tasks that have not expired.
  private var handlers: [TaskID: Handler] = [:]
  /// The operations for which an end of the application may wait.
  private var operations: [TaskID: BackgroundOperation] = [:]
  private var refusals = RefusedTasks()
  /// The number of the process; modes of an earlier process ended with it.
  private(set) var process = 0

  /// Recent news, in order.
  private var incoming: [News] = []
  /// Earlier news, in reverse order, so that removing the first one does not move the others.
  private var outgoing: [News] = []
  /// Whether a task that tells the news has been started and has not begun.
  private var isTellingSoon = false

  init(limits: BackgroundTimeStateMachine.Limits) { time = BackgroundTimeStateMachine(limits: limits) }
}

// MARK: - Beginning and ending

extension BackgroundTasks {
  /// A task that has begun or was refused.
  struct Begun {
    let id: TaskID
    let isRefused: Bool
    /// Whether the handler or operation of the task is called: false if tasks are begun and refused without end.
    let isCalled: Bool
  }

  mutating func begin(named name: String, at now: Duration) -> Begun {
    let (id, isRefused) = time.beginTask(named: name, at: now)
    guard isRefused else {
      if let task = time.tasks.last { incoming.append(.began(task)) }
      return Begun(id: id, isRefused: false, isCalled: true)
    }
    let refusal = refusals.note()
    // A task of code that outlives its process is refused without a record.
    incoming.append(.refused(name: name, refusal, hasProcess: time.hasProcess))
    return Begun(id: id, isRefused: true, isCalled: refusal == .isCalled)
  }

  /// Sets the handler to call at the expiration of a task or, if the task was refused, soon.
  mutating func set(_ handler: @escaping Handler, for task: Begun) {
    if task.isRefused { refusals.add(task.id, handler) } else { handlers[task.id] = handler }
  }

  mutating func set(_ operation: BackgroundOperation, for task: Begun) { operations[task.id] = operation }

  /// Ends a task.
  ///
  /// - Returns: the handler of the task; release it outside the lock, because what it has captured may end tasks.
  mutating func end(_ id: TaskID, named name: String, at now: Duration) -> Handler? {
    let task = time[id]
    let end = time.endTask(id)
    let operation = operations.removeValue(forKey: id)
    operation?.run.isOver = true
    // An operation is cancelled at its expiration.
    if let task {
      incoming.append(.ended(task, task.hasExpired && operation != nil ? .cancelled : .completed, at: now))
    }
    if end == .endedTwice { incoming.append(.endedTwice(name: name)) }
    return handlers.removeValue(forKey: id) ?? refusals.remove(id)
  }

  /// Notes that each open task was not ended in time.
  mutating func giveUp(at now: Duration) {
    for task in time.giveUpTasks() {
      incoming.append(.ended(task, .neverEnded, at: now))
      operations[task.id]?.run.isOver = true
    }
  }

  // MARK: The process

  /// What a process leaves behind; the caller releases and cancels it outside the lock.
  struct Remains {
    fileprivate(set) var handlers: [TaskID: Handler] = [:]
    /// The operations, in the order in which they began.
    fileprivate(set) var operations: [BackgroundOperation] = []
  }

  /// Handles the commit of a state; the end of the process ends its tasks.
  mutating func didCommit(_ state: ApplicationState, at now: Duration, elapsed: Duration) -> Remains {
    let lost = state == .notRunning ? time.tasks : []
    time.didCommit(state, at: now)
    refusals.begin()
    incoming += lost.map { .ended($0, .cutShort, at: elapsed) }
    return state == .notRunning ? loseProcess() : Remains()
  }

  mutating func loseProcess() -> Remains {
    process += 1
    defer { (handlers, operations) = ([:], [:]) }
    return Remains(handlers: handlers, operations: operations.sorted { $0.key < $1.key }.map(\.value))
  }

  // MARK: Handlers

  /// Takes the name and the handler of a task that expires; nil if the task has ended meanwhile.
  mutating func takeHandler(of id: TaskID) -> (name: String, call: Handler?)? {
    time[id].map { ($0.name, handlers.removeValue(forKey: id)) }
  }

  /// Takes the next handler of a refused task.
  mutating func nextRefused() -> Handler? { refusals.next() }
}

// MARK: - News

extension BackgroundTasks {
  /// Whether there is news of which the main actor has not told yet.
  var hasNews: Bool { !(incoming.isEmpty && outgoing.isEmpty) }

  /// Whether the handler of a refused task waits to be called.
  var hasRefused: Bool { refusals.hasWaiting }

  /// Returns whether the caller must start a task that tells the news.
  mutating func mustStartTelling() -> Bool {
    guard !isTellingSoon, hasNews else { return false }
    isTellingSoon = true
    return true
  }

  /// Takes the first of the news.
  mutating func nextNews() -> News? {
    isTellingSoon = false
    if outgoing.isEmpty {
      outgoing = incoming.reversed()
      incoming = []
    }
    return outgoing.popLast()
  }
}
