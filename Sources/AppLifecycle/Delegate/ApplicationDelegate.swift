/// The object that an ``Application`` calls at each step of its life cycle, before the notification of that step is posted.
///
/// Every method is optional. Conform in an extension: there the compiler warns of a method whose name nearly matches, which
/// on the class itself would silently never be called. Methods that only a subclass of the conforming class declares are
/// not called either.
///
/// Callbacks run on the main actor, one after another; a transition never begins inside another. A callback that must wait
/// for something hands it to ``Application/manage(_:while:after:acquire:release:)``.
///
/// With scenes (``LifecycleProfile/scenes``) the four methods of active, foreground and background are not called: the
/// ``SceneDelegate`` of each scene is.
@MainActor public protocol ApplicationDelegate: AnyObject {
  /// The launch has begun; state inactive, or background at a background launch. No notification follows.
  ///
  /// The last moment to restore what was saved: whoever is told that the launch is complete is to find it.
  func applicationWillFinishLaunching(_ application: Application)
  /// The launch is complete; ``Application/launchCause`` says why it happened. State as before.
  func applicationDidFinishLaunching(_ application: Application)
  /// The application receives events again; state active.
  func applicationDidBecomeActive(_ application: Application)
  /// The application is about to stop receiving events; state *active*, still.
  func applicationWillResignActive(_ application: Application)
  /// The application has left the user's sight; state background.
  func applicationDidEnterBackground(_ application: Application)
  /// The application is about to come into sight; state *background*, still. Not called at a cold launch.
  func applicationWillEnterForeground(_ application: Application)
  /// The application is about to end; state background. Not called when it is killed while suspended.
  func applicationWillTerminate(_ application: Application)
  /// Memory is short; state unchanged.
  func applicationDidReceiveMemoryWarning(_ application: Application)
  /// The date, the clock or the time zone changed; state unchanged. A change during suspension is told once, on return.
  func applicationSignificantTimeChange(_ application: Application)
  /// Protected files are about to become unreadable; state background.
  func applicationProtectedDataWillBecomeUnavailable(_ application: Application)
  /// Protected files are readable again; state background.
  func applicationProtectedDataDidBecomeAvailable(_ application: Application)
  /// Makes the delegate of a scene that is about to be connected; right after, it is told that the scene will connect.
  ///
  /// Asked once for each scene, in the scene-based life cycle only. The scene keeps its delegate alive.
  func application(_ application: Application, delegateFor scene: Scene) -> (any SceneDelegate)?
}

extension ApplicationDelegate {
  /// Does nothing.
  public func applicationWillFinishLaunching(_ application: Application) {}
  /// Does nothing.
  public func applicationDidFinishLaunching(_ application: Application) {}
  /// Does nothing.
  public func applicationDidBecomeActive(_ application: Application) {}
  /// Does nothing.
  public func applicationWillResignActive(_ application: Application) {}
  /// Does nothing.
  public func applicationDidEnterBackground(_ application: Application) {}
  /// Does nothing.
  public func applicationWillEnterForeground(_ application: Application) {}
  /// Does nothing.
  public func applicationWillTerminate(_ application: Application) {}
  /// Does nothing.
  public func applicationDidReceiveMemoryWarning(_ application: Application) {}
  /// Does nothing.
  public func applicationSignificantTimeChange(_ application: Application) {}
  /// Does nothing.
  public func applicationProtectedDataWillBecomeUnavailable(_ application: Application) {}
  /// Does nothing.
  public func applicationProtectedDataDidBecomeAvailable(_ application: Application) {}
  /// No delegate: the scene's notifications are posted all the same.
  public func application(_ application: Application, delegateFor scene: Scene) -> (any SceneDelegate)? { nil }
}

/// A delegate that can be made without arguments, so that a host can start the program with it.
///
/// With `import UnixHost`, `@main` before such a class makes it the program.
@MainActor public protocol MainApplicationDelegate: ApplicationDelegate {
  /// Makes the delegate, before anything of the life cycle has happened.
  init()

  /// Prepares the application for its launch: called once, after it was made and adopted, before anything has happened to it.
  ///
  /// For what must not miss the launch: a journal is opened here, and who wants every record subscribes. No host works yet, so
  /// nothing ends what takes long. Does nothing unless it is implemented.
  func prepare(_ application: Application)
}

extension MainApplicationDelegate {
  /// Does nothing.
  public func prepare(_ application: Application) {}
}
