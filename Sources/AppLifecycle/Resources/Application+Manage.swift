internal import PubSub

extension Application {
  /// Acquires something whenever a phase of the life cycle opens, and releases it whenever the phase closes.
  ///
  /// What it depends on is acquired before it and released after it; what is independent is acquired side by side. Acquiring
  /// never delays a callback: it begins after the synchronous handlers of the notification that opens the phase
  /// (`.running`: didFinishLaunching; `.foreground`: willEnterForeground, at a cold launch didFinishLaunching; `.active`:
  /// didBecomeActive). Releasing begins after all handlers of the one that closes it (willTerminate, didEnterBackground,
  /// willResignActive) and is awaited within the budget of didEnterBackground or willTerminate.
  ///
  /// Every acquire that succeeds is followed by exactly one release, whatever happens: an acquire that is under way when the
  /// phase closes is cancelled, awaited, and released if it succeeded all the same; a release that is under way when the
  /// phase opens again is awaited before the next acquire; only a process that vanishes releases nothing. An acquire that
  /// throws is tried again after a while (``Configuration/retry``), and stops nobody but those that depend on it, whose
  /// status says for whom they wait. A release that throws has ended all the same. How each fares is told by ``resources``,
  /// and each change posted as ``ResourceDidChange``; a real host reports failures on standard error. If the phase is open now, acquiring begins now. An
  /// application that is released itself releases nothing: that, too, is a process that vanishes.
  ///
  /// - Parameters:
  ///   - name: the resource's name, unique in the application.
  ///   - phase: when it is held. It ends earlier if the phase of something that it depends on does.
  ///   - dependency: what it depends on; each is passed to `acquire`.
  ///   - acquire: makes the handle. Runs on the main actor, never twice at once in one process's life; one that was under way
  ///     when the process vanished is cancelled, and what it makes is dropped.
  ///   - release: takes it down. Runs on the main actor. An error ends it all the same.
  /// - Returns: the resource, through which the handle can be read while it is held.
  /// - Throws: ``ResourceError`` if the name is taken or a dependency belongs to another application.
  @discardableResult
  public func manage<Handle: Sendable, each Dependency: Sendable>(
    _ name: String, while phase: LifecyclePhase, after dependency: repeat ManagedResource<each Dependency>,
    acquire: @escaping @MainActor (repeat each Dependency) async throws -> Handle,
    release: @escaping @MainActor (Handle) async throws -> Void
  ) throws(ResourceError) -> ManagedResource<Handle> {
    var dependencies: [Int] = []
    for one in repeat each dependency {
      guard one.owner === manager else { throw .foreignDependency(one.name, of: name) }
      dependencies.append(one.index)
    }
    return try register(
      name, phase, dependencies, acquire: { try await acquire(repeat (each dependency).value) }, release: release)
  }

  /// Acquires and releases something with a phase of the life cycle, after resources that are known by name only.
  ///
  /// For modules that do not know each other. Otherwise as the form that takes the resources themselves.
  ///
  /// - Parameters:
  ///   - name: the resource's name, unique in the application.
  ///   - phase: when it is held.
  ///   - dependencies: the names of what it depends on, managed already.
  ///   - acquire: makes the handle.
  ///   - release: takes it down.
  /// - Returns: the resource.
  /// - Throws: ``ResourceError`` if the name is taken, or a dependency is not managed or the resource itself.
  @discardableResult
  public func manage<Handle: Sendable>(
    _ name: String, while phase: LifecyclePhase, after dependencies: [String],
    acquire: @escaping @MainActor () async throws -> Handle,
    release: @escaping @MainActor (Handle) async throws -> Void
  ) throws(ResourceError) -> ManagedResource<Handle> {
    var indices: [Int] = []
    for dependency in dependencies {
      // One that is registered already is a duplicate, and no circle.
      if dependency == name, manager.index(named: name) == nil { throw .dependencyCycle([name, name]) }
      guard let index = manager.index(named: dependency) else { throw .unknownDependency(dependency, of: name) }
      indices.append(index)
    }
    return try register(name, phase, indices, acquire: acquire, release: release)
  }

  private func register<Handle: Sendable>(
    _ name: String, _ phase: LifecyclePhase, _ dependencies: [Int],
    acquire: @escaping @MainActor () async throws -> Handle,
    release: @escaping @MainActor (Handle) async throws -> Void
  ) throws(ResourceError) -> ManagedResource<Handle> {
    guard manager.index(named: name) == nil else { throw .duplicateName(name) }
    let index = manager.nextIndex
    let resource = ManagedResource<Handle>(name: name, phase: phase, index: index, owner: manager) {
      [tasks, weak manager] in
      tasks.startOnMainActor { [weak manager] in manager?.wasUsedAfterRelease(index) }
    }
    var seen: Set<Int> = []
    manager.add(
      ResourceManager.Operations(
        name: name, holding: resource.holding,
        acquire: { run in
          try await HandlerScope.$run.withValue(run) { ManagedResource<Handle>.boxed(try await acquire()) }
        },
        release: { run, handle in
          try await HandlerScope.$run.withValue(run) { try await release(ManagedResource<Handle>.unboxed(handle)) }
        }),
      while: phase, after: dependencies.filter { seen.insert($0).inserted })
    return resource
  }
}
