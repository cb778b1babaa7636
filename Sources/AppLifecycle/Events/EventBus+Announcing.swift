public import PubSub

// Subscribing to an `AnnouncingEvent` with an asynchronous handler: either it is said that the handler runs after the change,
// or the compiler warns. A synchronous handler takes the overloads of PubSub.

extension EventBus {
  /// Subscribes an asynchronous main-actor handler for an owner; it runs after the change that the event announces.
  ///
  /// The handler has a mailbox of its own: its runs are serial and in posting order. What it throws is posted as
  /// `HandlerFailure`. The application awaits it, within its budget, where the event closes a phase
  /// (``Application/WillResignActive``, ``Scene/WillDeactivate``), and otherwise goes on.
  ///
  /// - Parameters:
  ///   - owner: held weakly, passed to the handler; the subscription ends when it is gone.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - timing: that the handler runs after the change.
  ///   - handler: called with the owner and each event. It uses the owner that it is passed: one that it captures is never released.
  /// - Returns: the subscription, with which to cancel before the owner is gone.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: AnnouncingEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    runs timing: AnnouncementTiming, _ handler: @escaping @MainActor (Owner, E) async throws -> Void
  ) -> Subscription {
    subscribeAsynchronously(owner, to: type, from: subject, priority, .none, label, fileID, line, handler)
  }

  /// Subscribes an asynchronous main-actor handler; it runs after the change that the event announces.
  ///
  /// The handler has a mailbox of its own: its runs are serial and in posting order. What it throws is posted as
  /// `HandlerFailure`. The application awaits it, within its budget, where the event closes a phase
  /// (``Application/WillResignActive``, ``Scene/WillDeactivate``), and otherwise goes on.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - timing: that the handler runs after the change.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: AnnouncingEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line, runs timing: AnnouncementTiming,
    _ handler: @escaping @MainActor (E) async throws -> Void
  ) -> Subscription {
    subscribeAsynchronously(to: type, from: subject, priority, .none, label, fileID, line, handler)
  }

  /// Warns that a handler with `await` runs after the change that the event announces, and subscribes it.
  ///
  /// - Parameters:
  ///   - owner: held weakly, passed to the handler; the subscription ends when it is gone.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: whether the latest event of a sticky type comes first.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner and each event.
  /// - Returns: the subscription, with which to cancel before the owner is gone.
  @available(
    *, deprecated,
    message:
      "a handler with 'await' runs after the change that this event announces: drop 'await' to run before it, or add 'runs: .afterChange'"
  )
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: AnnouncingEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay = .none, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    _ handler: @escaping @MainActor (Owner, E) async throws -> Void
  ) -> Subscription {
    subscribeAsynchronously(owner, to: type, from: subject, priority, replay, label, fileID, line, handler)
  }

  /// Warns that a handler with `await` runs after the change that the event announces, and subscribes it.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: whether the latest event of a sticky type comes first.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  @available(
    *, deprecated,
    message:
      "a handler with 'await' runs after the change that this event announces: drop 'await' to run before it, or add 'runs: .afterChange'"
  )
  public func subscribe<E: AnnouncingEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (E) async throws -> Void
  ) -> Subscription {
    subscribeAsynchronously(to: type, from: subject, priority, replay, label, fileID, line, handler)
  }
}

// Of any main-actor event, so that the overloads of PubSub are meant, and not those above.
extension EventBus {
  private func subscribeAsynchronously<Owner: AnyObject & Sendable, E: MainActorEvent>(
    _ owner: Owner, to type: E.Type, from subject: (any AnyObject & Sendable)?, _ priority: Priority,
    _ replay: Replay, _ label: String?, _ fileID: String, _ line: Int,
    _ handler: @escaping @MainActor (Owner, E) async throws -> Void
  ) -> Subscription {
    subscribe(
      owner, to: type, from: subject, priority: priority, replay: replay, label: label, fileID: fileID, line: line,
      handler)
  }

  private func subscribeAsynchronously<E: MainActorEvent>(
    to type: E.Type, from subject: (any AnyObject & Sendable)?, _ priority: Priority, _ replay: Replay,
    _ label: String?, _ fileID: String, _ line: Int, _ handler: @escaping @MainActor (E) async throws -> Void
  ) -> Subscription {
    subscribe(
      to: type, from: subject, priority: priority, replay: replay, label: label, fileID: fileID, line: line, handler)
  }
}
