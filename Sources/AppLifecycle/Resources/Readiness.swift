/// What makes a managed resource or a body ready.
///
/// Until it is ready, the resources and bodies that depend on it wait, as do ``ManagedResource/untilHeld(isolation:)``,
/// ``Application/untilResourcesAreHeld()`` and a host that reports readiness to a service manager. A resource that has been acquired, but is not ready,
/// has the status ``ResourceStatus/acquiring``. If it breaks before it is ready, that is a failure of its
/// ``RetryPolicy``, however long it took.
public enum Readiness: Sendable, Hashable {
  /// A resource is ready when it has been acquired, a body when it begins.
  case atOnce
  /// A resource is ready when its health check has passed for the first time.
  ///
  /// The first check begins right after the acquire. It may take as long as any other. Without a check this is
  /// ``atOnce``.
  case checked
  /// The run loop or the body calls ``declareReady()``.
  ///
  /// One that returns earlier, and rests, is ready, too. If it throws, or the time passes, the resource or body counts as broken.
  case declared(within: Duration = .seconds(30))
}

/// Declares that the resource or body is ready in whose run loop or body this is called.
///
/// Call it in code that was managed or run with ``Readiness/declared(within:)``, when it has done what others wait for:
///
///     try application.manage("server", while: .running, readiness: .declared()) {
///       Server(port: 8080)
///     } run: { server in
///       try await server.run(onBound: { declareReady() })
///     }
///
/// Any thread may call it, in the task of the loop or body or in one that it has started. A second call has no effect, nor
/// has a call after the release has begun, one in a loop that does not have to declare it, or one elsewhere. A
/// callback without a task, such as one of a C library, calls ``ResourceLease/declareReady()`` of a lease that the loop has
/// read.
public func declareReady() { ResourceLease.current?.declareReady() }
