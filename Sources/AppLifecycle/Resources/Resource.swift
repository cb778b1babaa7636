internal import PubSub
internal import Scheduling

/// The reactions of a resource to failures, and the interval of its health check.
struct ResourceHabits {
  /// The policy for retries; nil for the application's policy.
  var retry: RetryPolicy?
  /// What makes it ready.
  var readiness = Readiness.atOnce
  /// The time from one check to the next, and the time that a check may take.
  var checkInterval = Duration.zero
  /// The reactions when the loop returns, and when it throws.
  var onReturn = RunEnd.invalidate
  var onError = RunEnd.invalidate
}

/// The operations of a resource, without the type of its handle.
@MainActor final class ResourceOperations {
  let name: String
  /// The storage of the handle.
  let holding: ResourceHolding
  /// The source position of a body; nil for a resource.
  let body: EventBus.Subscriber?
  var habits = ResourceHabits()
  /// Acquires the resource and returns the handle; throws the error of the acquire.
  let acquire: @MainActor () async throws -> HeldHandle
  /// The run loop beside the handle.
  var run: (@MainActor (HeldHandle) async throws -> Void)?
  /// The health check.
  var check: (@MainActor (HeldHandle) async throws -> Void)?
  /// Called with an error of the loop, in place of a reaction.
  var loopDidThrow: (@MainActor (any Error) -> Void)?
  /// Whether a body no longer begins, because it was cancelled or its owner was released.
  var isOver: (@MainActor () -> Bool)?
  /// Called when a body is no longer wanted because its own phase has closed, also if it has not begun.
  var becameIdle: (@MainActor () -> Void)?
  /// Whether a body has its first run although its phase closes; nil for a body without a first run to have.
  var isOwedRun: (@MainActor () -> Bool)?
  /// Makes the release of a handle.
  let release: @MainActor (HeldHandle) -> @MainActor () async throws -> Void
  /// Called when the resource is no longer managed, and not held.
  var whenForgotten: (@MainActor () -> Void)?

  init(
    name: String, holding: ResourceHolding, body: EventBus.Subscriber? = nil,
    acquire: @escaping @MainActor () async throws -> HeldHandle,
    release: @escaping @MainActor (HeldHandle) -> @MainActor () async throws -> Void
  ) {
    (self.name, self.holding, self.body) = (name, holding, body)
    (self.acquire, self.release) = (acquire, release)
  }

  deinit { holding.forget() }

  /// The name and position that a simulation reports for escaped work.
  var source: EventBus.Subscriber { body ?? EventBus.Subscriber(label: name, fileID: "", line: 0) }
}

/// The data of a resource outside the graph.
@MainActor final class Resource {
  let operations: ResourceOperations
  let holding: ResourceHolding
  let isBody: Bool
  let phase: LifecyclePhase
  /// Whether it was registered while a process ran, or depends on a resource that was.
  let isOfProcess: Bool
  /// The latest error of an acquire or a release, or the reason of an invalidation.
  var lastError: String?
  /// The failure of this resource or of one on which it depends, if that one was given up.
  var givenUp: GivenUp?
  /// The generation of the process whose end its break has ordered, because its policy says so.
  var endedProcess: Int?
  /// The time of the latest change of status.
  var since: Duration
  /// The delay after its latest failure.
  var retryDelay: Duration?
  /// The time when its operation began, or, before that, when the operation was decided.
  var operationBegan = Duration.zero
  var operationHasBegun = false
  /// Whether the operation was decided while a simulated process was suspended, so that it begins when the process runs.
  var waitsForProcess = false
  /// The number of its operation for observers.
  var call: TracedCall.ID?
  /// The same call with the interceptors to run around it; nil if there are none.
  var intercepted: InterceptedCall?
  /// The transition that decided on its operation; nil if none did, and without interceptors.
  var transition: TracedTransition.ID?
  /// The ledger page of its operation.
  var page: ApplicationLedger.PageID?
  /// The run loop and the health check while the resource is held.
  var lease: HeldLease?
  /// Whether the release is hurried, because the resource is needed again.
  var isCutShort = false
  /// Whether the loop still ran when the release began.
  var endsLoop = false
  /// The number of its current operation.
  private(set) var operation = 0
  /// The deadline of a release or a cancelled acquire for which no tear-down waits.
  var timer: Deadlines.ID?

  init(operations: ResourceOperations, phase: LifecyclePhase, since: Duration, isOfProcess: Bool) {
    (self.operations, self.phase, self.since, self.isOfProcess) = (operations, phase, since, isOfProcess)
    (holding, isBody) = (operations.holding, operations.body != nil)
  }

  func operationIsDecided(at time: Duration, in parts: ApplicationParts?) {
    (operationBegan, operationHasBegun, isCutShort, call, intercepted) = (time, false, false, nil, nil)
    operation += 1
    page = parts?.ledger.page
    transition = parts?.transitions.traced
    waitsForProcess = parts?.processTime.isHeld ?? false
  }

  func operationBegins(at time: Duration) { (operationBegan, operationHasBegun) = (time, true) }

  /// Returns a ledger entry for its operation, or for another call that began at a time; for a body, for its end.
  func entry(
    _ step: CallStep, _ outcome: LedgerEntry.Outcome, began: Duration? = nil, at time: Duration
  ) -> LedgerEntry {
    let began = began ?? operationBegan
    let duration = time - began
    if let body = operations.body {
      return LedgerEntry(
        .runBody, body, step: CallStep.body(while: phase).rawValue, began: began, duration: duration, outcome: outcome)
    }
    return LedgerEntry(
      .resource, operations.name, step: step.rawValue, began: began, duration: duration, outcome: outcome)
  }
}
