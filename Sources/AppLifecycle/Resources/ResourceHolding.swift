internal import Observation
internal import Scheduling
internal import Synchronization

/// The base class of a box that hides the type of its handle.
class HeldHandle: @unchecked Sendable {
  /// Returns the handle, whose type must be that of the ``HandleBox``.
  final func unboxed<Handle: Sendable>(as _: Handle.Type) -> Handle {
    unsafeDowncast(self, to: HandleBox<Handle>.self).handle
  }
}

/// A box for a handle of one type.
final class HandleBox<Handle: Sendable>: HeldHandle, @unchecked Sendable {
  let handle: Handle
  init(_ handle: Handle) { self.handle = handle }
}

/// The failure of a resource that was given up; the resources that depend on it share it.
final class GivenUp: Sendable {
  /// The resource that was given up.
  weak let holding: ResourceHolding?
  private let reason: ResourceError
  private let isRetried = Atomic(false)

  init(_ holding: ResourceHolding, _ reason: ResourceError) { (self.holding, self.reason) = (holding, reason) }

  /// The error; nil after some code has asked for another attempt.
  var error: ResourceError? { isRetried.load(ordering: .acquiring) ? nil : reason }

  func noteRetry() { isRetried.store(true, ordering: .releasing) }
}

/// The handle and the status of a managed resource, for readers on any thread.
///
/// The handle is stored without its type, because generic storage behind a lock would look the type up at each access.
final class ResourceHolding: @unchecked Sendable {
  private struct State {
    var handle: HeldHandle?
    var status = ResourceStatus.idle
    /// Whether the resource was held and has been released.
    var wasReleased = false
    /// Whether a use after that release was noted.
    var wasUseNoted = false
    /// The number of the latest lease, which counts the acquires.
    var lease = 0
    /// Whether the lease is valid, from the beginning of an acquire to the beginning of the release.
    var lasts = false
    /// The reason of the invalidation of the lease; nil if it was not invalidated.
    var reason: String?
    /// Whether the lease was declared ready.
    var isDeclaredReady = false
    /// Whether a body was cancelled for good.
    var isCancelled = false
    /// Whether the resource is no longer managed, so that it will not be held again.
    var isForgotten = false

    /// The failure of the resource that was given up, if it is this one or one on which this one depends.
    var givenUp: GivenUp?

    /// Whether it was forgotten because its process has ended.
    var isOfEndedProcess = false

    /// The handle while the resource has the status *held* and was not invalidated.
    var heldHandle: HeldHandle? { status == .held && reason == nil ? handle : nil }
  }

  private let lock = Guarded(())
  /// Guarded by the lock, so the exclusivity checks are not needed.
  @exclusivity(unchecked) private var state = State()
  /// The waits for the resource to be held; guarded by the lock, and apart from the state, which readers copy.
  @exclusivity(unchecked) private var waits: [OneShot<Bool>] = []

  /// Called on any thread when code has invalidated a lease or declared it ready; set before the first lease begins.
  @exclusivity(unchecked) var leaseDidChange: (@Sendable (_ holding: ResourceHolding, _ lease: Int) -> Void)?

  private let observed = LazyObservationRegistrar()
  /// Whether the program has read the handle or the status, so that each change costs more.
  var isObserved: Bool { observed.isUsed }

  /// The handle of the resource; observable.
  var handle: HeldHandle? {
    observed.access(self, \.handle)
    return presentHandle
  }
  /// The handle, read without notifying Observation; for use inside the package.
  var presentHandle: HeldHandle? { withState { $0.handle } }
  var wasReleased: Bool { withState { $0.wasReleased } }
  /// The status, read without notifying Observation.
  var presentStatus: ResourceStatus { withState { $0.status } }
  /// Observable.
  var status: ResourceStatus {
    observed.access(self, \.status)
    return presentStatus
  }

  /// Notes a use after the release; returns whether it is the first one since.
  func noteUse() -> Bool {
    withState { state in
      defer { state.wasUseNoted = true }
      return !state.wasUseNoted
    }
  }

  /// The number of the valid lease; nil if there is none.
  var lease: Int? { withState { $0.lasts ? $0.lease : nil } }

  private func withState<Result>(_ body: (inout State) -> Result) -> Result {
    var result: Result?
    lock.withLock { _ in result = body(&state) }
    return result!
  }

  /// Whether a body was cancelled for good.
  var isCancelled: Bool { withState { $0.isCancelled } }

  func cancel() { withState { $0.isCancelled = true } }

  /// Begins a lease, and returns its number.
  func beginLease() -> Int {
    withState { state in
      state.lease += 1
      (state.lasts, state.reason, state.isDeclaredReady) = (true, nil, false)
      return state.lease
    }
  }

  /// Ends a lease whose acquire failed.
  func endLease() { withState { $0.lasts = false } }

  func isValid(_ lease: Int) -> Bool { withState { $0.lease == lease && $0.lasts && $0.reason == nil } }

  /// Invalidates a lease; returns false if it is not valid, or was invalidated before.
  func invalidate(_ lease: Int, because reason: String) -> Bool {
    withState { state in
      guard state.lease == lease, state.lasts, state.reason == nil else { return false }
      state.reason = reason
      return true
    }
  }

  /// Declares a lease ready; returns false if it is not valid, or was declared ready before.
  func declareReady(_ lease: Int) -> Bool {
    withState { state in
      guard state.lease == lease, state.lasts, state.reason == nil, !state.isDeclaredReady else { return false }
      state.isDeclaredReady = true
      return true
    }
  }

  func isDeclaredReady(_ lease: Int) -> Bool { withState { $0.lease == lease && $0.isDeclaredReady } }

  /// The reason of the invalidation of the lease; nil if it was not invalidated.
  func reason(of lease: Int) -> String? { withState { $0.lease == lease ? $0.reason : nil } }

  /// Stores a handle, or nil when the process has vanished, which releases nothing.
  func hold(_ handle: HeldHandle?) { _ = exchange(handle, wasReleased: false, lasts: handle != nil) }

  /// Removes and returns the handle, because its release begins.
  func take() -> HeldHandle? { exchange(nil, wasReleased: true, lasts: false) }

  /// Replaces the handle, and returns the former one, which must not be released inside the lock.
  private func exchange(_ handle: HeldHandle?, wasReleased: Bool, lasts: Bool) -> HeldHandle? {
    var handle = handle
    observed.change(self, \.handle) {
      lock.withLock { _ in
        swap(&state.handle, &handle)
        (state.wasReleased, state.wasUseNoted, state.lasts) = (wasReleased, false, lasts)
      }
    }
    return handle
  }

  func setStatus(_ status: ResourceStatus) {
    observed.change(self, \.status) { lock.withLock { _ in state.status = status } }
    if status == .held { endWaits() }
  }

  // MARK: Waiting

  /// The handle while the resource has the status *held* and was not invalidated, read without notifying Observation.
  var heldHandle: HeldHandle? { withState { $0.heldHandle } }

  /// Whether the resource is no longer managed.
  var isForgotten: Bool { withState { $0.isForgotten } }

  /// Whether the resource belongs to a process that has ended; only code of that process still uses it.
  var isOfEndedProcess: Bool { withState { $0.isOfEndedProcess } }

  /// Notes that the process of the resource has ended.
  func noteEndOfProcess() { withState { $0.isOfEndedProcess = true } }

  /// The error that ends a wait; nil while the application may still acquire the resource.
  var failure: ResourceError? { withState { $0.givenUp }?.error }

  /// Sets or clears the failure that ends waits.
  func setGivenUp(_ givenUp: GivenUp?) {
    withState { $0.givenUp = givenUp }
    if givenUp != nil { endWaits() }
  }

  /// Lets new waits for this resource, and for those that depend on it, wait again, because it is tried again.
  func noteRetry() { if let givenUp = withState({ $0.givenUp }), givenUp.holding === self { givenUp.noteRetry() } }

  /// Adds a wait, which ends when the resource is held, given up or no longer managed.
  func add(_ wait: OneShot<Bool>) {
    let isOver = withState { state in
      if state.isForgotten || state.givenUp?.error != nil || state.heldHandle != nil { return true }
      waits.append(wait)
      return false
    }
    if isOver { wait.settle(true) }
  }

  func remove(_ wait: OneShot<Bool>) { lock.withLock { _ in waits.removeAll { $0 === wait } } }

  /// Ends all waits, because the resource is no longer managed.
  func forget() {
    withState { $0.isForgotten = true }
    endWaits()
  }

  private func endWaits() {
    var ended: [OneShot<Bool>] = []
    lock.withLock { _ in swap(&ended, &waits) }
    for wait in ended { wait.settle(true) }
  }
}

extension ResourceHolding: Observable {}
