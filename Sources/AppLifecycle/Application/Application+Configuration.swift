extension Application {
  /// The budgets of an application, and the options of its life cycle.
  public struct Configuration: Sendable {
    /// The time for `didEnterBackground`: its delegate call, its handlers and the tear-down, together.
    public var didEnterBackgroundBudget: Duration = .seconds(5)
    /// The time for `willTerminate`: its delegate call, its handlers and the tear-down, together.
    ///
    /// If the application is in the background already when the end begins, open background tasks and the grace may use
    /// the first half of it; see ``SystemInput/shutDown``.
    public var willTerminateBudget: Duration = .seconds(5)
    /// The time for the delegate to answer whether the application may end.
    ///
    /// If the delegate has not answered by then, the overrun is reported, and the application ends in order.
    public var shouldTerminateBudget: Duration = .seconds(30)
    /// The time that the system lets the application run in the background before it suspends the application.
    ///
    /// A simulated system enforces it. A real host never suspends its own program because of it.
    public var backgroundStay: Duration = .seconds(5)
    /// The time that all background tasks together may keep the application running, counted from the change to
    /// background.
    ///
    /// A simulated system enforces it. A real host never suspends its own program because of it.
    public var backgroundTaskAllowance: Duration = .seconds(30)
    /// The time before the end of ``backgroundTaskAllowance`` at which the expiration handlers of open tasks run.
    ///
    /// A simulated system enforces it. A real host calls the handlers only before it suspends or ends the application.
    public var backgroundExpirationLead: Duration = .seconds(5)
    /// The time for which a host lets the application run on in the background, before it stops or ends the process, for
    /// work that the application has not announced; it is counted from the entry into the background.
    ///
    /// A component that starts work when the application leaves the foreground, and begins no background task for it, has
    /// about five seconds on iOS. A host stops or ends the process when the tear-down and the background tasks have ended.
    /// The grace delays that: at Ctrl-Z and before the sleep of the machine it comes before the suspension, and at an end
    /// between `didEnterBackground` and `willTerminate`.
    ///
    /// Nil stands for the default: one second if observers of a notification center were told of the entry into the
    /// background, as by the module NotificationCenterBridge; otherwise zero. The grace is part of
    /// ``didEnterBackgroundBudget``, or, if the application ends in the background, of the half of
    /// ``willTerminateBudget`` that background tasks may use.
    public var backgroundGrace: Duration?
    /// Whether the grace ends as soon as nothing is under way that the application knows of.
    ///
    /// The application knows of its background tasks, and of the tasks that its `task` methods started, except those that
    /// repeat an action. It waits for the asynchronous handlers of closing notifications, and for bodies and releases, in
    /// the tear-down before the grace. It does not know of a plain `Task {}` and of threads.
    public var backgroundGraceEndsEarly = false
    /// The life cycle that the application follows: with or without scenes.
    public var profile = LifecycleProfile.application
    /// Whether `applicationDidEnterBackground` is called at a launch into the background.
    ///
    /// Apple's documentation says that it is called; experiments show that it is not. With scenes, only the
    /// notification is posted.
    public var callsDidEnterBackgroundOnBackgroundLaunch = false
    /// The retry policy for managed resources that have no policy of their own.
    public var retry = RetryPolicy()
    /// The interceptors that run around the calls of the application, the outermost one first.
    public var interceptors: [any CallInterceptor] = []

    /// Creates a configuration with the time limits of iOS.
    public init() {}
  }
}
