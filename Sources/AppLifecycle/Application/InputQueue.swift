internal import PubSub

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
