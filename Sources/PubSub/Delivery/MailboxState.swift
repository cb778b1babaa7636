/// What is known of a mailbox, and what is to be done next; guarded by the mailbox's lock.
///
/// No part of it depends on the type of the events (see ``RawEvents``). It decides; the mailbox performs.
struct MailboxState {
  /// What a run does next.
  enum Step {
    /// Tell the handler of lost events.
    case tellMissed(Int)
    /// Handle so many events of the batch.
    case handle(Int)
    /// Handle one event of the batch, which a post waits for.
    case handleAwaited(AwaitedDelivery)
    /// Release the batch, and ask again.
    case drop
    /// Go on in a fresh task with what is left, as this one has been cancelled: a cancelled task stays so.
    case leave
    /// End, and call the actions that waited for the end.
    case end([@Sendable () -> Void])
  }

  var queue: EventQueue
  /// Whether a run is under way, or about to be started.
  private(set) var isRunning = false
  private var isToStart = false
  private(set) var isClosed = false
  /// Counts the tasks, so that the handle of one that has ended is not kept.
  private var taskNumber: UInt64 = 0
  private var task: Task<Void, Never>?
  /// The delivery whose handler runs.
  private var underWay: AwaitedDelivery?
  private var isTaskCancelled = false
  private var idleActions: [@Sendable () -> Void] = []

  init(_ buffering: Buffering) { queue = EventQueue(buffering) }

  /// An event has come: whether the mailbox must be woken.
  @inline(__always)
  mutating func shouldWake() -> Bool {
    if isRunning { return queue.hasDropped }
    (isRunning, isToStart) = (true, true)
    return true
  }

  /// Whether a run is to be started, by this caller and no other.
  mutating func shouldStart() -> Bool {
    defer { isToStart = false }
    return isToStart
  }

  // MARK: The task

  /// A task is about to be started: its number.
  mutating func nextTask() -> UInt64 {
    taskNumber += 1
    (task, isTaskCancelled) = (nil, false)
    return taskNumber
  }

  /// Keeps a task that has been started; true if it is to be cancelled, as was asked for meanwhile.
  mutating func keep(_ started: Task<Void, Never>, number: UInt64) -> Bool {
    guard isRunning, taskNumber == number else { return false }
    task = started
    return isTaskCancelled
  }

  /// The deadline of a delivery has passed, or its poster was cancelled: the task to cancel, if it still handles it.
  mutating func cancelTask(of delivery: AwaitedDelivery) -> Task<Void, Never>? {
    guard underWay == delivery else { return nil }
    isTaskCancelled = true
    return task
  }

  /// A delivery begins whose poster has been cancelled: the task that runs is, too, and will not be used further.
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
      if let missed = queue.takeGap() { return .tellMissed(missed) }
      if queue.events.isEmpty { return end(&batch) }
      guard !queue.isBounded else { return nextWithinBound(&batch, as: type) }
      queue.takeAll(into: &batch)
    }
    let unmarked = queue.nextMarked - batch.first
    return unmarked > 0 ? .handle(min(unmarked, batch.count)) : handleMarked()
  }

  /// One at a time, so that the bound is kept exactly: what a run has taken no longer counts.
  private mutating func nextWithinBound<E>(_ batch: inout RawEvents, as type: E.Type) -> Step {
    let isMarked = queue.nextMarked == queue.events.first
    batch.append(queue.takeFirst(as: type), as: type)
    return isMarked ? handleMarked() : .handle(1)
  }

  private mutating func handleMarked() -> Step {
    guard let delivery = queue.takeMark().delivery else { return .handle(1) }
    underWay = delivery
    return .handleAwaited(delivery)
  }

  private mutating func end(_ batch: inout RawEvents) -> Step {
    queue.recycle(&batch)
    (isRunning, task) = (false, nil)
    defer { idleActions = [] }
    return .end(idleActions)
  }

  // MARK: The end

  /// Closes the mailbox; what it held is the caller's to release, and the actions are its to call: those that wait for a run that
  /// will not begin.
  mutating func close() -> (events: [RawEvents], marks: [EventQueue.Mark], actions: [@Sendable () -> Void]) {
    isClosed = true
    let (events, marks) = queue.removeAll()
    let held = queue.takeDropped().map { [events, $0] } ?? [events]
    guard shouldStart() else { return (held, marks, []) }
    isRunning = false
    defer { idleActions = [] }
    return (held, marks, idleActions)
  }

  /// Keeps the action for the end of the run, if there is one.
  mutating func keepsUntilIdle(_ action: @escaping @Sendable () -> Void) -> Bool {
    if isRunning { idleActions.append(action) }
    return isRunning
  }
}
