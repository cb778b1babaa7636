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
