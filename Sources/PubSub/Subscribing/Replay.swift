extension EventBus {
  /// The event that a new mailbox or a new event sequence receives first.
  public struct Replay<E: EventBus.Event>: Sendable, Hashable {
    let isLatest: Bool

    /// No earlier event: the subscriber receives only what is posted from now on.
    public static var none: Self { Self(isLatest: false) }

    /// Unavailable: the bus keeps the latest event of a sticky type only.
    @available(*, unavailable, message: "the bus keeps only sticky events: conform the event to 'StickyEvent'")
    public static var latest: Self { fatalError() }
  }
}

extension EventBus.Replay where E: StickyEvent {
  /// The latest event, if there is one.
  ///
  /// Every later event follows, exactly once each, also if other threads post at the same time.
  ///
  /// With a bound, the replayed event counts like any other, and may be dropped.
  public static var latest: Self { Self(isLatest: true) }
}

extension EventBus {
  /// The event with which `subscribe` calls the handler of a main-actor event first, before it returns.
  ///
  /// Only code on the main actor can make ``latest``, and the type is not `Sendable`; so the handler is called there.
  public struct ImmediateReplay<E: MainActorEvent> {
    let isLatest: Bool

    /// No earlier event: the handler is called only with what is posted from now on.
    public static var none: Self { Self(isLatest: false) }

    /// Unavailable: the bus keeps the latest event of a sticky type only.
    @available(*, unavailable, message: "the bus keeps only sticky events: conform the event to 'StickyEvent'")
    public static var latest: Self { fatalError() }
  }
}

extension EventBus.ImmediateReplay where E: StickyEvent {
  /// The latest event, if there is one.
  @MainActor public static var latest: Self { Self(isLatest: true) }
}
