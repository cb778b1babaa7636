import AppLifecycle

extension Application.Configuration {
  /// With budgets for which no machine is too slow.
  static var unhurried: Self {
    var configuration = Self()
    configuration.didEnterBackgroundBudget = .seconds(3600)
    configuration.willTerminateBudget = .seconds(3600)
    return configuration
  }
}
