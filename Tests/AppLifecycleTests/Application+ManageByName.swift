@testable import AppLifecycle

extension Application {
  /// Manages a resource after others that a test knows by their names, also in a graph that it makes at random.
  @discardableResult
  func manage<Handle: Sendable>(
    _ name: String, while phase: LifecyclePhase, after dependencies: [String],
    retry: RetryPolicy? = nil, readiness: Readiness = .atOnce, checkEvery checkInterval: Duration = .seconds(30),
    onReturn: RunEnd = .invalidate, onError: RunEnd = .invalidate,
    acquire: @escaping @MainActor () async throws -> Handle,
    run: (@MainActor (Handle) async throws -> Void)? = nil,
    check: (@MainActor (Handle) async throws -> Void)? = nil,
    release: @escaping @MainActor (Handle) async throws -> Void = { _ in }
  ) throws(ResourceError) -> ManagedResource<Handle> {
    var indices: [Int] = []
    for dependency in dependencies {
      guard let index = manager.index(named: dependency) else { throw .unknownDependency(dependency, of: name) }
      indices.append(index)
    }
    return try register(
      name, phase, indices,
      ResourceHabits(
        retry: retry, readiness: readiness, checkInterval: checkInterval, onReturn: onReturn, onError: onError),
      acquire: { HandleBox(try await acquire()) }, run: run, check: check, release: release)
  }
}
