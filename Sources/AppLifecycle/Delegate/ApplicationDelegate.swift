/// The object that an ``Application`` calls at each step of its life cycle, before the notification of that step is posted.
///
/// Every method is optional. Conform in an extension, and write the methods in that extension: there the compiler warns of a
/// method whose name nearly matches. In the body of the class it says nothing, and the method is never called. Methods that
/// only a subclass of the conforming class declares are not called either.
///
/// Write `@MainActor` before the class. A delegate is `Sendable`, as every class on the main actor is: without `@MainActor` the
/// compiler reports each stored property that can change (“stored property … of 'Sendable'-conforming class … is mutable”).
///
/// Callbacks run on the main actor, one after another; a transition never begins inside another. Work that a callback would have to
/// wait for belongs into a resource: `application.manage`.
///
/// With scenes (``LifecycleProfile/scenes``) the four methods of active, foreground and background are not called: the
/// ``SceneDelegate`` of each scene is.
@MainActor public protocol ApplicationDelegate: AnyObject, Sendable {
  /// The launch has begun; state inactive, or background at a background launch. No notification follows.
  ///
  /// Restore saved state here: handlers of `DidFinishLaunching` expect it.
  func applicationWillFinishLaunching(_ application: Application)
  /// The launch is complete; ``Application/launchCause`` is its reason. State as before.
  func applicationDidFinishLaunching(_ application: Application)
  /// The application receives events again; state active.
  func applicationDidBecomeActive(_ application: Application)
  /// The application is about to stop receiving events; state *active*, still.
  func applicationWillResignActive(_ application: Application)
  /// The application has left the user's sight; state background.
  func applicationDidEnterBackground(_ application: Application)
  /// The application is about to come into sight; state *background*, still. Not called at a cold launch.
  func applicationWillEnterForeground(_ application: Application)
  /// Answers whether the application may end, as the user or the program wants; state unchanged.
  ///
  /// ``SystemInput/terminate`` asks: a key of the program, Ctrl-C in a terminal, ``Application/send(_:cause:)``. An end that
  /// the system orders (``SystemInput/shutDown``: SIGTERM, a lost terminal) does not ask, nor does an application that is
  /// suspended.
  ///
  /// An answer that needs time, such as the user's own, is awaited here. Meanwhile the life cycle goes on: the application may
  /// leave the screen and come back. One question is open at a time; a further ``SystemInput/terminate`` waits for the same
  /// answer. When the system ends the application, the task that waits here is cancelled, and its answer no longer counts.
  ///
  /// The answer has ``Application/Configuration/shouldTerminateBudget``. Past it the delegate is reported as an overrun, and the
  /// application ends in order. Time during which the application is suspended does not count.
  ///
  /// - Parameters:
  ///   - application: the application that is to end.
  ///   - cause: what led to it, such as `Ctrl-C`.
  /// - Returns: whether it may end; ``TerminateReply/now`` by default.
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply
  /// The application is about to end; state background. Not called when it is killed while suspended.
  func applicationWillTerminate(_ application: Application)
  /// Memory is short; state unchanged.
  func applicationDidReceiveMemoryWarning(_ application: Application)
  /// The date, the clock or the time zone changed; state unchanged. Several changes during suspension lead to one call, on
  /// return.
  func applicationSignificantTimeChange(_ application: Application)
  /// Protected files are about to become unreadable; state background.
  func applicationProtectedDataWillBecomeUnavailable(_ application: Application)
  /// Protected files are readable again; state background.
  func applicationProtectedDataDidBecomeAvailable(_ application: Application)
  /// Makes the delegate of a scene that is about to be connected; `sceneWillConnect` is called on it right after.
  ///
  /// Called once for each scene, in the scene-based life cycle only. The scene keeps its delegate alive.
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
  /// Lets the application end.
  public func applicationShouldTerminate(
    _ application: Application, cause: LifecycleCause
  ) async -> TerminateReply { .now }
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

  /// The configuration of the application, read once, before the delegate is made.
  ///
  ///     static var configuration: Application.Configuration {
  ///       var configuration = Application.Configuration()
  ///       configuration.willTerminateBudget = .seconds(20)
  ///       return configuration
  ///     }
  ///
  /// A host takes its own times from it: how long it waits for an end, and how long it asks a service manager to wait. The
  /// default has the platform's own times.
  static var configuration: Application.Configuration { get }

  /// Prepares the application for its launch: called once, after it was made and adopted, before anything has happened to it.
  ///
  /// Open a journal or add an observer here, so that it misses nothing of the launch. No host works yet, so no budget limits
  /// this call. The default does nothing.
  func prepare(_ application: Application)
}

extension MainApplicationDelegate {
  /// A configuration with the platform's own times.
  public static var configuration: Application.Configuration { Application.Configuration() }

  /// Does nothing.
  public func prepare(_ application: Application) {}
}
