/// One run of an asynchronous handler: with one event, from its call to its return.
///
/// Bound as a task local for the run, so that a wait inside it can be told apart from one outside. Tasks that the handler
/// starts inherit it and may outlive the run, hence ``isUnderWay``. Nothing is allocated for it.
struct HandlerRun: Sendable {
  /// How long a wait made inside a handler lasts, unless it was given a budget.
  static let waitBudget: Duration = .seconds(30)

  @TaskLocal static var current: HandlerRun?

  /// The run inside which the present task runs and which has not ended.
  static var enclosing: HandlerRun? {
    guard let current, current.isUnderWay else { return nil }
    return current
  }

  /// Starts a task that is no part of the handler's run, even if the run caused it: it would keep the handler, and what that
  /// captured, as long as it lives.
  static func startOutside<Success, Failure>(_ start: () -> Task<Success, Failure>) -> Task<Success, Failure> {
    current == nil ? start() : $current.withValue(nil, operation: start)
  }

  let receiver: any AsynchronousReceiver
  /// Which of the receiver's runs it is.
  let number: UInt64
  let eventType: any BusEvent.Type
  /// The post that waits for this run, if one does: through it the chain of waits travels with the event.
  let cause: AwaitedPost?

  var isUnderWay: Bool { receiver.runUnderWay == number }

  /// Whether the receiver's handler is this run's, or one that waits, along the chain, for this run to end.
  func isChained(to receiver: any AsynchronousReceiver) -> Bool {
    var run = self
    while run.isUnderWay {
      if run.receiver === receiver { return true }
      guard let cause = run.cause, !cause.isOver, let poster = cause.poster else { return false }
      run = poster
    }
    return false
  }
}

// MARK: - On an actor

extension HandlerRun {
  /// A handler was about to run on an actor, and its subscription was cancelled first.
  struct Cancelled: Error {}

  /// Calls a handler on the main actor, unless its subscription was cancelled while the run waited for its turn there: no
  /// handler runs after the main actor has cancelled it.
  @MainActor static func onMainActor(_ handler: @MainActor () async throws -> Void) async throws {
    try checkThatStands()
    try await handler()
  }

  /// The same for a handler of an actor's own.
  static func on<Owner: Actor, E: BusEvent>(
    _ owner: isolated Owner, with event: E, _ handler: @Sendable (isolated Owner, E) throws -> Void
  ) throws {
    try checkThatStands()
    try handler(owner, event)
  }

  private static func checkThatStands() throws(Cancelled) {
    if let current, current.receiver.isCancelled { throw Cancelled() }
  }
}

/// The handler of a subscription that has a mailbox, whatever the type of its events.
protocol AsynchronousReceiver: Receiver {
  var subscriber: Subscriber { get }

  /// Whether the subscription has been cancelled.
  var isCancelled: Bool { get }

  /// The number of the handler's run that is under way; nil if none is.
  var runUnderWay: UInt64? { get }

  /// Takes out an event that is waited for no longer.
  func withdraw(_ delivery: AwaitedDelivery)

  /// Cancels the run that handles an event, if it still does.
  func cancelRun(of delivery: AwaitedDelivery)

  /// Drops what is held and takes nothing more; the handler that runs goes on.
  func close()

  /// Calls once no handler runs and none is about to; at once if that is so.
  func whenIdle(_ action: @escaping @Sendable () -> Void)
}
