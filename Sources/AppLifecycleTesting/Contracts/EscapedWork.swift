/// The error that a simulation could not hold some work: the machine decides when it runs, and not the script.
///
/// The methods that drive a simulation throw it: ``SimulatedSystem/play(_:)-(Script)``, ``ManualClock/advance(by:)``,
/// ``ManualClock/run(limit:)`` and ``withSimulation(order:_:)``. A test that does not catch the error fails with its
/// text.
///
/// A simulation holds every task that its own tasks start, in a library, too. Each message says what it cannot hold, and
/// in whose code it began:
///
/// - A task that the test's own code has started sleeps on the simulation's clock, or wakes one of its tasks.
///   `application.task { … }` starts a task that belongs to the simulation.
/// - A thread wakes a task of the simulation: one of a library, of the system or of the test. Declare such work with
///   `application.external { … }`.
/// - A task of the simulation sleeps on a real clock, often in a library. Pass `application.clock` to the library.
public struct EscapedWork: Error, Sendable, Hashable, CustomStringConvertible {
  /// The pieces of work, each with the file and line of its sleep or of the handler in which it began, if they are known,
  /// in the order of these places.
  public let violations: [ContractViolation]

  /// A line for each violation.
  public var description: String { violations.map(\.description).joined(separator: "\n") }
}
