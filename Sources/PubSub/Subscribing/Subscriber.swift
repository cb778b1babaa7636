extension EventBus {
  /// The identity of a subscriber: its label, and the source line on which it subscribed.
  public struct Subscriber: Sendable, Hashable, CustomStringConvertible {
    /// The label that the subscriber passed; nil if it passed none.
    public let label: String?
    /// The module and file in which the subscription was made, in the form of `#fileID`.
    public let fileID: String
    /// The line on which the subscription was made.
    public let line: Int

    /// Makes a subscriber, by default at the caller's position, for a test of code that reads reports.
    public init(label: String?, fileID: String = #fileID, line: Int = #line) {
      (self.label, self.fileID, self.line) = (label, fileID, line)
    }

    /// The position and, if there is one, the label: `Module/File.swift:12 (label)`; without a position, the label.
    package var place: String {
      if fileID.isEmpty { return label ?? "" }
      return label.map { "\(fileID):\(line) (\($0))" } ?? "\(fileID):\(line)"
    }

    /// The label or, without a label, the position: `Module/File.swift:12`.
    public var description: String { label ?? "\(fileID):\(line)" }
  }
}
