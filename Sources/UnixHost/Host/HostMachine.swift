import AppLifecycle

/// The state machine of a host, which takes an event and returns a list of effects.
///
/// It is a value that holds no descriptor, reads no clock and calls no other code. ``HostThread`` performs the effects
/// in order. If an effect is a question, the answer is the next event.
protocol HostMachine: Sendable {
  associatedtype Event: HostEvent
  associatedtype Effect

  /// The time until which a further order has no effect, also after the host has ended; nil without an order.
  var repetitionsEnd: Duration? { get }

  /// Handles an event, and returns the effects for the driver.
  mutating func handle(_ event: Event) -> [Effect]
}

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

/// An input for the application.
struct HostDelivery: Sendable, Hashable {
  /// The number of the delivery, from 1.
  var id: Int
  var input: SystemInput
  var cause: LifecycleCause
  /// Whether the screen must be drawn after the application has handled the input.
  var needsDisplay = false
  /// Whether `suspend` comes in order: after the tear-down, and after the background tasks have ended or their time has.
  ///
  /// An input that arrives before the end revokes the suspension; see `Application.suspend(cause:)`.
  var inOrder = false

  /// Sends the input to the application; wakes a suspended application before it ends, as it would end without a call.
  @MainActor func perform(on application: Application) async -> TransitionReport {
    if input == .suspend, inOrder { return await application.handleSuspension(cause: cause) }
    if input == .shutDown || input == .terminate { return await application.handleAwake(input, cause: cause) }
    return await application.handle(input, cause: cause)
  }
}

extension BudgetOverrun {
  /// The overrun without duplicate culprits; code that is late with two calls is listed twice before.
  var namingEachOnce: BudgetOverrun {
    var seen: Set<String> = []
    var overrun = self
    overrun.culprits.removeAll { !seen.insert($0).inserted }
    return overrun
  }
}

/// The budgets that the host enforces.
struct HostBudgets: Sendable, Hashable {
  var didEnterBackground: Duration = .seconds(5)
  var willTerminate: Duration = .seconds(5)
  /// The extra time after a budget in which the application can end its wait, report the overrun, and commit
  /// *suspended*.
  var grace: Duration = .milliseconds(500)

  func length(of callback: ApplicationCallback) -> Duration {
    callback == .didEnterBackground ? didEnterBackground : willTerminate
  }

  /// Returns the overrun of a main actor that did not answer in time; it names no code.
  func silence(in callback: ApplicationCallback) -> BudgetOverrun {
    BudgetOverrun(callback: callback, budget: length(of: callback), culprits: [])
  }
}

/// The exit statuses of a hosted program.
enum ExitStatus {
  /// The program ended in order.
  static let success: Int32 = 0
  /// `EX_SOFTWARE` of sysexits.h: a tear-down overran its budget.
  static let tearDownOverran: Int32 = 70
  /// `EX_UNAVAILABLE` of sysexits.h: the terminal cannot show the program's screen.
  static let unavailable: Int32 = 69
  /// `EX_IOERR` of sysexits.h: the terminal did not accept the output that restores it.
  static let outputFailed: Int32 = 74
  /// `EX_OSERR` of sysexits.h: the system had no descriptor or no thread for the host.
  static let systemRefused: Int32 = 71
}
