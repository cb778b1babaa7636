extension Application {
  /// The budgets of an application, and how the system treats it.
  public struct Configuration: Sendable {
    /// The time for `didEnterBackground`: its delegate call, its handlers and the tear-down, together.
    public var didEnterBackgroundBudget: Duration = .seconds(5)
    /// The time for `willTerminate`: its delegate call, its handlers and the tear-down, together.
    public var willTerminateBudget: Duration = .seconds(5)
    /// The time in which the delegate answers whether the application may end.
    ///
    /// A delegate that has not answered by then is reported as an overrun, and the application ends in order.
    public var shouldTerminateBudget: Duration = .seconds(30)
    /// How long the system lets the application run in the background before it suspends it.
    ///
    /// The clock is the system's: a simulated system enforces it. A real host never suspends its own program for it.
    public var backgroundStay: Duration = .seconds(5)
    /// How long background tasks, all together, may keep the application awake, counted from the commit of background.
    ///
    /// The clock is the system's, as that of ``backgroundStay``.
    public var backgroundTaskAllowance: Duration = .seconds(30)
    /// How long before the end of ``backgroundTaskAllowance`` the expiration handlers of open tasks run.
    public var backgroundExpirationLead: Duration = .seconds(5)
    /// Which of the two life cycles the application follows.
    public var profile = LifecycleProfile.application
    /// Whether `applicationDidEnterBackground` is called at a launch into the background.
    ///
    /// Apple's documentation says that it is, experiments say that it is not. With scenes only the notification is posted.
    public var callsDidEnterBackgroundOnBackgroundLaunch = false
    /// When a managed resource that could not be acquired is tried again.
    public var retry = RetryPolicy()
    /// The number of transitions and stays that the ledger keeps, at least 1.
    public var ledgerLimit = 64

    /// A configuration with the platform's own times.
    public init() {}
  }
}
