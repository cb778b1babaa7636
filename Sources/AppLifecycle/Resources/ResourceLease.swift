internal import PubSub

/// A lease of a managed resource, from the beginning of its acquire to the beginning of its release.
///
/// Use it in callbacks of the handle, which may come on any thread and at any time. An invalidation through an old
/// lease has no effect, so a late callback of an old connection cannot break the new one.
///
///     try application.manage("connection", while: .foreground) {
///       let lease = ResourceLease.current
///       return try await Connection(onClose: { error in lease?.invalidate(because: error) })
///     } release: { connection in
///       await connection.close()
///     }
public struct ResourceLease: Sendable {
  let number: Int
  private let holding: ResourceHolding

  /// The lease of the resource whose `acquire`, `run` or `check` closure runs in this task, or has started it.
  ///
  /// In a body with an owner or dependencies it is a lease of that body. It is nil in a `release`, in
  /// `application.task` and in a detached task.
  public static var current: ResourceLease? { AwaitedRun.bound?.lease }

  init(_ number: Int, of holding: ResourceHolding) { (self.number, self.holding) = (number, holding) }

  /// Whether the lease is valid: the release has not begun, and the lease has not been invalidated.
  public var isValid: Bool { holding.isValid(number) }

  /// Declares the resource broken, so that the application releases it and its dependents, and acquires them again.
  ///
  /// Any thread may call it. A second call, or a call after the release has begun, has no effect. If the acquire is
  /// still running, the resource is released as soon as the acquire has succeeded.
  ///
  /// - Parameter error: the error that broke the resource; ``ResourceHealth/lastError`` and the ledger show it.
  public func invalidate(because error: any Error) {
    if holding.invalidate(number, because: error.text) { holding.leaseDidChange?(holding, number) }
  }

  /// Declares that the resource or body of this lease is ready; see ``Readiness/declared(within:)``.
  ///
  /// Any thread may call it, also while the acquire is still running. A second call has no effect, nor has a call after
  /// the release has begun.
  public func declareReady() {
    if holding.declareReady(number) { holding.leaseDidChange?(holding, number) }
  }
}
