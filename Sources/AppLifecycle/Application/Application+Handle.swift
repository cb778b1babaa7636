internal import PubSub
internal import Synchronization

// All inputs wait in one queue. One task runs them, one transition after another. If the queue is empty and no task works on
// it, the task that sends an input runs it itself, which saves two changes of tasks.

/// An input on its way.
struct PendingInput: Sendable {
  let input: SystemInput
  let cause: LifecycleCause
  var waiter: UnsafeContinuation<TransitionReport, Never>?
  /// The wait of the handler that sent the input, if it was sent inside one.
  var wait: WaitToken?
  /// The question that was answered before this end; its inputs are this one's.
  var question: TerminationQuestion?

  /// Answers the sender.
  ///
  /// The wait ends here, and not when the sender goes on: until then another transition may begin.
  func answer(_ report: TransitionReport) {
    wait?.end()
    waiter?.resume(returning: report)
  }
}

/// What waits for its turn between transitions: inputs, and what the system's clock does.
struct InputQueue: Sendable {
  enum Element: Sendable {
    case input(PendingInput)
    /// A deadline of the background has passed.
    case backgroundClock
  }

  /// Recent arrivals, in order of arrival.
  private var incoming: [Element] = []
  /// Earlier arrivals, in reverse order: taking the first of many does not move the others.
  private var outgoing: [Element] = []
  private var isBeingWorkedOff = false

  /// The inputs that wait, in order of arrival.
  var inputs: [SystemInput] {
    (outgoing.reversed() + incoming).compactMap { if case .input(let pending) = $0 { pending.input } else { nil } }
  }

  /// Whether nothing waits.
  var isEmpty: Bool { incoming.isEmpty && outgoing.isEmpty }

  /// Adds an element.
  ///
  /// - Returns: true if no task works on the queue, so that the caller must start one.
  mutating func add(_ element: Element) -> Bool {
    incoming.append(element)
    defer { isBeingWorkedOff = true }
    return !isBeingWorkedOff
  }

  /// Begins a turn of the caller's own, if the queue is empty and no task works on it.
  ///
  /// - Returns: whether the turn has begun.
  mutating func beginOwnTurn() -> Bool {
    guard !isBeingWorkedOff else { return false }
    isBeingWorkedOff = true
    return true
  }

  /// Ends the caller's own turn.
  ///
  /// - Returns: true if elements have arrived meanwhile, so that the caller must start a task for them.
  mutating func endOwnTurn() -> Bool {
    isBeingWorkedOff = !isEmpty
    return isBeingWorkedOff
  }

  /// Takes the next; nil ends the work.
  mutating func next() -> Element? {
    if outgoing.isEmpty {
      outgoing = incoming.reversed()
      incoming = []
    }
    guard let next = outgoing.popLast() else {
      isBeingWorkedOff = false
      return nil
    }
    return next
  }
}

/// One run of a handler, or of a background task's operation, that transitions may wait for.
///
/// Bound in a ``HandlerContext``, which events that the handler waits for carry along. Tasks that the handler starts inherit it
/// and may outlive it, hence the flag.
final class HandlerRun: AwaitedWork {
  /// Marks the application whose handler it is.
  let owner: WorkOwner
  /// The process in which it began.
  let generation: Int
  /// The lease for which it runs; nil if it belongs to no resource.
  let lease: ResourceLease?
  /// Asks it to end before it is cancelled; nil unless it is a body or a run loop.
  let closing: PhaseClosing?
  private let hasEnded = Atomic(false)

  init(of owner: WorkOwner, generation: Int, lease: ResourceLease? = nil, closing: PhaseClosing? = nil) {
    (self.owner, self.generation, self.lease, self.closing) = (owner, generation, lease, closing)
  }

  /// The run inside which the present task runs, or which started it; it may be over.
  static var bound: HandlerRun? { HandlerContext.bound?.work as? HandlerRun }

  var isOver: Bool {
    get { hasEnded.load(ordering: .acquiring) }
    set { hasEnded.store(newValue, ordering: .releasing) }
  }

  var isUnderWay: Bool { !isOver }
}

extension Application {
  /// Runs the transition of an input, and returns when it has finished, tear-down included, or when its budget has passed.
  ///
  /// Inputs run in order of arrival, after the transition that is under way. Inside a handler that a transition waits for (an
  /// asynchronous handler of a closing notification, acquire and release of a managed resource, a body of
  /// ``run(while:label:fileID:line:_:)``, the operation of a ``performBackgroundTask(named:_:)``) the input is queued and this
  /// method returns at once. The same holds inside an asynchronous handler of a bus for which such a handler waits, with
  /// `postAndWait` or `cancelAndDrain`, directly or along a chain of waits. An event of a plain `post` is not waited for: in its
  /// handler this method waits. A task that such a handler has started waits like any other once the handler is over.
  /// Cancelling the calling task ends nothing early.
  ///
  /// For a ``SystemInput/terminate`` the method returns when the application has ended or the delegate has refused; while the
  /// question is open, other inputs run. Inside the question itself it is queued.
  ///
  /// - Parameters:
  ///   - input: what the system does.
  ///   - cause: what records and notifications call it; the input itself if nil.
  /// - Returns: what became of it.
  @discardableResult
  public func handle(_ input: SystemInput, cause: LifecycleCause? = nil) async -> TransitionReport {
    let cause = cause ?? LifecycleCause(input)
    let context = HandlerContext.enclosing
    let wait = context?.beginWait(for: input == .terminate ? [scope, questionScope] : [scope])
    let isCircular = context != nil && wait == nil
    if isCircular || input == .terminate && isInsideOwnQuestion {
      wait?.end()
      enqueue(.input(PendingInput(input: input, cause: cause)))
      return TransitionReport(outcome: .queued, cause: cause, from: present.state, to: present.state)
    }
    // What may have to wait for an answer goes through the queue.
    if input != .terminate, canTakeTurn, inbox.withLock({ $0.beginOwnTurn() }) {
      let report = await run(PendingInput(input: input, cause: cause))
      if inbox.withLock({ $0.endOwnTurn() }) { startWorkingOff() }
      return report
    }
    return await withUnsafeContinuation { waiter in
      enqueue(.input(PendingInput(input: input, cause: cause, waiter: waiter, wait: wait)))
    }
  }

  /// Queues an input and returns at once; may be called from any thread.
  ///
  /// - Parameters:
  ///   - input: what the system does.
  ///   - cause: what records and notifications call it; the input itself if nil.
  public nonisolated func send(_ input: SystemInput, cause: LifecycleCause? = nil) {
    enqueue(.input(PendingInput(input: input, cause: cause ?? LifecycleCause(input))))
  }

  /// Whether transitions may run in the present task: it belongs to no handler, old or new, and need not be seen by a
  /// simulation.
  private var canTakeTurn: Bool {
    HandlerContext.bound == nil && tasks.executor == nil && !observers.isCalling
  }

  nonisolated func enqueue(_ element: InputQueue.Element) {
    let mustStart = inbox.withLock { $0.add(element) }
    if mustStart {
      startWorkingOff()
    } else if case .input(let pending) = element, pending.input.mayBringToForeground {
      // It may have to hurry the tear-down that is being awaited.
      tasks.startOnMainActor { self.hurryTearDownIfReturning() }
    }
  }

  /// The transitions belong to no sender, though one has sent the first input.
  private nonisolated func startWorkingOff() {
    tasks.startDetachedOnMainActor(priority: priority) { await self.workOff() }
  }

  private func workOff() async {
    while let next = inbox.withLock({ $0.next() }) {
      switch next {
      case .input(let pending):
        guard let report = await take(pending) else { continue }
        pending.answer(report)
        for input in pending.question?.inputs ?? [] { input.answer(report) }
      case .backgroundClock: await passBackgroundTime()
      }
    }
  }

  /// Cancels the tear-down if a waiting input brings the application back.
  ///
  /// It is awaited all the same.
  func hurryTearDownIfReturning() {
    // Inputs that arrive after the process ended start a new one.
    guard tearDown != nil, machine.state.isInMemory else { return }
    // Where one of several scenes has left, the application has not, and cannot come back.
    guard !present.state.isForeground else { return }
    var future = machine
    for input in inbox.withLock({ $0.inputs }) {
      _ = future.handle(input)
      if !future.state.isInMemory { return }
      if future.state.isForeground { return hurryTearDown() }
    }
  }
}

extension SystemInput {
  /// Whether the input can bring an application into the foreground at all.
  fileprivate var mayBringToForeground: Bool {
    switch self {
    case .launch, .open, .openScene, .unlock: true
    default: false
    }
  }
}
