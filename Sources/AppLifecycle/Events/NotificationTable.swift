package import PubSub

/// The consequences of one callback: a row of the table of callbacks.
///
/// A new callback is a case of ``ApplicationCallback`` or ``SceneCallback`` and a row here, beside its delegate method and its event.
struct NotificationRow<Subject: AnyObject, Transition> {
  /// The raw name of the platform's notification; nil if no notification follows the call.
  let notificationName: String?
  /// The type of the event that is posted; nil if no event follows the call.
  let event: (any MainActorEvent.Type)?
  /// Makes the event.
  let make: (Subject, Transition) -> (any MainActorEvent)?
  let commit: CommitOrder
  let phase: PhaseChange
  /// Calls the delegate's method.
  let callDelegate: @MainActor (Subject) -> Void
  /// Posts the notification, and says whether a phase closes with it.
  let post: @MainActor (Subject, Transition, Application, _ method: String, _ closing: LifecyclePhase?) -> Void
}

extension NotificationRow {
  /// Makes the event of the row.
  func makeEvent<E: MainActorEvent>(_ subject: Subject, _ transition: Transition) -> E {
    guard let event = make(subject, transition) as? E else { preconditionFailure("\(E.self) has another row") }
    return event
  }
}

extension CaseIterable {
  /// Returns the callbacks by the types of the events that follow them.
  fileprivate static func byEvent(_ event: (Self) -> (any MainActorEvent.Type)?) -> [ObjectIdentifier: Self] {
    let pairs = allCases.compactMap { callback in event(callback).map { (ObjectIdentifier($0), callback) } }
    return Dictionary(uniqueKeysWithValues: pairs)
  }
}

private func callback<Callback>(
  before type: any MainActorEvent.Type, in callbacks: [ObjectIdentifier: Callback]
) -> Callback {
  guard let callback = callbacks[ObjectIdentifier(type)] else {
    preconditionFailure("\(type) follows no delegate call: only the package's own events do")
  }
  return callback
}

extension ApplicationCallback {
  typealias Row = NotificationRow<Application, LifecycleTransition>

  /// The table of the application's callbacks.
  var row: Row {
    switch self {
    case .willFinishLaunching:
      Row(.commitFirst) { $0.delegate.applicationWillFinishLaunching($0) }
    case .didFinishLaunching:
      // At a launch into the foreground without scenes the phase `.foreground` opens, too; see `movePhases(after:)`.
      Row(
        "UIApplicationDidFinishLaunchingNotification", Application.DidFinishLaunching.init, .commitFirst,
        .opens(.running)
      ) {
        $0.delegate.applicationDidFinishLaunching($0)
      }
    case .didBecomeActive:
      Row("UIApplicationDidBecomeActiveNotification", Application.DidBecomeActive.init, .commitFirst, .opens(.active)) {
        $0.delegate.applicationDidBecomeActive($0)
      }
    case .willResignActive:
      Row(
        "UIApplicationWillResignActiveNotification", Application.WillResignActive.init, .callbackFirst, .closes(.active)
      ) {
        $0.delegate.applicationWillResignActive($0)
      }
    case .didEnterBackground:
      Row(
        "UIApplicationDidEnterBackgroundNotification", Application.DidEnterBackground.init, .commitFirst,
        .closes(.foreground)
      ) {
        $0.delegate.applicationDidEnterBackground($0)
      }
    case .willEnterForeground:
      Row(
        "UIApplicationWillEnterForegroundNotification", Application.WillEnterForeground.init, .callbackFirst,
        .opens(.foreground)
      ) {
        $0.delegate.applicationWillEnterForeground($0)
      }
    case .shouldTerminate:
      // Not a step of a transition: `Application` asks the delegate by itself.
      Row(.noCommit) { _ in }
    case .willTerminate:
      Row("UIApplicationWillTerminateNotification", Application.WillTerminate.init, .callbackFirst, .closes(.running)) {
        $0.delegate.applicationWillTerminate($0)
      }
    case .didReceiveMemoryWarning:
      Row("UIApplicationDidReceiveMemoryWarningNotification", Application.DidReceiveMemoryWarning.init) {
        $0.delegate.applicationDidReceiveMemoryWarning($0)
      }
    case .significantTimeChange:
      Row("UIApplicationSignificantTimeChangeNotification", Application.SignificantTimeChange.init) {
        $0.delegate.applicationSignificantTimeChange($0)
      }
    // The two names for protected data have no suffix `Notification`, as on the platform.
    case .protectedDataWillBecomeUnavailable:
      Row("UIApplicationProtectedDataWillBecomeUnavailable", Application.ProtectedDataWillBecomeUnavailable.init) {
        $0.delegate.applicationProtectedDataWillBecomeUnavailable($0)
      }
    case .protectedDataDidBecomeAvailable:
      Row("UIApplicationProtectedDataDidBecomeAvailable", Application.ProtectedDataDidBecomeAvailable.init) {
        $0.delegate.applicationProtectedDataDidBecomeAvailable($0)
      }
    }
  }

  /// Whether the state changes after the callback, or has changed before it.
  package var commitOrder: CommitOrder { row.commit }

  /// The type of the event that follows; nil if no event follows.
  package var event: (any MainActorEvent.Type)? { row.event }

  // Stored, because the bridge to Foundation asks for it at each post.
  private static let callbacksByEvent = byEvent(\.event)

  /// The callback that an event follows.
  static func ofEvent(_ type: any MainActorEvent.Type) -> Self { callback(before: type, in: callbacksByEvent) }
}

extension NotificationRow<Application, LifecycleTransition> {
  /// A callback that no notification follows.
  fileprivate init(_ commit: CommitOrder, _ callDelegate: @escaping @MainActor (Application) -> Void) {
    self.init(
      notificationName: nil, event: nil, make: { _, _ in nil }, commit: commit, phase: .none, callDelegate: callDelegate
    ) { _, _, _, _, _ in }
  }

  fileprivate init<E: ApplicationEvent>(
    _ name: String, _ make: @escaping @Sendable (Application, LifecycleTransition) -> E,
    _ commit: CommitOrder = .noCommit, _ phase: PhaseChange = .none,
    _ callDelegate: @escaping @MainActor (Application) -> Void
  ) {
    self.init(
      notificationName: name, event: E.self, make: make, commit: commit, phase: phase, callDelegate: callDelegate
    ) {
      $2.postMeasured(make($0, $1), from: $0, of: $3, closing: $4, cause: $1.cause)
    }
  }
}

extension SceneCallback {
  typealias Row = NotificationRow<Application.Scene, SceneTransition>

  /// The table of the scenes' callbacks.
  var row: Row {
    switch self {
    case .willConnect:
      Row("UISceneWillConnectNotification", Application.Scene.WillConnect.init, .callbackFirst) {
        $0.delegate?.sceneWillConnect($0)
      }
    case .willEnterForeground:
      Row("UISceneWillEnterForegroundNotification", Application.Scene.WillEnterForeground.init, .callbackFirst) {
        $0.delegate?.sceneWillEnterForeground($0)
      }
    // The two notifications of the active state have other names than their methods, as on the platform.
    case .didBecomeActive:
      Row("UISceneDidActivateNotification", Application.Scene.DidActivate.init, .commitFirst) {
        $0.delegate?.sceneDidBecomeActive($0)
      }
    case .willResignActive:
      Row("UISceneWillDeactivateNotification", Application.Scene.WillDeactivate.init, .callbackFirst, .closes(.active))
      {
        $0.delegate?.sceneWillResignActive($0)
      }
    case .didEnterBackground:
      Row(
        "UISceneDidEnterBackgroundNotification", Application.Scene.DidEnterBackground.init, .commitFirst,
        .closes(.foreground)
      ) {
        $0.delegate?.sceneDidEnterBackground($0)
      }
    case .didDisconnect:
      Row("UISceneDidDisconnectNotification", Application.Scene.DidDisconnect.init, .commitFirst, .closes(.running)) {
        $0.delegate?.sceneDidDisconnect($0)
      }
    }
  }

  /// Whether the scene's state changes after the callback, or has changed before it.
  package var commitOrder: CommitOrder { row.commit }

  /// The type of the event that follows; nil if no event follows.
  package var event: (any MainActorEvent.Type)? { row.event }

  private static let callbacksByEvent = byEvent(\.event)

  /// The callback that an event follows.
  static func ofEvent(_ type: any MainActorEvent.Type) -> Self { callback(before: type, in: callbacksByEvent) }
}

extension NotificationRow<Application.Scene, SceneTransition> {
  fileprivate init<E: SceneEvent>(
    _ name: String, _ make: @escaping @Sendable (Application.Scene, SceneTransition) -> E, _ commit: CommitOrder,
    _ phase: PhaseChange = .none,
    _ callDelegate: @escaping @MainActor (Application.Scene) -> Void
  ) {
    self.init(
      notificationName: name, event: E.self, make: make, commit: commit, phase: phase, callDelegate: callDelegate
    ) {
      $2.postMeasured(make($0, $1), from: $0, within: $0.session, of: $3, closing: $4, cause: $1.cause)
    }
  }
}
