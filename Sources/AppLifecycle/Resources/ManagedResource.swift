internal import PubSub
internal import Scheduling

/// A resource that an application acquires and releases with a phase of its life cycle.
///
/// `Application.manage` returns it.
///
/// Code in any isolation may read it. ``current``, ``value`` and ``status`` are observable.
public final class ManagedResource<Handle: Sendable>: Sendable {
  /// The resource's name, unique in its application.
  public let name: String
  /// The phase during which the resource is held.
  package let phase: LifecyclePhase
  let index: Int
  /// A weak reference, not an identifier: after a deallocation, another manager may have the same address.
  weak let owner: ResourceManager?
  private let tasks: TaskStarter

  let holding = ResourceHolding()

  init(name: String, phase: LifecyclePhase, index: Int, owner: ResourceManager, tasks: TaskStarter) {
    self.name = name
    self.phase = phase
    self.index = index
    self.owner = owner
    self.tasks = tasks
  }

  /// Performs an action of the manager on the main actor, unless the resource is no longer managed by then.
  private func perform(_ action: @escaping @MainActor @Sendable (ResourceManager, Int) -> Void) {
    tasks.startOnMainActor { [weak owner, index, holding] in
      if let owner, owner.manages(holding, at: index) { action(owner, index) }
    }
  }

  /// The handle from the end of the acquire to the beginning of the release, also if the resource is not ready yet; nil otherwise.
  ///
  /// The release begins some time after ``invalidate(because:)``, or after the end of the phase: when everything that
  /// depends on the resource has been released. First it asks the `run` loop to end. So the property is nil while the
  /// loop finishes its work, although the `release` closure has not been called. In a handler of
  /// ``Application/ResourceDidChange`` with the status ``ResourceStatus/releasing``, which is posted just before, the
  /// property still has the handle. Code that must not use a broken handle until then asks ``ResourceLease/isValid``,
  /// or ``untilHeld(isolation:)``.
  public var current: Handle? { holding.handle?.unboxed(as: Handle.self) }

  /// The handle of the resource, or an error if the resource is not held.
  ///
  /// A read after the release throws. The application also adds the first read after each release to the ledger, and
  /// tells observers (``LedgerEntry/Outcome/usedAfterRelease``). If the resource is no longer managed, the read only throws. To check
  /// whether the resource is held and ready, read ``status``.
  ///
  /// - Throws: ``ResourceError/notHeld(_:)`` before the first acquire; ``ResourceError/released(_:)`` from the
  ///   beginning of a release until the next acquire.
  public var value: Handle {
    get throws(ResourceError) { try value(of: holding.handle) }
  }

  /// The same, read without notifying Observation, for what depends on the resource.
  var presentValue: Handle {
    get throws(ResourceError) { try value(of: holding.presentHandle) }
  }

  private func value(of handle: HeldHandle?) throws(ResourceError) -> Handle {
    if let handle { return handle.unboxed(as: Handle.self) }
    guard holding.wasReleased else { throw .notHeld(name) }
    // A thread may read it thousands of times a second.
    if holding.noteUse() { perform { $0.wasUsedAfterRelease($1) } }
    throw .released(name)
  }

  /// The status of the resource: held, being acquired or released, or waiting.
  public var status: ResourceStatus { holding.status }

  /// Waits until the resource is held, and returns the handle.
  ///
  ///     let connection = try await feed.untilHeld()
  ///
  /// The call returns at once if the resource is held and was not invalidated. Otherwise it waits, also while the phase
  /// is closed, and while the resource is tried again. It ends with an error as soon as the resource, or one on which it
  /// depends, has failed for good. After ``retry()`` a new call waits again. The handle is valid when the method returns,
  /// and may be released later, as every handle. In `run(while:after:)` and in an `acquire` with dependencies no wait is
  /// needed.
  ///
  /// - Parameter isolation: the caller's isolation, in which the method runs.
  /// - Returns: the handle.
  /// - Throws: `CancellationError` if the task is cancelled; ``ResourceError/givenUp(_:because:)`` if the resource, or one
  ///   on which it depends, has failed for good; ``ResourceError/unmanaged(_:)`` if the resource is no longer managed, or
  ///   the application was deallocated.
  public func untilHeld(isolation: isolated (any Actor)? = #isolation) async throws -> Handle {
    while true {
      try Task.checkCancellation()
      if let handle = holding.heldHandle { return handle.unboxed(as: Handle.self) }
      if holding.isForgotten { throw ResourceError.unmanaged(name) }
      if let failure = holding.failure { throw failure }
      let wait = OneShot<Bool>()
      holding.add(wait)
      _ = await withTaskCancellationHandler {
        await wait.value
      } onCancel: {
        wait.settle(false)
      }
      holding.remove(wait)
    }
  }

  /// Declares the resource broken, so that the application releases it and its dependents, and acquires them again.
  ///
  /// The dependents are released first, in reverse order. Any thread may call this method, also the handle's own
  /// callbacks. A callback that may come late should use ``ResourceLease`` instead. A second call has no effect. A call
  /// for a resource that is neither held nor being acquired has no effect either. If an acquire is running, the
  /// resource is released as soon as the acquire has succeeded.
  ///
  /// If the resource was held for ``RetryPolicy/resetAfter``, it is acquired again at once; otherwise after the delay
  /// of its ``RetryPolicy``.
  ///
  /// - Parameter error: the error that broke the resource; ``ResourceHealth/lastError`` and the ledger show it.
  public func invalidate(because error: any Error) {
    guard let lease = holding.lease, holding.invalidate(lease, because: error.text) else { return }
    holding.leaseDidChange?(holding, lease)
  }

  /// Acquires the resource now, if it waits for its next attempt or has failed for good.
  ///
  /// In any other status the call has no effect. Any thread may call it. For a resource that has failed for good, the
  /// count of failures starts again.
  public func retry() {
    // At once, so that a wait that the caller begins right after this call does not end with the old error.
    holding.noteRetry()
    perform { $0.retryNow($1) }
  }
}

/// The status of a managed resource.
public enum ResourceStatus: Sendable, Hashable {
  /// The resource is not needed, and is not held.
  case idle
  /// The resource is needed, and waits for the dependency with this name.
  ///
  /// If several dependencies are missing, this is one of them.
  case waiting(for: String)
  /// The application is acquiring the resource, or has acquired it, and it is not ready; see ``Readiness``.
  case acquiring
  /// The resource is held.
  case held
  /// The application is releasing the resource: it ends the `run` loop, and then calls the `release` closure.
  case releasing
  /// The resource failed this number of times in a row, and the application will try it again.
  ///
  /// A failure is an acquire that threw, or a resource that broke soon after its acquire.
  case retrying(failures: Int)
  /// The resource failed this number of times in a row, more than its ``RetryPolicy/maximumRetries`` allows; the
  /// application no longer retries it by itself.
  ///
  /// The application tries it again after ``ManagedResource/retry()``, when its phase opens again, or when a dependency
  /// is acquired again.
  case failed(failures: Int)
}

extension ResourceStatus: CustomStringConvertible {
  /// The status in words: `held`, `waiting for database`, `retrying (3 failures)`.
  public var description: String {
    switch self {
    case .idle: "idle"
    case .waiting(let name): "waiting for \(name)"
    case .acquiring: "acquiring"
    case .held: "held"
    case .releasing: "releasing"
    case .retrying(let failures): "retrying (\(Self.count(failures)))"
    case .failed(let failures): "given up (\(Self.count(failures)))"
    }
  }

  private static func count(_ failures: Int) -> String { failures == 1 ? "1 failure" : "\(failures) failures" }
}
