extension Application {
  /// Waits until every managed resource whose phase is open is held, or one of them has failed for good.
  ///
  ///     let failed = await application.untilResourcesAreHeld()
  ///     if failed.isEmpty { reportReady() } else { report(failed) }
  ///
  /// The method also waits for resources that are being retried, and for bodies with dependencies to begin. It returns
  /// as soon as a resource has failed for good, because the application does not acquire that resource by itself any
  /// more. After ``ManagedResource/retry()`` a new call waits again. The method also returns if the phase closes before
  /// that, the process ends, or the task is cancelled. A host awaits it before it reports that the program is ready.
  ///
  /// - Returns: the resources that have failed for good, in order of registration; empty if every resource is held.
  /// - Complexity: linear in the number of resources.
  @discardableResult
  public func untilResourcesAreHeld() async -> [ResourceHealth] { await manager.untilHeld() }
}
