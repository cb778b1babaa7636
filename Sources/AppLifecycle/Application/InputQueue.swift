internal import PubSub

/// The queue of inputs, and of passed deadlines of the background, that are handled between transitions.
struct InputQueue: Sendable {
  enum Element: Sendable {
    case input(PendingInput)
    /// A deadline of the background has passed.
    case backgroundClock
  }

  /// Recent arrivals, in order of arrival.
  private var incoming: [Element] = []
  /// Earlier arrivals, in reverse order, so that removing the first one does not move the others.
  private var outgoing: [Element] = []
  private var isBeingWorkedOff = false

  /// The inputs that wait, in order of arrival.
  var inputs: [SystemInput] {
    (outgoing.reversed() + incoming).compactMap { if case .input(let pending) = $0 { pending.input } else { nil } }
  }

  /// Whether no element waits.
  var isEmpty: Bool { incoming.isEmpty && outgoing.isEmpty }

  /// Adds an element.
  ///
  /// - Returns: true if no task works on the queue, so that the caller must start one.
  mutating func add(_ element: Element) -> Bool {
    incoming.append(element)
    defer { isBeingWorkedOff = true }
    return !isBeingWorkedOff
  }

  /// Lets the caller run an input itself, if the queue is empty and no task works on it.
  ///
  /// - Returns: whether the caller may run its input.
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

  /// Takes the next element; returns nil if none is left, and the caller's work on the queue has ended.
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

/// An input that has not been handled yet, with its sender.
struct PendingInput: Sendable {
  let input: SystemInput
  let cause: LifecycleCause
  var waiter: UnsafeContinuation<TransitionReport, Never>?
  /// The wait of the handler that sent the input; nil if no handler sent it.
  var wait: WaitToken?
  /// The answered question that this end follows; this end answers the senders of all inputs of the question.
  var question: TerminationQuestion?

  /// Answers the sender.
  ///
  /// The wait ends here, not when the sender resumes: another transition may begin before that.
  func answer(_ report: TransitionReport) {
    wait?.end()
    waiter?.resume(returning: report)
  }
}
