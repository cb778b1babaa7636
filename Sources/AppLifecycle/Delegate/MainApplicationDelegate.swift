/// A delegate that can be made without arguments, so that a host can start the program with it.
///
/// With `import UnixHost`, write `@main` before a conforming class: it becomes the entry point of the program.
@MainActor public protocol MainApplicationDelegate: ApplicationDelegate {
  /// Creates the delegate, before the life cycle begins.
  init()

  /// Prepares the application for its launch.
  ///
  /// Called once, after the application was created and adopted, before its first input. Open a journal or add an
  /// observer here, so that it records the whole launch. The host does not run yet, so no budget limits this call. The
  /// default implementation does nothing.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func prepare(_ application: Application)
}

extension MainApplicationDelegate {
  /// Does nothing.
  public func prepare(_ application: Application) {}
}
