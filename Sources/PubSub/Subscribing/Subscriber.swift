/// The identity of a subscriber: a label, and the line of source on which the subscription was made.
public struct Subscriber: Sendable, Hashable, CustomStringConvertible {
  /// The label that was given, if any.
  public let label: String?
  /// The module and file in which the subscription was made, as `#fileID` has it.
  public let fileID: String
  /// The line on which it was made.
  public let line: Int

  package init(label: String?, fileID: String, line: Int) {
    (self.label, self.fileID, self.line) = (label, fileID, line)
  }

  /// The position, with the label where there is one: `Module/File.swift:12 (label)`; the label alone where no position is known.
  package var place: String {
    if fileID.isEmpty { return label ?? "" }
    return label.map { "\(fileID):\(line) (\($0))" } ?? "\(fileID):\(line)"
  }

  /// The label, else the position: `Module/File.swift:12`.
  public var description: String { label ?? "\(fileID):\(line)" }
}
