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

/// The place of a subscriber in the order of delivery: higher priorities come first.
public struct Priority: RawRepresentable, Hashable, Sendable, Comparable {
  /// The priority as a number; the three names are 100 apart.
  public let rawValue: Int

  /// A priority between, before or after the named ones.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Before most subscribers.
  public static let high = Priority(rawValue: 100)
  /// With most subscribers.
  public static let normal = Priority(rawValue: 0)
  /// After most subscribers.
  public static let low = Priority(rawValue: -100)

  /// Whether the first priority is delivered after the second.
  public static func < (one: Priority, other: Priority) -> Bool { one.rawValue < other.rawValue }
}

/// What a late subscriber receives first.
public enum Replay: Sendable, Hashable {
  /// Nothing: only what is posted from now on.
  case none
  /// The latest event of a sticky type, if there was one, and then every later one, exactly once each.
  case latest
}
