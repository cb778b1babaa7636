internal import PubSub
internal import Scheduling

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
  /// The number of suspensions that have begun and not ended; see ``Application/suspend(cause:)``.
  private var suspensions = 0
  /// The number of inputs that revoke a suspension, for the comparison with an earlier number.
  private(set) var revocations = 0

  /// The inputs that wait, in order of arrival.
  var inputs: [LifecycleInput] {
    (outgoing.reversed() + incoming).compactMap { if case .input(let pending) = $0 { pending.input } else { nil } }
  }

  /// Whether no element waits.
  var isEmpty: Bool { incoming.isEmpty && outgoing.isEmpty }

  /// Adds an element.
  ///
  /// - Returns: whether no task works on the queue, so that the caller must start one, and whether the element revokes a
  ///   suspension that has begun.
  mutating func add(_ element: Element) -> (mustStart: Bool, revokes: Bool) {
    incoming.append(element)
    var revokes = false
    if suspensions > 0, case .input(let pending) = element, pending.input.traits.contains(.revokesSuspension) {
      revocations += 1
      revokes = true
    }
    defer { isBeingWorkedOff = true }
    return (!isBeingWorkedOff, revokes)
  }

  /// Whether a suspension has begun and has not ended.
  var hasBegunSuspension: Bool { suspensions > 0 }

  /// Begins a suspension.
  ///
  /// - Returns: the present number of revocations, and whether the caller must start a task that works on the queue.
  mutating func beginSuspension(with home: PendingInput) -> (order: Int, mustStart: Bool) {
    suspensions += 1
    return (revocations, add(.input(home)).mustStart)
  }

  /// Revokes the suspensions that have begun.
  mutating func revokeSuspensions() { revocations += 1 }

  /// Adds the last input of a suspension unless the suspension was revoked.
  ///
  /// The suspension ends when the input is taken: until then an input can revoke it.
  ///
  /// - Returns: whether the caller must start a task that works on the queue; nil if the suspension was revoked.
  mutating func endSuspension(with suspend: PendingInput) -> Bool? {
    guard suspend.suspension == revocations else {
      suspensions -= 1
      return nil
    }
    return add(.input(suspend)).mustStart
  }

  /// Ends a suspension, because its last input is taken.
  ///
  /// - Parameter order: the number of revocations when the suspension began.
  /// - Returns: whether the application is to be suspended: false if the suspension was revoked.
  mutating func takeSuspension(since order: Int) -> Bool {
    suspensions -= 1
    return order == revocations
  }

  /// Lets the caller run an input itself, if the queue is empty, no task works on it, and no suspension has to notice the
  /// input.
  ///
  /// - Returns: whether the caller may run its input.
  mutating func beginOwnTurn() -> Bool {
    guard !isBeingWorkedOff, suspensions == 0 else { return false }
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
