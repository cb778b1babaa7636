/// One run of an asynchronous handler: with one event, from its call to its return.
///
/// Bound for the run in a ``HandlerContext``, so that a wait inside it can be told apart from one outside. Tasks that the
/// handler starts inherit it and may outlive the run, hence ``isUnderWay``. Nothing is allocated for it.
struct HandlerRun: Sendable {
  /// How long a wait made inside a handler lasts, unless it was given a budget.
  static let waitBudget: Duration = .seconds(30)

  let receiver: any AsynchronousReceiver
  /// Which of the receiver's runs it is.
  let number: UInt64
  let eventType: any BusEvent.Type
  /// The post that waits for this run, if one does: through it the chain of waits travels with the event.
  let cause: AwaitedPost?

  var isUnderWay: Bool { receiver.runUnderWay == number }
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
    if let run = HandlerContext.current?.run, run.receiver.isCancelled { throw Cancelled() }
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
