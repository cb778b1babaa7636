public import PubSub

/// A notification of a scene's life cycle, posted on the main actor right after the delegate call that it belongs to.
///
/// It is posted from the scene (`from: scene` subscribes to one scene only), also where the delegate does not implement the
/// method, or there is none. Its name is the platform's raw name.
public protocol SceneEvent: MainActorEvent {
  /// The delegate call that the event follows.
  static var callback: SceneCallback { get }
  /// Whose life cycle.
  var scene: Scene { get }
  /// The step: the scene's states before and after, cause and instant.
  var transition: SceneTransition { get }
  /// Makes the event of a step.
  init(scene: Scene, transition: SceneTransition)
}

extension SceneEvent {
  /// The platform's raw name.
  public static var name: EventName { EventName(rawValue: callback.notificationName) }
}

extension SceneCallback {
  /// Calls the delegate's method.
  @MainActor func callDelegate(of scene: Scene) {
    guard let delegate = scene.delegate else { return }
    switch self {
    case .willConnect: delegate.sceneWillConnect(scene)
    case .willEnterForeground: delegate.sceneWillEnterForeground(scene)
    case .didBecomeActive: delegate.sceneDidBecomeActive(scene)
    case .willResignActive: delegate.sceneWillResignActive(scene)
    case .didEnterBackground: delegate.sceneDidEnterBackground(scene)
    case .didDisconnect: delegate.sceneDidDisconnect(scene)
    }
  }

  /// Posts the notification that follows the call.
  ///
  /// What the application tears down waits for the asynchronous handlers of those that close something.
  @MainActor func postNotification(of scene: Scene, _ transition: SceneTransition, in application: Application) {
    func post<E: SceneEvent>(_: E.Type, closing phase: LifecyclePhase? = nil) {
      application.postMeasured(
        E(scene: scene, transition: transition), from: scene, of: rawValue, awaits: phase != nil, closing: phase,
        cause: transition.cause)
    }
    switch self {
    case .willConnect: post(Scene.WillConnect.self)
    case .willEnterForeground: post(Scene.WillEnterForeground.self)
    case .didBecomeActive: post(Scene.DidActivate.self)
    case .willResignActive: post(Scene.WillDeactivate.self, closing: .active)
    case .didEnterBackground: post(Scene.DidEnterBackground.self, closing: .foreground)
    case .didDisconnect: post(Scene.DidDisconnect.self, closing: .running)
    }
  }
}
