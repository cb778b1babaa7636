internal import PubSub

extension Application {
  /// Acquires a resource whenever a phase of the life cycle opens, and releases it whenever the phase closes.
  ///
  ///     let connection = try application.manage("connection", while: .foreground, after: address) { address in
  ///       try await Connection(to: address)
  ///     } run: { connection in
  ///       try await connection.run()
  ///     } check: { connection in
  ///       try await connection.ping()
  ///     } release: { connection in
  ///       await connection.close()
  ///     }
  ///
  /// A resource is acquired after everything that it depends on, and released before it; independent resources are acquired
  /// side by side. Acquiring never delays a callback: it begins after the synchronous handlers of the notification that opens
  /// the phase (`.running`: didFinishLaunching; `.foreground`: willEnterForeground, at a cold launch didFinishLaunching;
  /// `.active`: didBecomeActive). If the phase is open already, acquiring begins now. Releasing begins after all handlers of
  /// the notification that closes the phase (willTerminate, didEnterBackground, willResignActive).
  ///
  /// Every acquire that succeeds is followed by exactly one release. An acquire that is under way when the phase closes is
  /// cancelled, awaited, and released if it succeeded all the same. A release that is under way when the phase opens again is
  /// cancelled, and awaited before the next acquire. Only a process that vanishes releases nothing, and an application that is
  /// deallocated is such a process.
  ///
  /// A release has a deadline: the end of the budget of didEnterBackground or willTerminate while that runs, else
  /// ``Configuration/didEnterBackgroundBudget`` from its beginning. A release that is late is cancelled and reported by name.
  ///
  /// An acquire that throws is tried again by the resource's ``RetryPolicy``; resources that depend on it wait. A resource that
  /// breaks while it is held is invalidated (``ManagedResource/invalidate(because:)``, ``ResourceLease``): its dependents and it
  /// are released, and acquired again. ``resources`` shows how each fares, and ``ResourceDidChange`` is posted with each change.
  ///
  /// - Parameters:
  ///   - name: the resource's name, unique in the application.
  ///   - phase: the phase during which the resource is held. It is released earlier if the phase of a dependency ends
  ///     earlier.
  ///   - dependency: the resources on which it depends; the handle of each is passed to `acquire`.
  ///   - retry: the policy for attempts after a failure; ``Configuration/retry`` if nil.
  ///   - checkInterval: the time from the end of one health check to the beginning of the next, and the time that a
  ///     check may take; at least a millisecond.
  ///   - onReturn: the reaction when `run` returns without having been asked to end.
  ///   - onError: the reaction when `run` throws without having been asked to end.
  ///   - acquire: makes the handle. Takes an argument for each dependency, also for one whose handle is `Void` (`_ in`). Runs on
  ///     the main actor, never twice at once in one process's life. When the process
  ///     vanishes, an acquire under way is cancelled, and its handle is dropped.
  ///   - run: the loop to run while the handle is held. Begins on the main actor after the acquire. Before the release
  ///     it is cancelled and awaited; a loop that uses ``withPhaseClosingHandler(operation:onClose:isolation:)`` is
  ///     asked first.
  ///   - check: tells whether the handle still works: a check that throws, or that takes longer than `checkInterval`,
  ///     invalidates the resource. Runs on the main actor.
  ///   - release: takes the handle down; does nothing unless it is given. Runs on the main actor. An error ends it all the same; a host reports it.
  ///     A release also follows a break, so it should not wait for an answer of a peer that may be gone.
  /// - Returns: the resource, through which the handle can be read while it is held.
  /// - Throws: ``ResourceError`` if the name is taken, or a dependency is not managed by this application.
  @discardableResult
  public func manage<Handle: Sendable, each Dependency: Sendable>(
    _ name: String, while phase: LifecyclePhase, after dependency: repeat ManagedResource<each Dependency>,
    retry: RetryPolicy? = nil, checkEvery checkInterval: Duration = .seconds(30), onReturn: RunEnd = .invalidate,
    onError: RunEnd = .invalidate,
    acquire: @escaping @MainActor (repeat each Dependency) async throws -> Handle,
    run: (@MainActor (Handle) async throws -> Void)? = nil,
    check: (@MainActor (Handle) async throws -> Void)? = nil,
    release: @escaping @MainActor (Handle) async throws -> Void = { _ in }
  ) throws(ResourceError) -> ManagedResource<Handle> {
    var dependencies: [Int] = []
    for one in repeat each dependency { dependencies.append(try index(of: one, for: name)) }
    return try register(
      name, phase, dependencies, ResourceHabits(retry, checkInterval, onReturn, onError),
      acquire: { try await acquire(repeat (each dependency).value) }, run: run, check: check, release: release)
  }

  /// Acquires and releases a resource with a phase of the life cycle, after resources that are known by name only.
  ///
  /// For modules that do not know each other. In everything else the same as
  /// ``manage(_:while:after:retry:checkEvery:onReturn:onError:acquire:run:check:release:)``.
  ///
  /// - Parameters:
  ///   - name: the resource's name, unique in the application.
  ///   - phase: the phase during which the resource is held. It is released earlier if the phase of a dependency ends
  ///     earlier.
  ///   - dependencies: the names of the resources on which it depends; the application must manage them already.
  ///   - retry: the policy for attempts after a failure; ``Configuration/retry`` if nil.
  ///   - checkInterval: the time from the end of one health check to the beginning of the next, and the time that a
  ///     check may take; at least a millisecond.
  ///   - onReturn: the reaction when `run` returns without having been asked to end.
  ///   - onError: the reaction when `run` throws without having been asked to end.
  ///   - acquire: creates the handle, on the main actor.
  ///   - run: the loop to run while the handle is held.
  ///   - check: checks whether the handle still works, and throws if it does not.
  ///   - release: closes the handle, on the main actor; does nothing by default.
  /// - Returns: the resource, through which the handle can be read while it is held.
  /// - Throws: ``ResourceError`` if the name is taken, or a dependency is not managed or the resource itself.
  @discardableResult
  public func manage<Handle: Sendable>(
    _ name: String, while phase: LifecyclePhase, after dependencies: [String],
    retry: RetryPolicy? = nil, checkEvery checkInterval: Duration = .seconds(30), onReturn: RunEnd = .invalidate,
    onError: RunEnd = .invalidate,
    acquire: @escaping @MainActor () async throws -> Handle,
    run: (@MainActor (Handle) async throws -> Void)? = nil,
    check: (@MainActor (Handle) async throws -> Void)? = nil,
    release: @escaping @MainActor (Handle) async throws -> Void = { _ in }
  ) throws(ResourceError) -> ManagedResource<Handle> {
    var indices: [Int] = []
    for dependency in dependencies {
      // One that is registered already is a duplicate, and no circle.
      if dependency == name, manager.index(named: name) == nil { throw .dependencyCycle([name, name]) }
      guard let index = manager.index(named: dependency) else { throw .unknownDependency(dependency, of: name) }
      indices.append(index)
    }
    return try register(
      name, phase, indices, ResourceHabits(retry, checkInterval, onReturn, onError), acquire: acquire, run: run,
      check: check, release: release)
  }

  /// Releases a resource for good: for a connection whose tab was closed.
  ///
  /// The release begins now, or when an acquire that is under way has been cancelled and has ended. The name may be used again
  /// at once.
  ///
  /// - Parameter resource: the resource; one that is no longer managed is left alone.
  /// - Throws: ``ResourceError/neededBy(_:_:)`` with the names of the resources that depend on it.
  /// - Complexity: linear in the number of resources.
  public func unmanage<Handle>(_ resource: ManagedResource<Handle>) throws(ResourceError) {
    guard resource.owner === manager, manager.manages(resource.holding, at: resource.index) else { return }
    let dependents = manager.namesOfDependents(of: resource.index)
    guard dependents.isEmpty else { throw .neededBy(dependents, resource.name) }
    manager.remove(resource.index)
  }

  /// The index of a resource on which another is to depend.
  func index<Handle>(of resource: ManagedResource<Handle>, for name: String) throws(ResourceError) -> Int {
    guard resource.owner === manager else { throw .foreignDependency(resource.name, of: name) }
    guard manager.manages(resource.holding, at: resource.index) else {
      throw .unknownDependency(resource.name, of: name)
    }
    return resource.index
  }

  private func register<Handle: Sendable>(
    _ name: String, _ phase: LifecyclePhase, _ dependencies: [Int], _ habits: ResourceHabits,
    acquire: @escaping @MainActor () async throws -> Handle,
    run: (@MainActor (Handle) async throws -> Void)?, check: (@MainActor (Handle) async throws -> Void)?,
    release: @escaping @MainActor (Handle) async throws -> Void
  ) throws(ResourceError) -> ManagedResource<Handle> {
    guard manager.index(named: name) == nil else { throw .duplicateName(name) }
    let resource = ManagedResource<Handle>(
      name: name, phase: phase, index: manager.nextIndex, owner: manager, tasks: tasks)
    let operations = ResourceOperations(
      name: name, holding: resource.holding,
      acquire: { ManagedResource<Handle>.boxed(try await acquire()) },
      release: { try await release(ManagedResource<Handle>.unboxed($0)) })
    if let run { operations.run = { handle in try await run(ManagedResource<Handle>.unboxed(handle)) } }
    if let check { operations.check = { handle in try await check(ManagedResource<Handle>.unboxed(handle)) } }
    operations.adopt(habits)
    manager.add(operations, while: phase, after: dependencies.unique)
    return resource
  }
}

/// What a resource does when it fails, and how often it is checked.
struct ResourceHabits {
  let retry: RetryPolicy?
  let checkInterval: Duration
  let onReturn: RunEnd
  let onError: RunEnd

  init(_ retry: RetryPolicy?, _ checkInterval: Duration, _ onReturn: RunEnd, _ onError: RunEnd) {
    (self.retry, self.checkInterval, self.onReturn, self.onError) = (retry, checkInterval, onReturn, onError)
  }
}

extension ResourceOperations {
  func adopt(_ habits: ResourceHabits) {
    (retry, checkInterval) = (habits.retry, habits.checkInterval)
    (onReturn, onError) = (habits.onReturn, habits.onError)
  }
}
