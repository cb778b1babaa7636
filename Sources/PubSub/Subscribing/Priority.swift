extension EventBus {
  /// The place of a subscriber in the order of delivery: higher priorities come first.
  ///
  /// An event type whose ``EventBus/Event/isReversed`` is true, such as one that announces a tear-down, is delivered in
  /// reverse. Asynchronous handlers get the event in this order; they also run in it if the post is a `postAndWait`.
  ///
  /// Subscribing takes linear time if handlers of a lower priority are there, so many thousands of handlers of one
  /// event should not subscribe with alternating priorities.
  public struct Priority: RawRepresentable, Hashable, Sendable, Comparable {
    /// The priority as a number, of which a higher one comes first; the three names are 100 apart.
    public let rawValue: Int

    /// A priority from a number, which may lie between, above or below the named ones.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The priority of subscribers that run before most others; in a tear-down, after most others.
    public static let high = EventBus.Priority(rawValue: 100)
    /// The default priority.
    public static let normal = EventBus.Priority(rawValue: 0)
    /// The priority of subscribers that run after most others; in a tear-down, before most others.
    public static let low = EventBus.Priority(rawValue: -100)

    /// Whether the first priority is lower than the second.
    public static func < (one: EventBus.Priority, other: EventBus.Priority) -> Bool { one.rawValue < other.rawValue }
  }
}
