import AppLifecycle

/// What a host decides with: an event in, a list of effects out.
///
/// A value that holds no descriptor, reads no clock and calls no other code. ``HostThread`` performs the effects in order;
/// where an effect is a question, its answer is the next event.
protocol HostMachine: Sendable {
  associatedtype Event: HostEvent
  associatedtype Effect

  /// When the order that ends the program was taken up; nil if there was none. Its copies do nothing for a moment.
  var orderTaken: Duration? { get }

  /// Takes an event and says what is to be done.
  mutating func handle(_ event: Event) -> [Effect]
}

/// What happens to every host.
protocol HostEvent: Sendable {
  /// Signals that were caught, oldest first; all that had arrived come in one event.
  static func signals(_ records: [SignalRecord]) -> Self
  /// The application has handled the input of this number; these budgets were overrun.
  static func transitionFinished(id: Int, overruns: [BudgetOverrun]) -> Self
  /// The time that was armed last is up.
  static var deadlinePassed: Self { get }
  /// The application was asked whether it may end, and has not answered yet.
  static var questionOpened: Self { get }
  /// The application has answered that it goes on.
  static var questionRefused: Self { get }
  /// The application has begun to end.
  static var applicationBeganToEnd: Self { get }
  /// The application has begun to spend a budget.
  static func budgetBegan(_ callback: ApplicationCallback) -> Self
  /// A transition that had a budget has ended, and the application with it or not; these budgets were overrun.
  static func budgetEnded(overruns: [BudgetOverrun]) -> Self
  /// The application is not running any more; these budgets were overrun.
  static func applicationEnded(overruns: [BudgetOverrun]) -> Self
}

/// An input for the application.
struct HostDelivery: Sendable, Hashable {
  /// Counts the deliveries, from 1.
  var id: Int
  var input: SystemInput
  var cause: LifecycleCause
  /// Whether the screen has to be drawn once the application has handled the input.
  var needsDisplay = false
}

extension BudgetOverrun {
  /// The same with each culprit named once: one that is late with two things comes twice.
  var namingEachOnce: BudgetOverrun {
    var seen: Set<String> = []
    return BudgetOverrun(callback: callback, budget: budget, culprits: culprits.filter { seen.insert($0).inserted })
  }
}

/// How long the application may take.
struct HostBudgets: Sendable, Hashable {
  var didEnterBackground: Duration = .seconds(5)
  var willTerminate: Duration = .seconds(5)
  /// The time that the application gets past a budget, to end the wait by itself, report the overrun, and commit *suspended*.
  var grace: Duration = .milliseconds(500)

  func length(of callback: ApplicationCallback) -> Duration {
    callback == .didEnterBackground ? didEnterBackground : willTerminate
  }

  /// The overrun of a main actor that did not answer in time: no code can be named.
  func silence(in callback: ApplicationCallback) -> BudgetOverrun {
    BudgetOverrun(callback: callback, budget: length(of: callback), culprits: [])
  }
}

/// The statuses with which a hosted program ends.
enum ExitStatus {
  /// It ended in order.
  static let success: Int32 = 0
  /// `EX_SOFTWARE` of sysexits.h: a tear-down overran its budget.
  static let tearDownOverran: Int32 = 70
  /// `EX_UNAVAILABLE` of sysexits.h: the terminal cannot show what the program draws.
  static let unavailable: Int32 = 69
  /// `EX_IOERR` of sysexits.h: the terminal did not take what restores it.
  static let outputFailed: Int32 = 74
  /// `EX_OSERR` of sysexits.h: the system had no descriptor or no thread for the host.
  static let systemRefused: Int32 = 71
}
