extension Application {
  /// Returns once every managed resource whose phase is open is held, the ones that are being retried included.
  ///
  /// Returns also when the phase is closed again before that, or the process has ended. A host awaits it before it says that the program
  /// is ready.
  ///
  /// - Complexity: linear in the number of resources.
  public func untilResourcesAreHeld() async { await manager.untilHeld() }
}
