internal import PubSub

/// One acquire of a managed resource, from its beginning to the beginning of its release.
///
/// For callbacks of the handle, which may come from any thread and at any time: an invalidation through a lease that is over
/// has no effect, so that a late callback of an old connection cannot break the new one.
///
///     try application.manage("connection", while: .foreground) {
///       let lease = ResourceLease.current
///       return try await Connection(onClose: { error in lease?.invalidate(because: error) })
///     } release: { connection in
///       await connection.close()
///     }
public struct ResourceLease: Sendable {
  let holding: ResourceHolding
  let number: Int
  private let didInvalidate: @Sendable () -> Void

  /// The lease of the resource whose `acquire`, `run` or `check` runs in this task; nil elsewhere.
  public static var current: ResourceLease? { AwaitedRun.bound?.lease }

  init(_ number: Int, of holding: ResourceHolding, didInvalidate: @escaping @Sendable () -> Void) {
    (self.number, self.holding, self.didInvalidate) = (number, holding, didInvalidate)
  }

  /// Whether the lease lasts: its release has not begun, and it has not been invalidated.
  public var isValid: Bool { holding.isValid(number) }

  /// Declares the resource broken: its dependents and it are released, and acquired again.
  ///
  /// May be called from any thread. A second call, or one after the release has begun, has no effect. While the acquire is
  /// under way, the resource is released as soon as the acquire has succeeded.
  ///
  /// - Parameter error: what broke it; ``ResourceHealth/lastError`` and the ledger show it.
  public func invalidate(because error: any Error) {
    if holding.invalidate(number, because: String(describing: error)) { didInvalidate() }
  }
}
