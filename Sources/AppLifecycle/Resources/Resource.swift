internal import PubSub

/// A resource's own operations, the type of its handle forgotten.
@MainActor final class ResourceOperations {
  let name: String
  /// Where the handle is kept.
  let holding: ResourceHolding
  /// Where a body stands in the source; nil for a resource.
  let body: Subscriber?
  /// How it is tried again; nil for the application's policy.
  var retry: RetryPolicy?
  /// Acquires, and returns the handle; throws what acquiring threw.
  let acquire: @MainActor () async throws -> HeldHandle
  /// The run loop beside the handle.
  var run: (@MainActor (HeldHandle) async throws -> Void)?
  /// What it means that the loop returns, or throws.
  var onReturn = RunEnd.invalidate
  var onError = RunEnd.invalidate
  /// The health check.
  var check: (@MainActor (HeldHandle) async throws -> Void)?
  /// How long after one check the next begins, and how long one may take.
  var checkInterval = Duration.zero
  /// Is called with the error that the loop threw, before that has any effect; whether it is to have one.
  var loopDidThrow: (@MainActor (any Error) -> Bool)?
  /// Whether a body does not begin any more, because it was cancelled or its owner is gone.
  var isOver: (@MainActor () -> Bool)?
  /// Releases the handle.
  let release: @MainActor (HeldHandle) async throws -> Void
  /// Is called when it is no longer managed, and nothing of it is held.
  var whenForgotten: (@MainActor () -> Void)?

  init(
    name: String, holding: ResourceHolding, body: Subscriber? = nil,
    acquire: @escaping @MainActor () async throws -> HeldHandle,
    release: @escaping @MainActor (HeldHandle) async throws -> Void
  ) {
    (self.name, self.holding, self.body) = (name, holding, body)
    (self.acquire, self.release) = (acquire, release)
  }

  /// What a simulation calls it when work escapes from it.
  var source: Subscriber { body ?? Subscriber(label: name, fileID: "", line: 0) }
}

/// What is known of a resource beside the graph.
@MainActor final class Resource {
  let operations: ResourceOperations
  let phase: LifecyclePhase
  /// The latest error of acquire or release, or reason of an invalidation.
  var lastError: String?
  /// When its status last changed.
  var since: Duration
  /// How long it waits after its latest failure.
  var retryDelay: Duration?
  /// When its operation began; when that was decided, if it has not begun.
  var operationBegan = Duration.zero
  var operationHasBegun = false
  /// The number of its operation for observers.
  var call: TracedCall.ID?
  /// To which page its operation belongs.
  var page: LedgerKeeper.PageID?
  /// What runs beside the handle while it is held.
  var lease: HeldLease?
  /// Whether the release that is decided is to be quick, as the resource is wanted again.
  var isCutShort = false
  /// Whether the loop still ran when the release began.
  var endsLoop = false
  /// Which of its operations this is.
  private(set) var operation = 0
  /// The deadline of a release, or of an acquire that was cancelled, that no tear-down waits for.
  var timer: Deadlines.ID?

  init(operations: ResourceOperations, phase: LifecyclePhase, since: Duration) {
    (self.operations, self.phase, self.since) = (operations, phase, since)
  }

  func operationIsDecided(at time: Duration, on page: LedgerKeeper.PageID?) {
    (operationBegan, operationHasBegun, isCutShort, call) = (time, false, false, nil)
    operation += 1
    self.page = page
  }

  func operationBegins(at time: Duration) { (operationBegan, operationHasBegun) = (time, true) }

  /// An entry for one of its operations; of a body, for its end.
  func entry(_ step: String, _ outcome: LedgerEntry.Outcome, at time: Duration) -> LedgerEntry {
    let duration = time - operationBegan
    if let body = operations.body {
      return LedgerEntry(
        .runBody, body, step: "run(while: .\(phase))", began: operationBegan, duration: duration, outcome: outcome)
    }
    return LedgerEntry(
      .resource, operations.name, step: step, began: operationBegan, duration: duration, outcome: outcome)
  }
}
