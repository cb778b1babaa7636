extension Application {
  /// Waits until every managed resource whose phase is open is held, including resources that are being retried.
  ///
  /// The method also waits for a resource that has failed for good, until ``ManagedResource/retry()`` succeeds, and for
  /// bodies with dependencies to begin. It also returns if the phase closes before that, or the process ends. A host
  /// awaits it before it reports that the program is ready.
  ///
  /// - Complexity: linear in the number of resources.
  public func untilResourcesAreHeld() async { await manager.untilHeld() }
}
