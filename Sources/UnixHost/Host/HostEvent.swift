import AppLifecycle

/// The events that every host has.
protocol HostEvent: Sendable {
  /// Caught signals, oldest first; one event has all signals that had arrived.
  static func signals(_ records: [SignalRecord]) -> Self
  /// The application has handled the input with this number.
  static func transitionFinished(id: Int) -> Self
  /// The deadline that was armed last has passed.
  static var deadlinePassed: Self { get }
  /// The application was asked whether it may end, and has not answered yet.
  static var questionOpened: Self { get }
  /// The application has refused to end.
  static var questionRefused: Self { get }
  /// The application has begun to end.
  static var applicationBeganToEnd: Self { get }
  /// A budget of the application has begun.
  static func budgetBegan(_ callback: ApplicationCallback) -> Self
  /// A transition with a budget has ended, whether or not the application ended with it; these budgets were overrun.
  static func budgetEnded(overruns: [BudgetOverrun]) -> Self
  /// The application is no longer running; these budgets were overrun.
  static func applicationEnded(overruns: [BudgetOverrun]) -> Self
}
