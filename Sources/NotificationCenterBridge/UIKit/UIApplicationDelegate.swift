// On systems with UIKit, UIKit itself has these names.
#if !canImport(UIKit)
  public import AppLifecycle

  /// A delegate with UIKit's methods of the launch and of closed windows, for systems without UIKit.
  ///
  /// UIKit's other methods of the life cycle are those of `ApplicationDelegate`, with the same names. A delegate that
  /// implements `applicationDidFinishLaunching(_:)` itself does not get
  /// ``application(_:didFinishLaunchingWithOptions:)``.
  @MainActor public protocol UIApplicationDelegate: _SessionDelegate {
    /// Tells the delegate that the launch has begun.
    ///
    /// - Parameters:
    ///   - application: the application whose life cycle it is.
    ///   - launchOptions: nil, because no host passes launch options.
    /// - Returns: whether the delegate can handle the URL of the options; ignored.
    func application(
      _ application: UIApplication, willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    /// Tells the delegate that the launch is complete.
    ///
    /// - Parameters:
    ///   - application: the application whose life cycle it is.
    ///   - launchOptions: nil, because no host passes launch options.
    /// - Returns: whether the delegate can handle the URL of the options; ignored.
    func application(
      _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    /// Tells the delegate that the user has closed a window, after its scene has disconnected.
    ///
    /// - Parameters:
    ///   - application: the application of the window.
    ///   - sceneSessions: the window's session, which is no longer among `openSessions`.
    func application(_ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>)
  }

  extension UIApplicationDelegate {
    /// Returns true.
    public func application(
      _ application: UIApplication, willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }
    /// Returns true.
    public func application(
      _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }
    /// Does nothing.
    public func application(_ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>) {}
    /// Calls ``application(_:didDiscardSceneSessions:)``.
    public func _application(_ application: Application, sessionDidEnd session: SceneSession) {
      self.application(application, didDiscardSceneSessions: [session])
    }
    /// Calls ``application(_:willFinishLaunchingWithOptions:)``.
    public func applicationWillFinishLaunching(_ application: Application) {
      _ = self.application(application, willFinishLaunchingWithOptions: nil)
    }
    /// Calls ``application(_:didFinishLaunchingWithOptions:)``.
    public func applicationDidFinishLaunching(_ application: Application) {
      _ = self.application(application, didFinishLaunchingWithOptions: nil)
    }
  }

  /// A delegate of a scene with UIKit's method for its connection, for systems without UIKit.
  ///
  /// UIKit's other methods of the life cycle are those of `SceneDelegate`, with the same names. A delegate that implements
  /// `sceneWillConnect(_:)` itself does not get ``scene(_:willConnectTo:options:)``.
  @MainActor public protocol UISceneDelegate: SceneDelegate {
    /// Tells the delegate that the scene is about to be connected.
    ///
    /// - Parameters:
    ///   - scene: the scene whose life cycle it is.
    ///   - session: the session of the scene.
    ///   - connectionOptions: empty options, because no host passes any.
    func scene(
      _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions)
  }

  extension UISceneDelegate {
    /// Does nothing.
    public func scene(
      _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) {}
    /// Calls ``scene(_:willConnectTo:options:)``.
    public func sceneWillConnect(_ scene: Application.Scene) {
      self.scene(scene, willConnectTo: scene.session, options: UIScene.ConnectionOptions())
    }
  }

  /// A delegate of a scene: each scene counts as that of a window.
  public protocol UIWindowSceneDelegate: UISceneDelegate {}
#endif
