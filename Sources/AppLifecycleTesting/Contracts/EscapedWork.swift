/// The error that work of a component under test ran outside the simulation, where the machine decides when it runs,
/// and not the script.
///
/// The methods that drive a simulation throw it: ``SimulatedSystem/play(_:)-(Script)``, ``ManualClock/advance(by:)``,
/// ``ManualClock/run(limit:)`` and ``withSimulation(order:_:)``. A test that does not catch the error fails with its
/// text.
///
/// The usual reason is a plain `Task {}` in a component. `application.task { … }` starts a task that belongs to the simulation.
public struct EscapedWork: Error, Sendable, Hashable, CustomStringConvertible {
  /// The pieces of work, each with the file and line of its sleep or of the handler that started it, if they are known,
  /// in the order of these places.
  public let violations: [ContractViolation]

  /// A line for each violation.
  public var description: String { violations.map(\.description).joined(separator: "\n") }
}
