public import PubSub

/// A notification of an application's life cycle, posted on the main actor right after the delegate call that it belongs to.
///
/// It is posted from the application (`from: application` subscribes to one application only), also where the delegate does
/// not implement the method. Its name is the platform's raw name.
public protocol ApplicationEvent: MainActorEvent {
  /// Whose life cycle.
  var application: Application { get }
  /// The step: states before and after, cause, instant, and the stay outside of active that it begins or ends.
  var transition: LifecycleTransition { get }
}

/// An application event that follows a delegate call.
public protocol ApplicationCallbackEvent: ApplicationEvent {
  /// The delegate call that the event follows.
  static var callback: ApplicationCallback { get }
  /// Makes the event of a step.
  init(application: Application, transition: LifecycleTransition)
}

extension ApplicationCallbackEvent {
  /// The platform's raw name.
  public static var name: EventName { EventName(rawValue: callback.notificationName ?? callback.rawValue) }
}

extension ApplicationCallback {
  /// Calls the delegate's method.
  @MainActor func callDelegate(of application: Application) {
    let delegate = application.delegate
    switch self {
    case .willFinishLaunching: delegate.applicationWillFinishLaunching(application)
    case .didFinishLaunching: delegate.applicationDidFinishLaunching(application)
    case .didBecomeActive: delegate.applicationDidBecomeActive(application)
    case .willResignActive: delegate.applicationWillResignActive(application)
    case .didEnterBackground: delegate.applicationDidEnterBackground(application)
    case .willEnterForeground: delegate.applicationWillEnterForeground(application)
    // A question, which `Application` asks by itself: no step of a transition.
    case .shouldTerminate: break
    case .willTerminate: delegate.applicationWillTerminate(application)
    case .didReceiveMemoryWarning: delegate.applicationDidReceiveMemoryWarning(application)
    case .significantTimeChange: delegate.applicationSignificantTimeChange(application)
    case .protectedDataWillBecomeUnavailable: delegate.applicationProtectedDataWillBecomeUnavailable(application)
    case .protectedDataDidBecomeAvailable: delegate.applicationProtectedDataDidBecomeAvailable(application)
    }
  }

  /// Posts the notification that follows the call; there is none of willFinishLaunching and shouldTerminate.
  @MainActor func postNotification(of application: Application, _ transition: LifecycleTransition) {
    func post<E: ApplicationCallbackEvent>(_: E.Type, closing phase: LifecyclePhase? = nil) {
      application.postMeasured(
        E(application: application, transition: transition), from: application, of: rawValue, awaits: phase != nil,
        closing: phase, cause: transition.cause)
    }
    switch self {
    case .willFinishLaunching, .shouldTerminate: break
    case .didFinishLaunching: post(Application.DidFinishLaunching.self)
    case .didBecomeActive: post(Application.DidBecomeActive.self)
    case .willResignActive: post(Application.WillResignActive.self, closing: .active)
    case .didEnterBackground: post(Application.DidEnterBackground.self, closing: .foreground)
    case .willEnterForeground: post(Application.WillEnterForeground.self)
    case .willTerminate: post(Application.WillTerminate.self, closing: .running)
    case .didReceiveMemoryWarning: post(Application.DidReceiveMemoryWarning.self)
    case .significantTimeChange: post(Application.SignificantTimeChange.self)
    case .protectedDataWillBecomeUnavailable: post(Application.ProtectedDataWillBecomeUnavailable.self)
    case .protectedDataDidBecomeAvailable: post(Application.ProtectedDataDidBecomeAvailable.self)
    }
  }
}
