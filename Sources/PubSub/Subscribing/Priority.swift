extension EventBus {
  /// The place of a subscriber in the order of delivery: higher priorities come first.
  ///
  /// An event type whose ``EventBus/Event/isReversed`` is true, such as an event that announces a tear-down, is
  /// delivered in reverse: lower priorities come first.
  ///
  /// Subscribing before handlers of a lower priority takes linear time in the number of handlers of that event. Many
  /// thousands of handlers of one event should not subscribe with alternating priorities.
  ///
  /// Asynchronous handlers get the event in this order. They run in it only if the post waits for each priority, as
  /// `postAndWait` does.
  public struct Priority: RawRepresentable, Hashable, Sendable, Comparable {
    /// The priority as a number; the three names are 100 apart.
    public let rawValue: Int

    /// A priority from a number, which may lie between, above or below the named ones.
    ///
    /// - Parameter rawValue: the priority; a higher number comes first.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The priority of subscribers that run before most others; in a tear-down, which is delivered in reverse, after
    /// most others.
    public static let high = EventBus.Priority(rawValue: 100)
    /// The default priority.
    public static let normal = EventBus.Priority(rawValue: 0)
    /// The priority of subscribers that run after most others; in a tear-down, which is delivered in reverse, before
    /// most others.
    public static let low = EventBus.Priority(rawValue: -100)

    /// Whether the first priority is lower than the second.
    ///
    /// - Parameters:
    ///   - one: the first priority.
    ///   - other: the second priority.
    /// - Returns: true if the first priority is lower.
    public static func < (one: EventBus.Priority, other: EventBus.Priority) -> Bool { one.rawValue < other.rawValue }
  }
}
