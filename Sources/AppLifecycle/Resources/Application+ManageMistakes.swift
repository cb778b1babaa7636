// These overloads are never called. Each matches one mistake in a call of `manage`, so that the compiler names the
// mistake. Without them the compiler reports “pack expansion requires that 'Database' and '' have the same shape”. It
// tries an unavailable overload only after all others have failed. So a correct call never selects one of these, and
// takes no longer to compile.

extension Application {
  /// Refuses an `acquire` without parameters for a resource that depends on others.
  ///
  /// With some parameters, but too few, the compiler's own message remains.
  @available(
    *, unavailable,
    message:
      "'acquire' takes one parameter for each resource in 'after:', in the same order: write '_' for a handle that it does not use"
  )
  @discardableResult
  public func manage<Handle: Sendable, First: Sendable, each Dependency: Sendable>(
    _ name: String, while phase: LifecyclePhase, after first: ManagedResource<First>,
    _ dependency: repeat ManagedResource<each Dependency>,
    retry: RetryPolicy? = nil, readiness: Readiness = .atOnce, checkEvery checkInterval: Duration = .seconds(30),
    onReturn: RunEnd = .invalidate,
    onError: RunEnd = .invalidate,
    acquire: @escaping @MainActor () async throws -> Handle,
    run: (@MainActor (Handle) async throws -> Void)? = nil,
    check: (@MainActor (Handle) async throws -> Void)? = nil,
    release: @escaping @MainActor (Handle) async throws -> Void = { _ in }
  ) throws(ResourceError) -> ManagedResource<Handle> { fatalError("unavailable") }

  /// Refuses an `acquire` with one parameter more than the resource has dependencies.
  @available(
    *, unavailable,
    message:
      "'acquire' takes one parameter for each resource in 'after:', in the same order: pass the missing resource in 'after:', or drop the parameter"
  )
  @discardableResult
  public func manage<Handle: Sendable, each Dependency: Sendable, Extra>(
    _ name: String, while phase: LifecyclePhase, after dependency: repeat ManagedResource<each Dependency>,
    retry: RetryPolicy? = nil, readiness: Readiness = .atOnce, checkEvery checkInterval: Duration = .seconds(30),
    onReturn: RunEnd = .invalidate,
    onError: RunEnd = .invalidate,
    acquire: @escaping @MainActor (repeat each Dependency, Extra) async throws -> Handle,
    run: (@MainActor (Handle) async throws -> Void)? = nil,
    check: (@MainActor (Handle) async throws -> Void)? = nil,
    release: @escaping @MainActor (Handle) async throws -> Void = { _ in }
  ) throws(ResourceError) -> ManagedResource<Handle> { fatalError("unavailable") }

  /// Refuses an `acquire` with one parameter more than the resource has dependencies.
  @available(
    *, unavailable,
    message:
      "'acquire' takes one parameter for each resource in 'after:', in the same order: pass the missing resource in 'after:', or drop the parameter"
  )
  @discardableResult
  public func manage<Handle: Sendable, each Dependency: Sendable>(
    _ name: String, while phase: LifecyclePhase, after dependency: repeat ManagedResource<each Dependency>,
    retry: RetryPolicy? = nil, readiness: Readiness = .atOnce, checkEvery checkInterval: Duration = .seconds(30),
    onReturn: RunEnd = .invalidate,
    onError: RunEnd = .invalidate,
    acquire: @escaping @MainActor (repeat each Dependency, Any) async throws -> Handle,
    run: (@MainActor (Handle) async throws -> Void)? = nil,
    check: (@MainActor (Handle) async throws -> Void)? = nil,
    release: @escaping @MainActor (Handle) async throws -> Void = { _ in }
  ) throws(ResourceError) -> ManagedResource<Handle> { fatalError("unavailable") }
}
