internal import PubSub

extension Application {
  /// Acquires a resource whenever a phase of the life cycle opens, and releases it whenever the phase closes.
  ///
  ///     let connection = try application.manage("connection", while: .foreground, after: address) {
  ///       try await Connection(to: $0)
  ///     } run: { connection in
  ///       try await connection.run()
  ///     } check: { connection in
  ///       try await connection.ping()
  ///     } release: { connection in
  ///       await connection.close()
  ///     }
  ///
  /// A resource is acquired after its dependencies, and released before them. Independent resources are acquired and
  /// released concurrently: acquires begin in the order of registration, releases in the reverse order. An acquire
  /// never delays a callback. It begins after the synchronous handlers of the notification that opens the phase
  /// (`.running`: didFinishLaunching; `.foreground`: willEnterForeground, at a cold launch without scenes
  /// didFinishLaunching; `.active`: didBecomeActive). If the phase is already open, it begins soon after the call. A
  /// release begins after all handlers of the notification that closes the phase (willTerminate, didEnterBackground,
  /// willResignActive).
  ///
  /// Each successful acquire is followed by exactly one release. If the phase closes during an acquire, the application
  /// cancels the acquire and awaits it; if it succeeded nevertheless, the handle is released. If the phase opens again
  /// during a release, the application cancels the release, and awaits it before the next acquire. When the process
  /// vanishes or the application is deallocated, no resource is released.
  ///
  /// A release has a deadline: the end of the current budget of didEnterBackground or willTerminate, or, if none runs,
  /// ``Configuration/didEnterBackgroundBudget`` after its own beginning. The end of the `run` loop is part of the
  /// release, also when the application resigns active and stays in the foreground. A late release is cancelled, and
  /// reported with the name of the resource. If the phase has closed, the dependencies of the resource are then released without it.
  ///
  /// The application retries an acquire that throws, according to the resource's ``RetryPolicy``. Dependent resources
  /// wait. When a resource breaks while it is held, invalidate it (``ManagedResource/invalidate(because:)``,
  /// ``ResourceLease``): the application then releases its dependents and the resource, and acquires them again.
  /// ``resources`` has the status of each resource, and the application posts ``ResourceDidChange`` at each change.
  ///
  /// - Parameters:
  ///   - name: the resource's name, unique in the application.
  ///   - phase: the phase during which the resource is held. It is released earlier if the phase of a dependency ends
  ///     earlier.
  ///   - dependency: the resources on which it depends; the handle of each is passed to `acquire`.
  ///   - retry: the policy for attempts after a failure; ``Configuration/retry`` if nil.
  ///   - readiness: what makes the resource ready. Until then its status is ``ResourceStatus/acquiring``, and the
  ///     resources that depend on it wait.
  ///   - checkInterval: the time from the end of one health check to the beginning of the next, and the time that a
  ///     check may take; at least a millisecond.
  ///   - onReturn: the reaction when `run` returns without having been asked to end.
  ///   - onError: the reaction when `run` throws without having been asked to end.
  ///   - acquire: creates the handle. It takes an argument for each dependency, also for a handle of type `Void` (`_
  ///     in`). It runs on the main actor, as each closure of this call without `@concurrent`, and two runs never overlap in
  ///     one process. When the process vanishes, the application cancels a running acquire, and drops its handle.
  ///   - run: the loop to run while the handle is held. It begins on the main actor after the acquire. The release
  ///     begins with its end: the application cancels and awaits it, and then calls `release`. A loop that uses
  ///     ``withPhaseClosingHandler(operation:onClose:isolation:)`` is asked to end before it is cancelled.
  ///   - check: checks whether the handle still works. A check that throws, or that takes longer than `checkInterval`,
  ///     invalidates the resource. It runs on the main actor.
  ///   - release: closes the handle, on the main actor; does nothing by default. If it throws, the resource still
  ///     counts as released, and a host reports the error. A release also follows a break, so it should not wait for an
  ///     answer from a peer that may no longer exist.
  /// - Returns: the resource, through which the handle can be read while it is held.
  /// - Throws: ``ResourceError`` if the name is taken, or a dependency is not managed by this application.
  @discardableResult
  public func manage<Handle: Sendable, each Dependency: Sendable>(
    _ name: String, while phase: LifecyclePhase, after dependency: repeat ManagedResource<each Dependency>,
    retry: RetryPolicy? = nil, readiness: Readiness = .atOnce, checkEvery checkInterval: Duration = .seconds(30),
    onReturn: RunEnd = .invalidate,
    onError: RunEnd = .invalidate,
    acquire: @escaping @MainActor (repeat each Dependency) async throws -> Handle,
    run: (@MainActor (Handle) async throws -> Void)? = nil,
    check: (@MainActor (Handle) async throws -> Void)? = nil,
    release: @escaping @MainActor (Handle) async throws -> Void = { _ in }
  ) throws(ResourceError) -> ManagedResource<Handle> {
    var dependencies: [Int] = []
    for one in repeat each dependency { dependencies.append(try index(of: one, for: name)) }
    return try register(
      name, phase, dependencies,
      ResourceHabits(
        retry: retry, readiness: readiness, checkInterval: checkInterval, onReturn: onReturn, onError: onError),
      acquire: { HandleBox(try await acquire(repeat (each dependency).presentValue)) }, run: run, check: check,
      release: release)
  }

  /// Releases a resource for good, such as a connection whose tab was closed.
  ///
  /// The release begins at once, or after the release of dependents that were unmanaged just before. If an acquire is
  /// running, the application cancels it, and the release begins when it has ended. The name may be used again at once.
  ///
  /// - Parameter resource: the resource; the call has no effect if it is no longer managed.
  /// - Throws: ``ResourceError/neededBy(_:_:)`` with the names of the resources and bodies that depend on it. Cancel
  ///   such a body first.
  /// - Complexity: linear in the number of resources.
  public func unmanage<Handle>(_ resource: ManagedResource<Handle>) throws(ResourceError) {
    guard resource.owner === manager, manager.manages(resource.holding, at: resource.index) else { return }
    let dependents = manager.namesOfDependents(of: resource.index)
    guard dependents.isEmpty else { throw .neededBy(dependents, resource.name) }
    manager.remove(resource.index)
  }

  /// Returns the index of a resource that another resource names as a dependency.
  func index<Handle>(of resource: ManagedResource<Handle>, for name: String) throws(ResourceError) -> Int {
    guard resource.owner === manager else { throw .foreignDependency(resource.name, of: name) }
    guard manager.manages(resource.holding, at: resource.index) else {
      throw .unknownDependency(resource.name, of: name)
    }
    return resource.index
  }

  func register<Handle: Sendable>(
    _ name: String, _ phase: LifecyclePhase, _ dependencies: [Int], _ habits: ResourceHabits,
    acquire: @escaping @MainActor () async throws -> HeldHandle,
    run: (@MainActor (Handle) async throws -> Void)?, check: (@MainActor (Handle) async throws -> Void)?,
    release: @escaping @MainActor (Handle) async throws -> Void
  ) throws(ResourceError) -> ManagedResource<Handle> {
    guard manager.index(named: name) == nil else { throw .duplicateName(name) }
    let resource = ManagedResource<Handle>(
      name: name, phase: phase, index: manager.nextIndex, owner: manager, tasks: tasks)
    let operations = ResourceOperations(
      name: name, holding: resource.holding, acquire: acquire,
      release: { held in
        let handle = held.unboxed(as: Handle.self)
        return { try await release(handle) }
      })
    if let run { operations.run = { handle in try await run(handle.unboxed(as: Handle.self)) } }
    if let check { operations.check = { handle in try await check(handle.unboxed(as: Handle.self)) } }
    operations.habits = habits
    manager.add(operations, while: phase, after: dependencies.unique)
    return resource
  }
}
