public import PubSub

// The notifications of the application, nested in their sender.

extension Application {
  /// The launch is complete; state inactive, or background at a background launch.
  public struct DidFinishLaunching: ApplicationCallbackEvent {
    /// The delegate call that the event follows.
    public static var callback: ApplicationCallback { .didFinishLaunching }
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition

    /// Creates the event for a step of the life cycle.
    public init(application: Application, transition: LifecycleTransition) {
      self.application = application
      self.transition = transition
    }
  }

  /// The application receives events again; state active.
  public struct DidBecomeActive: ApplicationCallbackEvent {
    /// The delegate call that the event follows.
    public static var callback: ApplicationCallback { .didBecomeActive }
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition

    /// Creates the event for a step of the life cycle.
    public init(application: Application, transition: LifecycleTransition) {
      self.application = application
      self.transition = transition
    }
  }

  /// The application is about to stop receiving events; state *active*, still.
  ///
  /// Handlers are called in reverse order: the latest subscriber first.
  public struct WillResignActive: ApplicationCallbackEvent {
    /// The delegate call that the event follows.
    public static var callback: ApplicationCallback { .willResignActive }
    /// The traits of the event: delivery in reverse order, the latest subscriber first.
    public static var traits: EventTraits { .reversed }
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition

    /// Creates the event for a step of the life cycle.
    public init(application: Application, transition: LifecycleTransition) {
      self.application = application
      self.transition = transition
    }
  }

  /// The application has left the user's sight; state background.
  ///
  /// Handlers are called in reverse order: the latest subscriber first.
  public struct DidEnterBackground: ApplicationCallbackEvent {
    /// The delegate call that the event follows.
    public static var callback: ApplicationCallback { .didEnterBackground }
    /// The traits of the event: delivery in reverse order, the latest subscriber first.
    public static var traits: EventTraits { .reversed }
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition

    /// Creates the event for a step of the life cycle.
    public init(application: Application, transition: LifecycleTransition) {
      self.application = application
      self.transition = transition
    }
  }

  /// The application is about to come into sight; state *background*, still.
  ///
  /// Not posted at a cold launch without scenes: subscribe to ``DidFinishLaunching``, too, or to ``StateDidChange`` with
  /// replay.
  public struct WillEnterForeground: ApplicationCallbackEvent {
    /// The delegate call that the event follows.
    public static var callback: ApplicationCallback { .willEnterForeground }
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition

    /// Creates the event for a step of the life cycle.
    public init(application: Application, transition: LifecycleTransition) {
      self.application = application
      self.transition = transition
    }
  }

  /// The application is about to end; state background.
  ///
  /// Delivered in reverse. Not posted when the application is killed while suspended.
  public struct WillTerminate: ApplicationCallbackEvent {
    /// The delegate call that the event follows.
    public static var callback: ApplicationCallback { .willTerminate }
    /// The traits of the event: delivery in reverse order, the latest subscriber first.
    public static var traits: EventTraits { .reversed }
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition

    /// Creates the event for a step of the life cycle.
    public init(application: Application, transition: LifecycleTransition) {
      self.application = application
      self.transition = transition
    }
  }

  /// Memory is short; state unchanged.
  public struct DidReceiveMemoryWarning: ApplicationCallbackEvent {
    /// The delegate call that the event follows.
    public static var callback: ApplicationCallback { .didReceiveMemoryWarning }
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition

    /// Creates the event for a step of the life cycle.
    public init(application: Application, transition: LifecycleTransition) {
      self.application = application
      self.transition = transition
    }
  }

  /// The date, the clock or the time zone changed; state unchanged.
  ///
  /// Several changes during suspension lead to one event, on the return to the foreground, before ``DidBecomeActive``.
  public struct SignificantTimeChange: ApplicationCallbackEvent {
    /// The delegate call that the event follows.
    public static var callback: ApplicationCallback { .significantTimeChange }
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition

    /// Creates the event for a step of the life cycle.
    public init(application: Application, transition: LifecycleTransition) {
      self.application = application
      self.transition = transition
    }
  }

  /// Protected files are about to become unreadable.
  public struct ProtectedDataWillBecomeUnavailable: ApplicationCallbackEvent {
    /// The delegate call that the event follows.
    public static var callback: ApplicationCallback { .protectedDataWillBecomeUnavailable }
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition

    /// Creates the event for a step of the life cycle.
    public init(application: Application, transition: LifecycleTransition) {
      self.application = application
      self.transition = transition
    }
  }

  /// Protected files are readable again.
  public struct ProtectedDataDidBecomeAvailable: ApplicationCallbackEvent {
    /// The delegate call that the event follows.
    public static var callback: ApplicationCallback { .protectedDataDidBecomeAvailable }
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition

    /// Creates the event for a step of the life cycle.
    public init(application: Application, transition: LifecycleTransition) {
      self.application = application
      self.transition = transition
    }
  }
}
