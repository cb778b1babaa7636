/// A broken rule, and the place where it was broken.
public struct ContractViolation: Sendable, Hashable, CustomStringConvertible {
  /// The place: the number of the record, from 1, and its text; or the name of the scenario.
  public let place: String
  /// A sentence that says what was found.
  public let message: String

  /// The place and the message in one line.
  public var description: String { "\(place): \(message)" }
}
