/// The state machine of a mailbox: it decides the next step, and the mailbox performs it; guarded by the mailbox's
/// lock.
///
/// No part of it depends on the type of the events (see ``RawEvents``).
struct MailboxState {
  /// The next step of a run.
  enum Step {
    /// Call the handler with the number of lost events.
    case tellMissed(EventQueue.Gap)
    /// Handle this number of events of the batch.
    case handle(Int)
    /// Handle one event of the batch, which was posted inside a handler of a report.
    case handleInside(SelfReport)
    /// Handle one event of the batch, for which a post waits.
    case handleAwaited(AwaitedDelivery, inside: SelfReport?)
    /// Release the batch, and ask for the next step again.
    case drop
    /// Continue with the rest of the batch in a new task: this task was cancelled, and a cancelled task stays
    /// cancelled.
    case leave
    /// End, and call the actions that waited for the end.
    case end([@Sendable () -> Void])
  }

  var queue: EventQueue
  /// Whether a run is under way or about to start.
  private(set) var isRunning = false
  private var isToStart = false
  private(set) var isClosed = false
  /// Whether the subscription is to one event only.
  private let isOnce: Bool
  /// Whether a subscription to one event holds it or handles it.
  private var hasItsEvent = false
  /// The number of the latest task; `keep` compares it, so that it does not store the handle of a task that has ended.
  private var taskNumber: UInt64 = 0
  private var task: Task<Void, Never>?
  /// The awaited delivery that the run handles now, if it handles one.
  private var underWay: AwaitedDelivery?
  private var isTaskCancelled = false
  private var idleActions: [@Sendable () -> Void] = []

  init(_ buffering: EventBus.Buffering, once: Bool) { (queue, isOnce) = (EventQueue(buffering), once) }

  var refusesEvents: Bool { isClosed || hasItsEvent }

  /// Follows whether a subscription to one event holds it: an event was added, and the bound may have dropped it, or a
  /// post has taken back an event that was not handled.
  mutating func followItsEvent() { if isOnce { hasItsEvent = !queue.events.isEmpty } }

  /// Whether the run handles an awaited delivery, or is about to.
  func isAbout(_ delivery: AwaitedDelivery) -> Bool { underWay == delivery }

  /// Notes the arrival of an event; returns whether the caller must wake the mailbox.
  @inline(__always)
  mutating func shouldWake() -> Bool {
    if isRunning { return queue.hasDropped }
    (isRunning, isToStart) = (true, true)
    return true
  }

  /// Returns true to exactly one caller, which must start the run; false if no run is due.
  mutating func shouldStart() -> Bool {
    defer { isToStart = false }
    return isToStart
  }

  // MARK: The task

  /// Returns the number of the task that the caller is about to start.
  mutating func nextTask() -> UInt64 {
    taskNumber += 1
    (task, isTaskCancelled) = (nil, false)
    return taskNumber
  }

  /// Stores the handle of a started task; returns true if the task must be cancelled because of a request in the
  /// meantime.
  mutating func keep(_ started: Task<Void, Never>, number: UInt64) -> Bool {
    guard isRunning, taskNumber == number else { return false }
    task = started
    return isTaskCancelled
  }

  /// Returns the task to cancel for a delivery whose deadline has passed or whose poster was cancelled; nil if that run
  /// has ended.
  mutating func cancelTask(of delivery: AwaitedDelivery) -> Task<Void, Never>? {
    guard underWay == delivery else { return nil }
    isTaskCancelled = true
    return task
  }

  /// Notes that the running task is cancelled, because a delivery with a cancelled poster begins; later events need a
  /// new task.
  mutating func noteCancelledTask() { isTaskCancelled = true }

  // MARK: The run

  mutating func nextStep<E>(_ batch: inout RawEvents, as type: E.Type) -> Step {
    underWay = nil
    if isTaskCancelled {
      isTaskCancelled = false
      return .leave
    }
    if isClosed { return batch.isEmpty ? end(&batch) : .drop }
    if batch.isEmpty {
      if let gap = queue.takeGap() { return .tellMissed(gap) }
      if queue.events.isEmpty { return end(&batch) }
      guard !queue.isBounded else { return nextWithinBound(&batch, as: type) }
      queue.takeAll(into: &batch)
    }
    let unmarked = queue.nextMarked - batch.first
    return unmarked > 0 ? .handle(min(unmarked, batch.count)) : handleMarked()
  }

  /// Takes one event at a time: an event that the run has taken no longer counts toward the bound.
  private mutating func nextWithinBound<E>(_ batch: inout RawEvents, as type: E.Type) -> Step {
    let isMarked = queue.nextMarked == queue.events.first
    batch.append(queue.takeFirst(as: type), as: type)
    return isMarked ? handleMarked() : .handle(1)
  }

  private mutating func handleMarked() -> Step {
    let mark = queue.takeMark()
    guard let delivery = mark.delivery else { return mark.report.map { .handleInside($0) } ?? .handle(1) }
    underWay = delivery
    return .handleAwaited(delivery, inside: mark.report)
  }

  private mutating func end(_ batch: inout RawEvents) -> Step {
    queue.recycle(&batch)
    (isRunning, task) = (false, nil)
    defer { idleActions = [] }
    return .end(idleActions)
  }

  // MARK: The end

  /// Closes the mailbox, and returns what the caller must release, end and call.
  ///
  /// The caller must release the events and end the deliveries of the marks. The actions waited for a run that will no
  /// longer begin; the caller must call them.
  mutating func close() -> (events: [RawEvents], marks: [EventQueue.Mark], actions: [@Sendable () -> Void]) {
    isClosed = true
    let (events, marks) = queue.removeAll()
    let held = queue.takeDropped().map { [events, $0] } ?? [events]
    guard shouldStart() else { return (held, marks, []) }
    isRunning = false
    defer { idleActions = [] }
    return (held, marks, idleActions)
  }

  /// Stores the action for the end of the present run; returns false if there is no run.
  mutating func keepsUntilIdle(_ action: @escaping @Sendable () -> Void) -> Bool {
    if isRunning { idleActions.append(action) }
    return isRunning
  }
}
