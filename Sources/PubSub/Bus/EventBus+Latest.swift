// The latest event of each sticky type, which the bus keeps.

extension EventBus {
  /// Returns the latest event of a sticky type.
  ///
  /// It is the event that a subscriber with replay would receive first. Any thread may call this method.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only an event that was posted from this object; nil for any.
  /// - Returns: the event; nil if none was posted from this object, or if it was removed.
  /// - Complexity: constant; takes a lock that posts of this type also take.
  public func latest<E: BusEvent & StickyEvent>(of type: E.Type = E.self, from subject: Subject? = nil) -> E? {
    core.latest(type, from: subject)
  }

  /// Returns the latest event of a sticky type of main-actor events.
  ///
  /// It is the event that a subscriber with replay would receive first.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only an event that was posted from this object; nil for any.
  /// - Returns: the event; nil if none was posted from this object, or if it was removed.
  /// - Complexity: constant; takes a lock that posts of this type also take.
  @MainActor public func latest<E: MainActorEvent & StickyEvent>(
    of type: E.Type = E.self, from subject: Subject? = nil
  ) -> E? {
    core.latest(type, from: subject)
  }

  /// Removes the latest event of a sticky type, and the latest events of all its subjects.
  ///
  /// A later subscriber receives no replay until the next post. Subscribers that have received the event keep it. Any
  /// thread may call this method; the bus releases the event on that thread.
  ///
  /// - Parameter type: the events.
  /// - Complexity: constant; takes a lock that posts of this type also take.
  public func removeLatest<E: BusEvent & StickyEvent>(of type: E.Type) { core.removeLatest(type) }

  /// Removes the latest event of a sticky type of main-actor events, and those of all subjects.
  ///
  /// A later subscriber receives no replay until the next post. Subscribers that have received the event keep it.
  ///
  /// - Parameter type: the events.
  /// - Complexity: constant; takes a lock that posts of this type also take.
  @MainActor public func removeLatest<E: MainActorEvent & StickyEvent>(of type: E.Type) { core.removeLatest(type) }
}
