public import PubSub

// Subscribing to an `AnnouncingEvent` with an asynchronous handler. The compiler warns, unless the caller passes `runs:
// .afterChange`. A synchronous handler uses the overloads of PubSub.

extension EventBus {
  /// Subscribes an asynchronous main-actor handler for an owner; it runs after the change that the event announces.
  ///
  /// The handler has a mailbox of its own: it handles one event at a time, in the order of posting. An error that it
  /// throws is posted as `HandlerFailure`. If the event closes a phase (``Application/WillResignActive``,
  /// ``Scene/WillDeactivate``), the end of the phase waits for the handler, within its budget; a transition waits only
  /// if it enters the background. For other events the application does not wait.
  ///
  /// - Parameters:
  ///   - owner: held weakly and passed to the handler; the subscription ends when the owner is released.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - timing: `.afterChange`: states that the handler runs after the change.
  ///   - handler: called with the owner and each event. Use the owner that is passed, and capture nothing: an owner
  ///     that the handler captures (`self.`) is not released before the bus. Other captured objects outlive the owner
  ///     until a later event of this type.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
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
  /// The handler has a mailbox of its own: it handles one event at a time, in the order of posting. An error that it
  /// throws is posted as `HandlerFailure`. If the event closes a phase (``Application/WillResignActive``,
  /// ``Scene/WillDeactivate``), the end of the phase waits for the handler, within its budget; a transition waits only
  /// if it enters the background. For other events the application does not wait.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - timing: `.afterChange`: states that the handler runs after the change.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: AnnouncingEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line, runs timing: AnnouncementTiming,
    _ handler: @escaping @MainActor (E) async throws -> Void
  ) -> Subscription {
    subscribeAsynchronously(to: type, from: subject, priority, .none, label, fileID, line, handler)
  }

  /// Subscribes an asynchronous handler without `runs: .afterChange`; the compiler warns that it runs after the
  /// announced change.
  ///
  /// - Parameters:
  ///   - owner: held weakly and passed to the handler; the subscription ends when the owner is released.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first, and then every later event, exactly once
  ///     each.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner and each event.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
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

  /// Subscribes an asynchronous handler without `runs: .afterChange`; the compiler warns that it runs after the
  /// announced change.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first, and then every later event, exactly once
  ///     each.
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

// These take any main-actor event, so that `subscribe` below resolves to the overloads of PubSub and not to those
// above.
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
