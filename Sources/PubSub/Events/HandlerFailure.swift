extension EventBus {
  /// A report that a handler, or another closure that the package calls, threw an error.
  ///
  /// Every such error is posted on the thread or task on which it was thrown:
  ///
  /// - the error of a handler, also where `postAndWait` waits for the handler and has the error in its report. If an
  ///   application waits for an asynchronous handler that ends in time, its error is posted on the main actor, after the wait;
  /// - the error of a task, a periodic task, a body or an observer of an application, and of an acquire, a loop, a
  ///   health check or a release of a managed resource. ``event`` is nil, and ``eventName`` names the purpose of the
  ///   call: `acquire`, `release`, `run`, `check`, `task`, `every`, `observe`, `run(while: .active)`;
  /// - the error of a closure `missed:`, without event; that of `receiveAll` has the name `missed`.
  ///
  /// It also says that a handler gave up a wait (``DrainTimeout``). A `CancellationError` of a cancelled task is no
  /// failure. An error inside a handler of `HandlerFailure`, or of a task that it starts with `application.task`, is not
  /// posted, so that reports cannot cause reports without end; an application and its host still note it.
  ///
  /// The error stops no other handler, and changes no exit status.
  public struct HandlerFailure: BusEvent {
    /// `HandlerFailure`.
    public static var name: EventName { "HandlerFailure" }
    /// The code that threw, or the subscriber whose handler gave up a wait.
    public let subscriber: EventBus.Subscriber
    /// The name of the event that was being handled; for code that handles no event, the purpose of the call.
    public let eventName: EventName
    /// The event; nil for code that handles no event, a closure `missed:`, and a ``DrainTimeout``.
    public let event: (any EventBus.Event)?
    /// The error.
    public let error: any Error
    /// Whether the error has another recipient, which decides what follows: the report of a `postAndWait`, code that
    /// awaits the task or body, a retry policy, or the reaction that was chosen for the end of a loop.
    public let hasRecipient: Bool
    /// Whether an application has the error in its ledger already.
    package var isInLedger = false
    /// Whether another event of the application tells of the error, and of the reaction to it.
    package var isToldByEvent = false
    /// The kind of report that the failed handler was called with, or inside whose handler its event was posted; nil if neither.
    var insideReport: SelfReport?

    /// Whether the code runs inside a handler of this event, also as a task that the handler started: then the bus tells
    /// its observers, and does not post the event.
    package var isInsideFailure: Bool {
      get { insideReport == .failure }
      set { insideReport = newValue ? .failure : nil }
    }

    /// Makes the event, for a test of its subscribers.
    public init(
      subscriber: EventBus.Subscriber, eventName: EventName, event: (any EventBus.Event)? = nil, error: any Error,
      hasRecipient: Bool = false
    ) {
      (self.subscriber, self.eventName, self.event, self.error) = (subscriber, eventName, event, error)
      self.hasRecipient = hasRecipient
    }
  }
}

extension Error {
  /// Whether the error, just thrown in the present task, is a failure: not the `CancellationError` of a cancelled task.
  package var isFailure: Bool { !(self is CancellationError && Task.isCancelled) }
}
