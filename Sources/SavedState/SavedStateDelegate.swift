public import AppLifecycle

/// A delegate that configures saved state, and is asked before it is restored and saved.
///
///     extension AppDelegate: SavedStateDelegate {
///       var savedStateConfiguration: SavedState.Configuration { .init(autosaveInterval: .seconds(10)) }
///     }
///
/// Every requirement is optional: an application without such a delegate restores and saves with the default configuration.
@MainActor public protocol SavedStateDelegate: StateRestoringDelegate {
  /// The configuration, read at the first use of the saved state in a process.
  var savedStateConfiguration: SavedState.Configuration { get }

  /// Answers whether state is restored.
  ///
  /// Called after `applicationWillFinishLaunching`, if there is state to restore, as UIKit's
  /// `application(_:shouldRestoreSecureApplicationState:)`. State that is refused stays where it is until the next save.
  ///
  /// - Parameter application: the application whose state it is.
  /// - Returns: whether to restore; true by default.
  func applicationShouldRestoreState(_ application: Application) -> Bool
  /// Answers whether state is saved, before each save.
  ///
  /// - Parameter application: the application whose state it is.
  /// - Returns: whether to save; true by default.
  func applicationShouldSaveState(_ application: Application) -> Bool
  /// Tells the delegate how the restoration ended, before `applicationDidFinishLaunching`.
  ///
  /// - Parameters:
  ///   - application: the application whose state it is.
  ///   - outcome: how it ended.
  func application(_ application: Application, didRestoreState outcome: RestorationOutcome)
}

extension SavedStateDelegate {
  /// Makes the application's saved state, so that it is restored now.
  public func applicationWillRestoreState(_ application: Application) { _ = application.savedState }
  /// The default configuration.
  public var savedStateConfiguration: SavedState.Configuration { SavedState.Configuration() }
  /// Restores.
  public func applicationShouldRestoreState(_ application: Application) -> Bool { true }
  /// Saves.
  public func applicationShouldSaveState(_ application: Application) -> Bool { true }
  /// Does nothing.
  public func application(_ application: Application, didRestoreState outcome: RestorationOutcome) {}
}
