/// A delegate whose state is restored between the two calls of a launch.
///
/// A `SavedStateDelegate` of the module `SavedState` is one.
@MainActor public protocol StateRestoringDelegate: ApplicationDelegate {
  /// Makes the application's state ready to be restored.
  ///
  /// Called after `applicationWillFinishLaunching`. The state is restored right after the call.
  ///
  /// - Parameter application: the application whose state it is.
  func applicationWillRestoreState(_ application: Application)
}
