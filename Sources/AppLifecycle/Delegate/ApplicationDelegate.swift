/// The object that an ``Application`` calls at each step of its life cycle, before the notification of that step is posted.
///
/// Every method is optional. Conform in an extension, and write the methods in that extension: there the compiler warns
/// of a method whose name nearly matches. In the body of the class it gives no warning, and the misspelled method is
/// never called. A method that only a subclass of the conforming class declares is not called either.
///
/// Write `@MainActor` before the class. A delegate is `Sendable`, as every class on the main actor is: without `@MainActor` the
/// compiler reports each stored property that can change (“stored property … of 'Sendable'-conforming class … is mutable”).
///
/// Callbacks run on the main actor, one after another. A transition never begins inside another. Put work for which a
/// callback would have to wait into a resource: `application.manage`.
///
/// With scenes (``LifecycleProfile/scenes``) the application does not call the four methods of active, foreground and
/// background. It calls the ``SceneDelegate`` of each scene instead.
@MainActor public protocol ApplicationDelegate: AnyObject, Sendable {
  /// The configuration of the application, read once, when the application is created.
  ///
  ///     static var configuration: Application.Configuration {
  ///       var configuration = Application.Configuration()
  ///       configuration.willTerminateBudget = .seconds(20)
  ///       return configuration
  ///     }
  ///
  /// An `Application` and a simulated system use it unless they are given another one, so a test has the budgets of the
  /// program. A host reads its own time limits from it: how long it waits for the application to end, and how long it
  /// asks a service manager to wait. The default has the time limits of iOS.
  static var configuration: Application.Configuration { get }

  /// Tells the delegate that the launch has begun.
  ///
  /// The state is inactive; it is background at a launch into the background, and at every launch with scenes. No
  /// notification follows.
  ///
  /// The module `SavedState` restores its values right after this call. If the program keeps state by its own means, restore it
  /// here, because handlers of `DidFinishLaunching` expect it.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationWillFinishLaunching(_ application: Application)
  /// Tells the delegate that the launch is complete.
  ///
  /// ``Application/launchCause`` is the reason for the launch. The state is the same as in
  /// ``applicationWillFinishLaunching(_:)``.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationDidFinishLaunching(_ application: Application)
  /// Tells the delegate that the application has become active, and receives events.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationDidBecomeActive(_ application: Application)
  /// Tells the delegate that the application is about to stop receiving events; the state is still active.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationWillResignActive(_ application: Application)
  /// Tells the delegate that the application has entered the background.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationDidEnterBackground(_ application: Application)
  /// Tells the delegate that the application is about to enter the foreground; the state is still background.
  ///
  /// Not called at a cold launch.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationWillEnterForeground(_ application: Application)
  /// Answers whether the application may end when the user or the program asks for it; the state does not change.
  ///
  /// ``SystemInput/terminate`` leads to this call; its source may be a key of the program, Ctrl-C in a terminal, or
  /// ``Application/send(_:cause:)``. The delegate is not asked for ``SystemInput/shutDown``, or while the application is
  /// suspended. SIGTERM is a `shutDown` unless the host's `causesThatAsk` lists it; the loss of the terminal always is.
  ///
  /// The method may await an answer that needs time, such as the user's. Meanwhile the life cycle continues: the
  /// application may enter the background and return. Only one question is open at a time; a further
  /// ``SystemInput/terminate`` waits for the same answer. When the system ends the application, the application cancels
  /// the task of this call, and ignores its answer.
  ///
  /// ``Application/Configuration/shouldTerminateBudget`` limits the time for the answer. When it has passed, the
  /// delegate is reported as an overrun, and the application ends in order. Time during which the application is
  /// suspended does not count.
  ///
  /// - Parameters:
  ///   - application: the application that is to end.
  ///   - cause: the cause of the request, such as `Ctrl-C`.
  /// - Returns: whether the application may end; ``TerminateReply/now`` by default.
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply
  /// Tells the delegate that the application is about to end; the state is background.
  ///
  /// Not called when the application is killed while it is suspended.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationWillTerminate(_ application: Application)
  /// Tells the delegate that memory is low; the state does not change.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationDidReceiveMemoryWarning(_ application: Application)
  /// Tells the delegate that the date, the clock or the time zone has changed; the state does not change.
  ///
  /// Several changes during suspension lead to one call, when the application runs again.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationSignificantTimeChange(_ application: Application)
  /// Tells the delegate that protected files are about to become unreadable; the state is background.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationProtectedDataWillBecomeUnavailable(_ application: Application)
  /// Tells the delegate that protected files are readable again; the state is background.
  ///
  /// - Parameter application: the application whose life cycle it is.
  func applicationProtectedDataDidBecomeAvailable(_ application: Application)
  /// Returns a delegate for a scene that is about to be connected.
  ///
  /// Called once for each scene, only in the scene-based life cycle. The scene retains the delegate, and calls its
  /// `sceneWillConnect` next.
  ///
  /// - Parameters:
  ///   - application: the application of the scene.
  ///   - scene: the scene that is about to be connected.
  /// - Returns: the delegate; nil by default.
  func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)?
}

extension ApplicationDelegate {
  /// A configuration with the time limits of iOS.
  public static var configuration: Application.Configuration { Application.Configuration() }
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
  /// Returns nil: the scene has no delegate, and still posts its notifications.
  public func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? {
    nil
  }
}
