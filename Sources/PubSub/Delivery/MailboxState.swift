/// The state machine of a mailbox: it decides the next step of the mailbox's task; guarded by the mailbox's lock.
///
/// No part of it depends on the type of the events (see ``RawEvents``).
struct MailboxState {
  /// The next step of the task.
  enum Step {
    /// Call `missed:` with the number of lost events.
    case tellMissed(EventQueue.Gap)
    /// Handle this number of events of the batch.
    case handle(Int)
    /// Handle one event of the batch, which has this mark.
    case handleMarked(EventQueue.Mark)
    /// Release the batch, and ask for the next step again.
    case drop
    /// Leave the rest of the batch to a new task: this task was cancelled, and a cancelled task stays cancelled.
    case leave
    /// End, and call the actions that waited for the end.
    case end([@Sendable () -> Void])
  }

  var queue: EventQueue
  /// Whether there is a task, or one must be started.
  private var hasTask = false
  /// Whether a task must be started; several posts may call `wake` for it, and the first call takes the reservation.
  private var mustStartTask = false
  private var isClosed = false
  private let isOnce: Bool
  /// Whether a subscription with `once` holds its event or handles it.
  private var hasItsEvent = false
  /// The number of the latest task; `keep` compares it, so that it does not store the handle of a task that has ended.
  private var taskNumber: UInt64 = 0
  private var task: Task<Void, Never>?
  /// Whether the task was cancelled, so that the next event needs a new one.
  var isTaskCancelled = false
  /// The awaited delivery that the task handles now, if it handles one.
  private var present: AwaitedDelivery?
  private var idleActions: [@Sendable () -> Void] = []

  init(_ buffering: EventBus.Buffering, once: Bool) { (queue, isOnce) = (EventQueue(buffering), once) }

  var refusesEvents: Bool { isClosed || hasItsEvent }

  /// Notes whether a subscription with `once` still holds its event, after a change: the bound may have dropped an event that
  /// was added, or a post has taken back an event that was not handled.
  ///
  /// Taking an event to handle it does not call this: the event still counts. If a post takes back the event that the task has in
  /// hand, that does not count any more, and this is called.
  mutating func updateHasItsEvent() { if isOnce { hasItsEvent = !queue.events.isEmpty } }

  /// Whether the task handles an awaited delivery, or is about to.
  func isAt(_ delivery: AwaitedDelivery) -> Bool { present == delivery }

  /// Returns whether the code that has added an event must wake the mailbox; if there is no task, also reserves the start of one.
  @inline(__always)
  mutating func reserveTask() -> Bool {
    if hasTask { return queue.hasDropped }
    (hasTask, mustStartTask) = (true, true)
    return true
  }

  /// Takes the reservation: returns true to exactly one caller, which must start the task.
  mutating func takeReservation() -> Bool {
    defer { mustStartTask = false }
    return mustStartTask
  }

  // MARK: The task

  /// Returns the number of the task that the caller is about to start.
  mutating func nextTask() -> UInt64 {
    taskNumber += 1
    (task, isTaskCancelled) = (nil, false)
    return taskNumber
  }

  /// Stores the handle of a started task; returns true if it must be cancelled because of a request in the meantime.
  mutating func keep(_ started: Task<Void, Never>, number: UInt64) -> Bool {
    guard hasTask, taskNumber == number else { return false }
    task = started
    return isTaskCancelled
  }

  /// Returns the task to cancel for a delivery whose deadline has passed or whose poster was cancelled; nil if the task handles
  /// another event by now, or its handle is not kept yet (`keep` then tells its starter to cancel it).
  mutating func cancelTask(at delivery: AwaitedDelivery) -> Task<Void, Never>? {
    guard present == delivery else { return nil }
    isTaskCancelled = true
    return task
  }

  mutating func nextStep<E>(_ batch: inout RawEvents, as type: E.Type) -> Step {
    present = nil
    if isTaskCancelled {
      isTaskCancelled = false
      return .leave
    }
    if isClosed { return batch.isEmpty ? end() : .drop }
    if batch.isEmpty {
      if let gap = queue.takeGap() { return .tellMissed(gap) }
      if queue.events.isEmpty { return end() }
      queue.refill(&batch, as: type)
    }
    let unmarked = queue.nextMarked - batch.first
    if unmarked > 0 { return .handle(min(unmarked, batch.count)) }
    let mark = queue.takeMark()
    present = mark.purpose.delivery
    return .handleMarked(mark)
  }

  private mutating func end() -> Step {
    (hasTask, task) = (false, nil)
    return .end(takeIdleActions())
  }

  private mutating func takeIdleActions() -> [@Sendable () -> Void] {
    defer { idleActions = [] }
    return idleActions
  }

  // MARK: The end

  /// Closes the mailbox; the caller must release the events, end the deliveries of the marks, and call the actions,
  /// which waited for a task that will not start.
  mutating func close() -> (events: [RawEvents], marks: [EventQueue.Mark], actions: [@Sendable () -> Void]) {
    isClosed = true
    let (events, marks) = queue.removeAll()
    let held = [events] + (queue.takeDropped().map { [$0] } ?? [])
    // With the reservation no task starts any more.
    guard takeReservation() else { return (held, marks, []) }
    hasTask = false
    return (held, marks, takeIdleActions())
  }

  /// Stores the action for the end of the task; returns false if there is none.
  mutating func keepUntilIdle(_ action: @escaping @Sendable () -> Void) -> Bool {
    if hasTask { idleActions.append(action) }
    return hasTask
  }
}
