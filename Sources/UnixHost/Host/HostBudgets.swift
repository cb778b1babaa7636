import AppLifecycle

/// The budgets that the host enforces.
struct HostBudgets: Sendable, Hashable {
  var didEnterBackground: Duration = .seconds(5)
  var willTerminate: Duration = .seconds(5)
  /// The extra time after a budget in which the application can end its wait, report the overrun, and commit
  /// *suspended*.
  var grace: Duration = .milliseconds(500)

  /// The budgets of an application; all others are the defaults.
  static func of(_ application: Application) -> HostBudgets {
    HostBudgets(
      didEnterBackground: application.configuration.didEnterBackgroundBudget,
      willTerminate: application.configuration.willTerminateBudget)
  }

  /// The longest time from the end of a budget to the end of the host's wait, if the host is late itself.
  var longestGrace: Duration { grace + HostDeadline.limit + grace }

  func length(of callback: ApplicationCallback) -> Duration {
    callback == .didEnterBackground ? didEnterBackground : willTerminate
  }

  /// Returns the overrun of a main actor that did not answer in time; it names no code.
  func silence(in callback: ApplicationCallback) -> BudgetOverrun {
    BudgetOverrun(callback: callback, budget: length(of: callback), culprits: [])
  }
}
