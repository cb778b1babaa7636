/// A broken rule, and the place where it was broken.
public struct ContractViolation: Sendable, Hashable, CustomStringConvertible {
  /// The place: a record's number, from 1, and its text; the end of the record; or the scenario.
  ///
  /// For escaped work, it is the file and line, or `unknown place`.
  public let place: String
  /// A sentence that says what was found.
  public let message: String

  /// The place and the message in one line.
  public var description: String { "\(place): \(message)" }
}
