import PubSub

// The notifications of the application, nested in their sender. A new one begins with its row in NotificationTable.swift.

extension Application {
  /// A notification that the launch is complete.
  ///
  /// The state is inactive; it is background at a launch into the background, and at every launch with scenes.
  public struct DidFinishLaunching: ApplicationEvent {
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
  }

  /// A notification that the application has become active, and receives events.
  public struct DidBecomeActive: ApplicationEvent {
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
  }

  /// A notification that the application is about to stop receiving events; the state is still active.
  ///
  /// Handlers are called in reverse order: the latest subscriber first.
  ///
  /// On the main actor, a handler of `receive` runs after the change; on another actor it may run before.
  public struct WillResignActive: ApplicationEvent {
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
  }

  /// A notification that the application has entered the background.
  ///
  /// Handlers are called in reverse order: the latest subscriber first. The application waits for asynchronous handlers,
  /// within the budget of didEnterBackground, and releases resources of the foreground only after all handlers.
  public struct DidEnterBackground: ApplicationEvent {
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
  }

  /// A notification that the application is about to enter the foreground; the state is still background.
  ///
  /// On the main actor, a handler of `receive` runs after the change; on another actor it may run before.
  ///
  /// The event is not posted at a cold launch without scenes: subscribe to ``DidFinishLaunching``, too, or to
  /// ``StateDidChange`` with replay.
  public struct WillEnterForeground: ApplicationEvent {
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
  }

  /// A notification that the application is about to end; the state is background.
  ///
  /// Handlers are called in reverse order: the latest subscriber first. Not posted when the application is killed while
  /// it is suspended.
  public struct WillTerminate: ApplicationEvent {
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
  }

  /// A notification that memory is low; the state does not change.
  public struct DidReceiveMemoryWarning: ApplicationEvent {
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
  }

  /// A notification that the date, the clock or the time zone has changed; the state does not change.
  ///
  /// Several changes during suspension lead to one event when the application runs again: at once in the background, or
  /// on the return to the foreground before ``DidBecomeActive``.
  public struct SignificantTimeChange: ApplicationEvent {
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
  }

  /// A notification that protected files are about to become unreadable, because the screen was locked.
  ///
  /// The application posts it in the background: after ``DidEnterBackground`` if the lock sent it there. An application
  /// that is suspended at the lock posts it when it runs again in the background. The files are unreadable by then:
  /// ``Application/isProtectedDataAvailable`` is false, as it is in a process that was launched on a locked device.
  ///
  /// On the main actor, a handler of `receive` runs after the change; on another actor it may run before.
  public struct ProtectedDataWillBecomeUnavailable: ApplicationEvent {
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
  }

  /// A notification that protected files are readable again, because the screen was unlocked.
  ///
  /// The application posts it before ``WillEnterForeground``. An application that is suspended at the unlock posts it
  /// when it runs again, in the background or on its return to the foreground. A process that was launched on a locked
  /// device posts it, too. If the screen was locked again meanwhile, nothing has changed, and nothing is posted.
  public struct ProtectedDataDidBecomeAvailable: ApplicationEvent {
    /// The application whose life cycle it is.
    public let application: Application
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
  }
}
