/// A rule that was broken, and its place.
public struct ContractViolation: Sendable, Hashable, CustomStringConvertible {
  /// The place: the record's number from 1 and its text, or the scenario's name.
  public let place: String
  /// The rule, as a sentence about what was found.
  public let message: String

  /// Both in one line.
  public var description: String { "\(place): \(message)" }
}
