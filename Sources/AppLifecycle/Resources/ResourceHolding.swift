internal import Observation
internal import PubSub

/// A handle whose type is forgotten.
class HeldHandle: @unchecked Sendable {}

/// A handle in a form that does not tell its type.
final class HandleBox<Handle: Sendable>: HeldHandle, @unchecked Sendable {
  let handle: Handle
  init(_ handle: Handle) { self.handle = handle }
}

/// What is held of a managed resource, and how it fares, for readers on any thread.
///
/// The type of the handle is forgotten: behind a lock it would be looked up at each access.
final class ResourceHolding: @unchecked Sendable {
  private struct State {
    var handle: HeldHandle?
    var status = ResourceStatus.idle
    /// Whether it has been held, and is not any more.
    var wasReleased = false
    /// Counts the acquires.
    var lease = 0
    /// Whether the lease lasts: from the beginning of an acquire to the beginning of the release.
    var lasts = false
    /// Why the lease was invalidated; nil if it was not.
    var reason: String?
    /// Whether a body was cancelled for good.
    var isCancelled = false
  }

  private let lock = Lock()
  /// Guarded by the lock, which is why the compiler's check of each access is left out.
  @exclusivity(unchecked) private var state = State()

  private let observed = ObservedChanges()

  /// Observable, as is all that readers see of a resource.
  var handle: HeldHandle? {
    observed.access(self, \.handle)
    return presentHandle
  }
  /// For the package's own use, which Observation is not told of.
  var presentHandle: HeldHandle? { read.handle }
  var wasReleased: Bool { read.wasReleased }
  /// Observable.
  var status: ResourceStatus {
    observed.access(self, \.status)
    return read.status
  }
  /// The lease that lasts; nil if none does.
  var lease: Int? {
    let state = read
    return state.lasts ? state.lease : nil
  }

  private var read: State {
    var read = State()
    lock.withLock { read = state }
    return read
  }

  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    var result: Result?
    lock.withLock { result = body(&state) }
    return result!
  }

  /// Whether a body was cancelled for good.
  var isCancelled: Bool { read.isCancelled }

  func cancel() { change { $0.isCancelled = true } }

  /// Begins a lease, and returns its number.
  func beginLease() -> Int {
    change { state in
      state.lease += 1
      (state.lasts, state.reason) = (true, nil)
      return state.lease
    }
  }

  /// Ends the lease whose acquire failed.
  func endLease() { change { $0.lasts = false } }

  func isValid(_ lease: Int) -> Bool { change { $0.lease == lease && $0.lasts && $0.reason == nil } }

  /// Invalidates a lease; false if it does not last, or was invalidated before.
  func invalidate(_ lease: Int, because reason: String) -> Bool {
    change { state in
      guard state.lease == lease, state.lasts, state.reason == nil else { return false }
      state.reason = reason
      return true
    }
  }

  /// Why the lease was invalidated; nil if it was not.
  func reason(of lease: Int) -> String? { change { $0.lease == lease ? $0.reason : nil } }

  /// Holds a handle; or none, as the process has vanished, which releases nothing.
  func hold(_ handle: HeldHandle?) { _ = exchange(handle, wasReleased: false, lasts: handle != nil) }

  /// Takes the handle away: its release begins.
  func take() -> HeldHandle? { exchange(nil, wasReleased: true, lasts: false) }

  /// Returns the former handle, which is not to be let go of inside the lock.
  private func exchange(_ handle: HeldHandle?, wasReleased: Bool, lasts: Bool) -> HeldHandle? {
    var handle = handle
    observed.change(self, \.handle) {
      lock.withLock {
        swap(&state.handle, &handle)
        (state.wasReleased, state.lasts) = (wasReleased, lasts)
      }
    }
    return handle
  }

  func setStatus(_ status: ResourceStatus) {
    observed.change(self, \.status) { lock.withLock { state.status = status } }
  }
}

extension ResourceHolding: Observable {}
