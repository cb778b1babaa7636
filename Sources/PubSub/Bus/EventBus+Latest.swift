// The latest event of each sticky type, which the bus keeps.

extension EventBus {
  /// Returns the latest event of a sticky type, which a subscriber with replay would receive first.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only an event that was posted from this object; nil for any.
  /// - Returns: the event; nil if none was posted from this object, or if it was removed.
  /// - Complexity: constant; takes a lock that posts of this type also take.
  public func latest<E: BusEvent & StickyEvent>(of type: E.Type = E.self, from subject: Subject? = nil) -> E? {
    core.typedStore(of: type).latest(from: subject)
  }

  /// Returns the latest event of a sticky type of main-actor events, which a subscriber with replay would receive
  /// first.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only an event that was posted from this object; nil for any.
  /// - Returns: the event; nil if none was posted from this object, or if it was removed.
  @MainActor public func latest<E: MainActorEvent & StickyEvent>(
    of type: E.Type = E.self, from subject: Subject? = nil
  ) -> E? {
    core.typedStore(of: type).latest(from: subject)
  }

  /// Removes the latest event of a sticky type, and the latest events of all its subjects.
  ///
  /// A later subscriber receives no replay until the next post. The bus releases the event on the calling thread.
  ///
  /// - Parameter type: the events.
  /// - Complexity: linear in the number of subjects; takes a lock that posts of this type also take.
  public func removeLatest<E: BusEvent & StickyEvent>(of type: E.Type) { core.typedStore(of: type).removeLatest() }

  /// Removes the latest event of a sticky type of main-actor events, and those of all its subjects.
  ///
  /// - Parameter type: the events.
  @MainActor public func removeLatest<E: MainActorEvent & StickyEvent>(of type: E.Type) {
    core.typedStore(of: type).removeLatest()
  }
}
