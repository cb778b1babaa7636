extension Application {
  /// Returns once every managed resource whose phase is open is held, the ones that are being retried included.
  ///
  /// Returns also when the phase is closed again before that, or the process has ended.
  package func managedResourcesAreHeld() async { await manager.untilHeld() }
}
