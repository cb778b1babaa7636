import AppLifecycle
import Foundation
import NotificationCenterBridge

// Each name of UIKit that *Coming from UIKit* lists, once. `DocumentationTests` compares the lines with the rows of the
// article.

#if !canImport(UIKit)
  private func use(_: Any?) {}

  /// What is here.
  @MainActor private func compile(
    _ delegate: any UIApplicationDelegate, _ scene: UIScene, _ sceneDelegate: any UIWindowSceneDelegate,
    _ session: UISceneSession
  ) {
    use(UIApplication.shared)
    use(UIApplication.shared.delegate)
    use(UIApplication.shared.applicationState)
    use(UIApplication.State.active)
    use(UIApplication.State.inactive)
    use(UIApplication.State.background)
    use(UIApplication.shared.connectedScenes)
    use(UIApplication.shared.openSessions)
    use(UIApplication.shared.supportsMultipleScenes)
    use(UIApplication.shared.isProtectedDataAvailable)
    use(UIApplication.shared.backgroundRefreshStatus)
    use(UIBackgroundRefreshStatus.available)
    use(UIApplication.LaunchOptionsKey.remoteNotification)

    use(UIApplication.shared.beginBackgroundTask(withName: "sync", expirationHandler: nil))
    use(UIApplication.shared.beginBackgroundTask(expirationHandler: nil))
    use(UIApplication.shared.endBackgroundTask(.invalid))
    use(UIBackgroundTaskIdentifier.invalid)
    use(UIApplication.shared.backgroundTimeRemaining)

    use(UIApplication.didFinishLaunchingNotification)
    use(UIApplication.didBecomeActiveNotification)
    use(UIApplication.willResignActiveNotification)
    use(UIApplication.didEnterBackgroundNotification)
    use(UIApplication.willEnterForegroundNotification)
    use(UIApplication.willTerminateNotification)
    use(UIApplication.didReceiveMemoryWarningNotification)
    use(UIApplication.significantTimeChangeNotification)
    use(UIApplication.protectedDataWillBecomeUnavailableNotification)
    use(UIApplication.protectedDataDidBecomeAvailableNotification)
    use(UIApplication.backgroundRefreshStatusDidChangeNotification)

    use(scene as UIWindowScene)
    use(scene.activationState)
    use(UIScene.ActivationState.unattached)
    use(UIScene.ActivationState.foregroundActive)
    use(UIScene.ActivationState.foregroundInactive)
    use(UIScene.ActivationState.background)
    use(scene.session)
    use(scene.delegate)
    use(session.persistentIdentifier)
    use(session.scene)
    use(session.userInfo)
    use(UIScene.ConnectionOptions.self)
    use(UIScene.willConnectNotification)
    use(UIScene.willEnterForegroundNotification)
    use(UIScene.didActivateNotification)
    use(UIScene.willDeactivateNotification)
    use(UIScene.didEnterBackgroundNotification)
    use(UIScene.didDisconnectNotification)

    use(delegate.application(_:willFinishLaunchingWithOptions:))
    use(delegate.application(_:didFinishLaunchingWithOptions:))
    use(delegate.application(_:didDiscardSceneSessions:))
    use(delegate.applicationDidBecomeActive(_:))
    use(delegate.applicationWillResignActive(_:))
    use(delegate.applicationDidEnterBackground(_:))
    use(delegate.applicationWillEnterForeground(_:))
    use(delegate.applicationWillTerminate(_:))
    use(delegate.applicationDidReceiveMemoryWarning(_:))
    use(delegate.applicationSignificantTimeChange(_:))
    use(delegate.applicationProtectedDataWillBecomeUnavailable(_:))
    use(delegate.applicationProtectedDataDidBecomeAvailable(_:))
    use(sceneDelegate.scene(_:willConnectTo:options:))
    use(sceneDelegate.sceneDidDisconnect(_:))
    use(sceneDelegate.sceneDidBecomeActive(_:))
    use(sceneDelegate.sceneWillResignActive(_:))
    use(sceneDelegate.sceneWillEnterForeground(_:))
    use(sceneDelegate.sceneDidEnterBackground(_:))
  }

  /// What cannot be here: code that is unavailable itself may use it.
  @available(*, unavailable)
  @MainActor private func compile(_ url: URL, _ scene: UIScene) {
    use(UIApplication.shared.open(url))
    use(UIApplication.shared.canOpenURL(url))
    use(UIApplication.shared.windows)
    use(UIApplication.shared.keyWindow)
    use(UIApplication.shared.statusBarFrame)
    use(UIApplication.shared.isIdleTimerDisabled)
    use(UIApplication.shared.applicationIconBadgeNumber)
    use(UIApplication.shared.registerForRemoteNotifications())
    use(UIApplication.shared.isRegisteredForRemoteNotifications)
    use(UIApplication.shared.sendAction("", to: nil, from: nil, for: nil))
    use(UIApplication.shared.setMinimumBackgroundFetchInterval(0))
    use(UIBackgroundFetchResult.self)
    use(BGTaskScheduler.self)
    use(UISceneConfiguration.self)
    use(scene.windows)
    use(scene.keyWindow)
    use(UIDevice.self)
    use(UIScreen.self)
    use(UIWindow.self)
    use(UIResponder.self)
  }
#endif
